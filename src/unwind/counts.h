/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counts.h - how often each thread was seen where since that was told last.
 *
 * As a rule there are few, so the table is small until there are many: each is anywhere in it, and
 * all of its pages are memory.
 */
#ifndef SONDE_UNWIND_COUNTS_H
#define SONDE_UNWIND_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

enum { COUNTS_MAX = 65536 };

struct count {
	uint32_t group, task, node;
	uint64_t weight; /* 0: free */
};

/* {0} is empty. */
struct counts {
	struct count count[COUNTS_MAX]; /* those below cap */
	uint32_t taken[COUNTS_MAX];     /* which of them are, n */
	uint32_t cap, n, told;
};

/* More of it; false: there is no room. */
bool counts_add(struct counts *c, const struct count *more);
/* By group, unless some of them were told already. */
void counts_sort(struct counts *c);
/* The one that is told i behind the next; NULL: there is none. */
const struct count *counts_ahead(const struct counts *c, uint32_t i);
/* Those that were told: they are new when they are seen again. */
void counts_forget(struct counts *c);

#endif
