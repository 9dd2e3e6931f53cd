/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reading.h - reading one process's files into its row, by kept descriptors where it pays.
 *
 * A kept descriptor also pins identity: after the death of its process it says ESRCH, never
 * another's numbers. Nothing is allocated.
 */
#ifndef SONDE_SAMPLER_TREE_READING_H
#define SONDE_SAMPLER_TREE_READING_H

#include "base/root.h"
#include "sampler/tree/table.h"

#include <stdbool.h>

struct reading {
	const struct root *proc;
	bool clocks; /* the root is this kernel's /proc, of this pid namespace: pids mean the same
		      */
	bool files_by_size; /* st_size of PID/fd is the number of open files (Linux 6.2) */
	int64_t tick_ns, page_bytes;
	uint32_t kept_max; /* files held open at most */
	uint32_t weight;   /* of those that are */
};

void reading_init(struct reading *r, const struct root *proc);

/* The caller's pid as this /proc names it: not getpid() where it belongs to another pid namespace.
 * 0 when the root is no kernel's /proc. */
pid_t reading_self(const struct root *proc);

/* The process that a thread's id is of; the id itself when that is a process, or nothing tells. */
pid_t reading_process_of(const struct root *proc, pid_t id);

/* CPU time of a process by its CPU clock: no file, no privilege. 0, or -EINVAL / -ESRCH when there
 * is no such process (a thread's id is none either). */
int process_clock(pid_t pid, int64_t *ns);

enum reading_part {
	READ_STAT = 1,   /* stat; statm when the resident memory has changed by more than 1/64 */
	READ_IO = 2,     /* io */
	READ_SHARED = 4, /* statm; by itself: stat, too, when statm has changed */
	READ_FILES = 8,  /* the number of open files; by itself: nothing else */
	READ_ALL = READ_STAT | READ_IO | READ_SHARED | READ_FILES,
};

/* For the files of one more process. */
bool reading_has_room(const struct reading *r);

/* Which files stay open for the next time, while there is room: none, what a process needs that
 * does not run (statm), or what one needs that does. */
enum keep { KEEP_NONE, KEEP_IDLE, KEEP_ACTIVE };

/* What was learned of a process otherwise than from its files. */
struct told {
	struct proc_stat stat; /* but its status, of one that ended */
	struct proc_io io;
	bool io_known;
	int64_t files; /* -1: not known */
};

/* Read these parts. 0; -ESRCH when it is gone or the pid is another process by now. */
int process_read(struct reading *r, struct process *p, unsigned parts, enum keep keep);
/* The same with what is told, and from files only what is not. */
int process_take(struct reading *r, struct process *p, const struct told *told, unsigned parts,
		 enum keep keep);
/* Does it have the memory that it had when its shared memory was read last? */
bool process_stands(struct reading *r, struct process *p, enum keep keep);
/* Walk the page tables for PSS and USS, and read swap. Costly: 15 us + 11 us a MB. 0 or -errno. */
int process_walk(const struct reading *r, struct process *p);
/* What is known of its memory now is how it is as it was read last. */
void process_walked(const struct reading *r, struct process *p);
/* Bytes of pages that it touched since its memory was walked, besides those that it has more of. */
int64_t process_faulted_since_walk(const struct reading *r, const struct process *p);
/* Raise its peak to what it has now. */
void process_grew(const struct reading *r, struct process *p);
/* All but what is kept so. */
void process_close(struct reading *r, struct process *p, enum keep keep);

/* Own CPU, and that of the children it waited for (whole ticks), in ns. */
int64_t process_own_ns(const struct process *p);
int64_t process_children_ns(const struct reading *r, const struct process *p);

#endif
