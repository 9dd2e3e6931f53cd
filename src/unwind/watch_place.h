/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_place.h - where a thread that is blocked is: its stack and what it waits for, as a node of
 * the profile. The thread is not stopped: if it ran while it was read, nothing is taken of it.
 */
#ifndef SONDE_UNWIND_WATCH_PLACE_H
#define SONDE_UNWIND_WATCH_PLACE_H

#include "base/root.h"
#include "source/procfile.h"
#include "unwind/blocked.h"
#include "unwind/interpreted.h"
#include "unwind/profile.h"
#include "waits/object.h"

struct watch_place {
	struct root proc;
	struct spaces *spaces;
	struct profile *profile;
	struct blocked blocked;
	struct starts starts[MODULES_MAX];
	struct ends ends; /* of pipes and sockets, as they were then */
	int64_t ends_read_ns, ends_cost_ns;
	uint32_t ends_reads;
	const struct object_child *child; /* of those that are watched */
	uint32_t nchildren;
	uint8_t *copy;              /* of a stack */
	struct python_merge python; /* of the thread that is looked at, */
	struct python_stack frames; /* with these of Python: none if they made no sense */
	_Atomic int64_t *torn;      /* counts frames that made no sense */
	uint32_t kept, kept_max;    /* threads and processes whose files are open */
	bool unnamed; /* who would end the last wait that it found, nobody knows yet */
};

struct watched_thread {
	pid_t pid, tid;
	bool kept;             /* its files are open, as many as may be; */
	int times_fd, call_fd; /* 0: not */
};

enum place_found {
	PLACE_FOUND,
	PLACE_RUNS,    /* or wants to */
	PLACE_MOVED,   /* it ran while it was read */
	PLACE_REFUSED, /* nobody may look at it */
};

/* 0, or -errno. Never freed: it goes with the process. */
int watch_place_init(struct watch_place *w, struct modules *modules, struct rows *rows);
/* Keep its files open, if there is room; let them go. */
void watch_keep(struct watch_place *w, struct watched_thread *t);
void watch_let_go(struct watch_place *w, struct watched_thread *t);
/* The same of one file; 0: it is not open. */
int watch_keep_of(struct watch_place *w, const char *path);
void watch_let_go_of(struct watch_place *w, int *fd);
/* false: it has ended. */
bool watch_times(const struct watch_place *w, const struct watched_thread *t,
		 struct thread_times *out);
/* before: its times, read right before. *node is set with PLACE_FOUND. */
enum place_found watch_place_find(struct watch_place *w, const struct watched_thread *t,
				  const struct thread_times *before, uint32_t *node);

#endif
