/* SPDX-License-Identifier: Apache-2.0 */
/*
 * touch.h - sampled page faults, and which of them stand for memory that was given back and touched
 * again at the same addresses: they look as if they had stayed.
 *
 * Pure. Pages of a range that samples claim cannot be more than the range has: where they are, the
 * older ones are gone.
 */
#ifndef SONDE_UNWIND_TOUCH_H
#define SONDE_UNWIND_TOUCH_H

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
};

/* Marks those that are gone; x: by address. */
void touch_mark_reused(struct touch *x, uint32_t n, uint64_t page_bytes);

#endif
