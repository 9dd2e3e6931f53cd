/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_files.h - memory in files that exist in memory alone: memfds that processes have open,
 * what a user has in /dev/shm and in other tmpfs, like a /tmp in memory, System V segments. No
 * resident set has it, unless it is mapped.
 *
 * memfds are found through /proc/PID/fd of the processes that are handed in, segments by the
 * process that made them or attached them last, files by their owner: of these, what was there when
 * it was opened is not counted. Left out is a tmpfs of the system (/run, /dev, /sys), and one that
 * is reached through another file system, which could hang. All of it is bounded: so many
 * descriptors, files, mounts and entries at a time. No other file is ever touched.
 */
#ifndef SONDE_SAMPLER_TREE_MEMORY_FILES_H
#define SONDE_SAMPLER_TREE_MEMORY_FILES_H

#include "base/root.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	MEMORY_FILES_MAX = 256,
	MEMORY_MOUNTS_MAX = 8,
	MEMORY_PATH_SIZE = 1100,
	MEMORY_DESCRIPTORS = 256, /* a turn: 1 us each */
};

struct memory_files {
	const struct root *proc;
	uid_t owner;
	bool (*is_jobs)(const void *of, pid_t pid);
	const void *of;
	int left;     /* descriptors that are still looked at, this time */
	int segments; /* /proc/sysvipc/shm, kept open; below 1: none */
	struct memory_mount {
		/* Through a process that has mounts of its own. It is not held open: its user may
		 * unmount it. */
		char path[MEMORY_PATH_SIZE];
		size_t point; /* where in it the path begins that the process sees */
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
		int64_t before; /* in it when the job began, of one that it inherits */
	} file[MEMORY_FILES_MAX];
	uint32_t nfiles;
};

/* m is zeroed; pid: a process of the job's user, in its mount namespace; launcher: what it has open
 * the job inherits, or 0. */
void memory_files_open(struct memory_files *m, const struct root *proc, pid_t pid, pid_t launcher);
void memory_files_close(struct memory_files *m);
/* A turn: begin, look at processes whose descriptors are others than before, then ask. */
void memory_files_begin(struct memory_files *m, bool (*is_jobs)(const void *of, pid_t pid),
			const void *of);
/* False when it is not looked at: so many have been. */
bool memory_files_look(struct memory_files *m, pid_t pid);
/* Bytes of memfds and removed files, and of segments that a process made or attached last; of the
 * files that the user has made since, whichever of the user's processes it was. False when a tmpfs
 * has too many entries to be looked through: its files are not in the sum. */
bool memory_files_bytes(struct memory_files *m, int64_t *of_job, int64_t *of_user);

#endif
