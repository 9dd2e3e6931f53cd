/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait.h - threads as they were at one moment: what each waits for, who could end that wait, and
 * the functions it is in.
 *
 * The helper sonde-unwind looks and sends each thread as a line of JSON (waits/look.h); --json has
 * the same members. {0} is empty and safe to free. Texts are hostile; contents of memory are never
 * among them.
 */
#ifndef SONDE_WAITS_WAIT_H
#define SONDE_WAITS_WAIT_H

#include "base/text/json.h"
#include "base/text/jsontree.h"
#include "core/phase/event.h"
#include "core/stacks/waitkind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { WAIT_NAME = 64, WAIT_OBJECT = 320, WAIT_NODE = 64, WAIT_HOLDERS = 16, WAIT_FRAMES = 256 };

enum wait_state {
	WAIT_RUNS,    /* it had a core */
	WAIT_READY,   /* others had the core that it wants */
	WAIT_WAITS,   /* for something */
	WAIT_STOPPED, /* by a signal or a debugger */
	WAIT_SILENT,  /* the look at it did not come back */
	WAIT_STATES
};

/* How much of the stack is known. */
enum wait_stack {
	WAIT_STACK_NONE,  /* it runs, or its stack may not be read */
	WAIT_STACK_WHOLE, /* to where the thread began */
	WAIT_STACK_CUT,   /* its outer part is missing */
	WAIT_STACK_MOVED, /* the thread ran while it was read */
	WAIT_STACK_KINDS
};

/* Who could end a wait. */
struct wait_holder {
	pid_t pid, tid; /* tid 0: any thread of that process */
	char process[WAIT_NAME];
};

#define WAIT_PYTHON PYTHON_MODULE /* the module of a frame of Python */

struct wait_frame {
	char *function, *file, *module; /* or NULL */
	uint32_t line;                  /* 0: not known */
};

struct wait_thread {
	pid_t pid, tid;
	int32_t rank;         /* of an MPI program or a job's step; -1: of none, or not asked */
	char node[WAIT_NODE]; /* "": this one */
	char process[WAIT_NAME], name[WAIT_NAME]; /* the first thread's name, and its own */
	enum wait_state state;
	enum wait_kind kind;
	char object[WAIT_OBJECT];      /* "/data/mesh.bin (nfs4)"; "": no more is known */
	char function[WAIT_NAME];      /* of the kernel; "": not told */
	char refused[WAIT_OBJECT / 2]; /* why it could not be looked at; "": it could */
	struct wait_holder holder[WAIT_HOLDERS];
	uint32_t nholders;
	bool closed; /* nobody but the holders can end the wait, and it has no time limit */
	bool moved;  /* it ran before all others had been looked at */
	enum wait_stack stack;
	struct wait_frame *frame; /* the innermost first */
	uint32_t nframes;
};

struct waits {
	struct wait_thread *thread;
	uint32_t n, cap;
	int64_t at_ns;  /* UTC */
	uint32_t ranks; /* as many as the launcher told; 0: not told */
};

void waits_free(struct waits *w);
/* Room for one more, emptied; NULL: no memory. */
struct wait_thread *waits_add(struct waits *w);
/* The last one goes. */
void waits_drop(struct waits *w);
/* A frame more; the texts are copied. False: no memory, or too many. */
bool wait_add_frame(struct wait_thread *t, const struct wait_frame *f);
bool wait_is_python(const struct wait_frame *f);
/* Frame i, and the next one of Python before `to`, are of Python's own library: it is between what
 * the program called and the system call. */
bool wait_is_within_python(const struct wait_thread *t, uint32_t i, uint32_t to);
/* One who could end the wait; the same one is taken once, what does not fit opens the wait. */
void wait_add_holder(struct wait_thread *t, const struct wait_holder *h);

void wait_put(struct json *j, const struct wait_thread *t);
/* From what wait_put writes. False: it makes no sense; t holds what was read so far. */
bool wait_take(struct wait_thread *t, const struct jsontree *object);

/*
 * Threads that wait for each other, so that none of them ever goes on.
 *
 * A thread is stuck if nobody but threads that are stuck could end its wait, and that was so while
 * all of them were looked at. Whom nobody is known to be able to wake is not called stuck: a signal
 * or a thread not seen might.
 */

enum { CYCLE_MAX = 64, CYCLES_MAX = 16 };

struct cycle {
	uint32_t thread[CYCLE_MAX]; /* each waits for the next, and the last for the first */
	uint32_t n;
};

/* At most CYCLES_MAX of them, no thread in two; returns their number. 0 as well without memory. */
uint32_t cycles_find(const struct waits *w, struct cycle *out);

#endif
