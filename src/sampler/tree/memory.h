/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - memory of the job that no resident set has: huge pages of hugetlbfs, and files in
 * memory; and resident sets that are the same memory.
 */
#ifndef SONDE_SAMPLER_TREE_MEMORY_H
#define SONDE_SAMPLER_TREE_MEMORY_H

#include "sampler/tree/memory_files.h"
#include "sampler/tree/table.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tree;

/* What no resident set has. */
struct memory {
	struct memory_files files;
	bool files_known;
	int meminfo;
	bool huge_present; /* the machine has huge pages of hugetlbfs */
	int64_t huge_used;
	int64_t surely_bytes, of_user_bytes, files_bytes; /* the job's, maybe its, what is said */
	/* The job's, when it was summed up last; in all; the most at a time. */
	int64_t written, stored, unstored, mapped;
	int64_t surely_written; /* in files that are surely its own, most at a time */
	uint32_t cursor;
	uint64_t turn;
};

/* pid: of the job; 0: it is started later, by the launcher, or by who is in its mount namespace as
 * this process is. */
void memory_open(struct tree *t, pid_t pid, pid_t launcher);
void memory_close(struct tree *t);
void memory_step(struct tree *t, bool last);
void memory_sum(struct tree *t); /* behind the sums of I/O and of memory's parts */
/* Huge pages of hugetlbfs: all that the job has, and what of it is one process's. */
int64_t memory_hugetlb(const struct tree *t);
int64_t memory_hugetlb_of(const struct tree *t, const struct process *p);
/* p was read for the first time: has it the same memory as its parent (CLONE_VM)? */
void memory_lend(struct tree *t, struct process *p);
/* Who had the memory of others is gone: one of these has it now. */
void memory_lender_left(struct tree *t, pid_t pid);
/* Of files in memory, what no process can have mapped: so much at least. */
int64_t memory_unmapped(const struct tree *t);

#endif
