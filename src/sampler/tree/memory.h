/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - memory in files that exist in memory alone: memfds that processes have open,
 * what a user has in /dev/shm and in other tmpfs, like a /tmp in memory, System V segments. No
 * resident set has it, unless it is mapped.
 *
 * memfds are found through /proc/PID/fd of the processes that are handed in, segments by the
 * process that made them or attached them last, files by their owner: of these, what was there when
 * it was opened is not counted. Left out is a tmpfs of the system (/run, /dev, /sys), and one that
 * is reached through another file system, which could hang. All of it is bounded: so many
 * descriptors, files, mounts and entries at a time. No other file is ever touched.
 */
#ifndef SONDE_SAMPLER_TREE_MEMORY_H
#define SONDE_SAMPLER_TREE_MEMORY_H

#include "base/root.h"
#include "sampler/tree/table.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct tree;

enum { MEMORY_FILES_MAX = 256, MEMORY_MOUNTS_MAX = 8, MEMORY_PATH_SIZE = 1100 };

struct memory_files {
	const struct root *proc;
	uid_t owner;
	bool (*is_jobs)(const void *of, pid_t pid);
	const void *of;
	int left; /* descriptors that are still looked at, this time */
	struct memory_mount {
		/* Below /proc, through a process. It is not held open: its user may unmount it. */
		char path[MEMORY_PATH_SIZE];
		dev_t device;
		uint64_t blocks; /* in use by anybody, when it was looked through last */
		int64_t bytes, before;
		bool too_many; /* entries, now or once: what it has is not known any more */
	} mount[MEMORY_MOUNTS_MAX];
	uint32_t nmounts;
	struct memory_file {
		dev_t device;
		ino_t inode;
		pid_t pid;
		int fd;
		int64_t bytes;
	} file[MEMORY_FILES_MAX];
	uint32_t nfiles;
};

/* Bytes of memfds and removed files, and of segments that a process made or attached last; of the
 * files that the user has made since, whichever of the user's processes it was. False when a tmpfs
 * has too many entries to be looked through: its files are not in the sum. */
bool memory_files_bytes(struct memory_files *m, int64_t *of_job, int64_t *of_user);

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
	uint32_t cursor;
	uint64_t turn;
};

/* pid: of the job; 0: it is started later, by who is in its mount namespace as this process is. */
void memory_open(struct tree *t, pid_t pid);
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
