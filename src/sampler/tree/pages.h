/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pages.h - how much memory of a large process is its own, estimated from some of its pages.
 *
 * A walk of all page tables (smaps_rollup) takes 11 us a MiB and holds the lock that the job's own
 * mmap needs. So the entries of some pages, evenly spread over the address space, are read from
 * /proc/PID/pagemap, which needs no privilege: about 1 us each, whatever the size. Bit 63 says that
 * a page is there, bit 56 that no other process maps it (Documentation/admin-guide/mm/pagemap.rst).
 * What others map, too, counts once among those that have it of the same file, or of the same
 * program that forked. It knows no process table. Huge pages of hugetlbfs, which no resident set
 * has, are left out.
 */
#ifndef SONDE_SAMPLER_TREE_PAGES_H
#define SONDE_SAMPLER_TREE_PAGES_H

#include "base/random.h"
#include "base/root.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { PAGES_SHARES = 16, PAGES_AREAS_MAX = 16384, PAGES_TEXT = 65536, PAGES_KEYS = 4096 };

/* What a process has of pages that others map, too. */
struct pages_share {
	uint64_t key; /* whose: of a file, or of a program that forked; 0: none */
	int64_t bytes;
};

struct pages_estimate {
	int64_t exclusive_bytes;
	int64_t error_bytes; /* of it: 19 of 20 times it is off by less */
	struct pages_share share[PAGES_SHARES];
};

struct pages {
	struct pages_area *area; /* [PAGES_AREAS_MAX], of one process at a time */
	char *text;
	struct random random;
	struct pages_key *key; /* [PAGES_KEYS] */
};

int pages_open(struct pages *g); /* 0 or -ENOMEM */
void pages_close(struct pages *g);

struct pages_of {
	pid_t pid;
	int64_t resident_bytes;
	uint64_t family; /* the same in those that forked, another one after exec */
	unsigned reads;  /* entries that are read */
};
/* 0, or -errno: -EACCES when it is another user's, -E2BIG when it has too many areas. */
int pages_take(struct pages *g, const struct root *proc, const struct pages_of *p,
	       struct pages_estimate *out);

/* Share out what several have: begin, add each estimate, then ask for each. */
void pages_share_begin(struct pages *g);
void pages_share_add(struct pages *g, const struct pages_estimate *x);
/* Its own, and its part of what it has with others. */
int64_t pages_proportional(const struct pages *g, const struct pages_estimate *x);

#endif
