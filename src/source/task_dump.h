/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_dump.h - what the kernel's task iterator writes: a record for each thread of the pid
 * namespace of who reads, in the order of their ids, kernel threads left out.
 *
 * Written by the BPF program of the helper sonde-iterator, read by the recorder: both come from the
 * same build, and `size` tells whether they do. Figures are the kernel's own, in nanoseconds, pages
 * and counts; those of a process that has several threads are the sums that /proc makes.
 */
#ifndef SONDE_SOURCE_TASK_DUMP_H
#define SONDE_SOURCE_TASK_DUMP_H

#include <stdint.h>

/* The order of struct proc_io. */
enum { TASK_IO = 7 };

enum task_has {
	TASK_HAS_RESIDENT = 1,
	TASK_HAS_IO = 2,
	TASK_HAS_WAITED = 4,
	TASK_HAS_BEFORE = 8, /* user and system time are scaled to what the scheduler counted */
};

enum { TASK_FILES_UNKNOWN = -1, TASK_EXITING = 0x4 /* PF_EXITING of flags */ };

/* What a thread used; or the threads of a process that have ended. */
struct task_used {
	uint64_t user_ns, system_ns, run_ns, minor_faults, major_faults;
	uint64_t io[TASK_IO];
};

struct task_thread {
	uint32_t size; /* of this, and of the process behind it where this is its first thread */
	uint32_t pid, tid;
	uint32_t state, exit_state, flags; /* as the kernel has them */
	struct task_used used;
	uint64_t voluntary, involuntary, migrations, waited_ns;
};

struct task_process {
	uint32_t ppid, threads;
	int32_t nice, files;
	uint32_t ignores_children, has; /* enum task_has */
	struct task_used ended;
	uint64_t children_user_ns, children_system_ns, children_minor_faults, children_major_faults;
	uint64_t before_user_ns, before_system_ns; /* what the kernel has told of it last */
	uint64_t start_ns;                         /* since boot */
	uint64_t virtual_pages, stack;
	int64_t resident_pages, high_water_pages; /* high_water: as noted so far */
	char comm[16];
};

enum {
	TASK_THREAD_SIZE = sizeof(struct task_thread),
	TASK_PROCESS_SIZE = sizeof(struct task_thread) + sizeof(struct task_process),
};

/* What the helper answers once; with it comes the descriptor of the iterator if code is 0. */
struct task_answer {
	int32_t code; /* -errno */
	char text[240];
};
enum { TASK_SOCKET = 3 /* the helper's descriptor */ };

#endif
