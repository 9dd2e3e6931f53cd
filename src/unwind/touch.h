/* SPDX-License-Identifier: Apache-2.0 */
/*
 * touch.h - sampled page faults: which pages that are there each of them stands for, by where they
 * are; and which are of memory that was given back and touched again at the same addresses: they
 * look as if they had stayed.
 *
 * Pure. Pages of a range that samples claim cannot be more than the range has: where they are, the
 * older ones are gone.
 */
#ifndef SONDE_UNWIND_TOUCH_H
#define SONDE_UNWIND_TOUCH_H

#include "unwind/pagemap.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A sampled fault. */
struct touch {
	uint64_t address;
	int64_t at_ns;
	uint32_t node, faults;
	uint32_t lost; /* faults of samples that were lost before it: of small pages, as most are */
	uint32_t huge; /* pages of huge ones that it stands for, found by where they are */
	pid_t tid;
	uint16_t pages; /* of each fault; 0: it was not looked at yet */
	uint8_t seen;
	bool of_file, here, reused;
	float held; /* small pages that it stands for, likewise */
};

/* Marks those that are gone; x: by address. */
void touch_mark_reused(struct touch *x, uint32_t n, uint64_t page_bytes);

/* The samples of a process; x: by address. usual: faults that one stands for by now; blind: pages
 * that were touched, at most, in a time without any. */
struct touch_places {
	struct touch *x;
	uint32_t n;
	uint64_t page_bytes, usual, blind;
	uint64_t most; /* faults that any one stands for */
	uint64_t all;  /* pages that are there, */
	uint64_t huge; /* of those that were given, huge ones; */
	double small;  /* and of the others */
};

/* None stands for any page yet. */
void touch_place_begin(struct touch_places *p);
/* A range of pages that are there goes to the samples within it, or right beside it. */
void touch_place(struct touch_places *p, const struct pagemap_range *r);
/* Together they stand for no more pages than they may by chance: the rest was there before there
 * were samples, or was touched by the kernel. */
void touch_place_end(struct touch_places *p);

#endif
