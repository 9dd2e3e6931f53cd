/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk.h - how much memory of a large process is its own, estimated from some of its pages.
 *
 * A walk of all page tables (smaps_rollup) takes 11 us a MiB and holds the lock that the job's own
 * mmap needs. So the entries of some pages, evenly spread over the address space, are read from
 * /proc/PID/pagemap, which needs no privilege: about 1 us each, whatever the size. Bit 63 says that
 * a page is there, bit 56 that no other process maps it (Documentation/admin-guide/mm/pagemap.rst).
 * What others map, too, counts once among those that have it of the same file, or of the same
 * program that forked. It knows no process table. Huge pages of hugetlbfs, which no resident set
 * has, are left out.
 */
#ifndef SONDE_SAMPLER_TREE_WALK_H
#define SONDE_SAMPLER_TREE_WALK_H

#include "base/random.h"
#include "base/root.h"
#include "sampler/tree/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tree;

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
void walk_step(struct tree *t);
/* Memory has changed since it was walked. */
bool walk_is_outdated(const struct tree *t, const struct process *p);
bool walk_is_old(const struct tree *t, const struct process *p);

#endif
