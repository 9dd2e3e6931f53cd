/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space.h - processes by number, and what each has where in its memory.
 */
#ifndef SONDE_UNWIND_SPACE_H
#define SONDE_UNWIND_SPACE_H

#include "base/root.h"
#include "unwind/module.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Numbers of rows for processes, 1 to `most`, found by pid; and the threads of a process.
 *
 * Who has rows keeps them in an array beside it. A number that was dropped is given again.
 */

struct pids {
	struct pid_row {
		pid_t pid;     /* 0: free */
		uint32_t next; /* with the same hash, or free */
	} * row;               /* from 1 */
	uint32_t *first;       /* by hash */
	uint32_t n, spare, most;
};

int pids_make(struct pids *p, uint32_t most); /* 0 or -ENOMEM */
void pids_free(struct pids *p);
/* The row of a process, given to it if need be: then *fresh. 0: there is no room. */
uint32_t pids_get(struct pids *p, pid_t pid, bool *fresh);
void pids_drop(struct pids *p, uint32_t row);

/* Each thread that the process has now, until `take` gives false. False: it did. */
bool pids_threads(const struct root *proc, pid_t pid, bool (*take)(void *of, pid_t tid), void *of);

/*
 * What a process has where in its memory: from the kernel's records in the order of time,
 * and of a process that ran before, from /proc/PID/maps.
 */

enum { SPACES_MAX = 2048, MAPPINGS_MAX = 8192, SPACES_ENDED = 64 };

struct mapping {
	uint64_t start, end, offset;
	uint32_t module;
};

struct jit;
struct python;

struct space {
	pid_t pid;
	bool known; /* its mappings are */
	bool ended;
	bool makes_code; /* it has code in memory that no file has */
	char command[16];
	struct mapping *map; /* by start, none overlaps another */
	uint32_t n, cap;
	uint32_t next;  /* of those with the same hash */
	uint32_t group; /* of its samples, + 1; 0: none yet */
	struct jit *jit;
	struct python *python; /* what is known of its interpreter; NULL: nothing */
	uint32_t searched;     /* so many mappings have no interpreter */
	int64_t learnt_ns;     /* from /proc, last; 0: never */
	uint64_t used;         /* when, as a number that grows */
};

struct spaces {
	struct space row[SPACES_MAX + 1]; /* the first is none */
	uint32_t first[SPACES_MAX];       /* by hash */
	uint64_t turn;
	uint32_t hand; /* the row behind the last one that was made */
	struct {
		pid_t pid;
		uint64_t used;
	} ended[SPACES_ENDED]; /* the last ones, and when they were used last then */
	uint32_t nended;
	struct modules *modules;
};

/* Of a process, made if need be. Never NULL: the one that was used the longest ago makes room. */
struct space *spaces_get(struct spaces *s, pid_t pid);
void spaces_fork(struct spaces *s, pid_t pid, pid_t parent);
void spaces_exec(struct spaces *s, pid_t pid);
/* It has ended, or its first thread has: what it has where is kept for a little while, and as long
 * as others have samples. */
void spaces_end(struct spaces *s, pid_t pid);
void spaces_map(struct spaces *s, struct space *x, const struct module_seen *seen);
/* Nothing of what it has where is known any more. */
void space_forget(struct space *x);
/* From /proc, when nothing is known, or again. */
void spaces_learn(struct spaces *s, struct space *x, int64_t now_ns);
const struct mapping *space_find(const struct space *x, uint64_t pc);

#endif
