/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python.h - Python's functions and lines of a thread, out of the memory of CPython 3.8 to 3.13.
 *
 * Where its structures have what is a table, by version (python_layout.h). All of it is bounded and
 * hostile: what makes no sense ends the stack. Who asks makes sure that the thread did not run
 * meanwhile.
 */
#ifndef SONDE_UNWIND_PYTHON_H
#define SONDE_UNWIND_PYTHON_H

#include "unwind/profile.h"
#include "unwind/python_layout.h"
#include "unwind/space.h"

enum { PYTHON_FRAMES = 128, PYTHON_TEXT = 160, PYTHON_THREADS = 4096 };

struct python_frame {
	char function[PYTHON_TEXT], file[PYTHON_TEXT];
	uint32_t line;
	bool entry; /* the outermost that one call of the interpreter's loop runs */
};

struct python_stack {
	struct python_frame frame[PYTHON_FRAMES]; /* the innermost first */
	uint32_t n;
	bool torn; /* the rest makes no sense */
};

struct python_codes;

struct python {
	pid_t pid;                          /* 0: not looked for yet */
	const struct python_layout *layout; /* NULL: it is no such interpreter */
	struct python_layout own;           /* what it says itself */
	uint64_t runtime, interpreter;
	struct python_thread {
		uint64_t at;
		pid_t tid;
	} * thread; /* when they were listed */
	uint32_t nthreads, threads_cap;
	int64_t learnt_ns;          /* of the space, when it was found to be none */
	struct python_codes *codes; /* to be remembered; NULL: all is read anew */
	/* The semaphore that was asked about last, the lock that its queue has noted, and who has
	 * it; frames that are still searched for locks, since each thread may wait for one of its
	 * own. */
	uint64_t lock, parked;
	pid_t lock_holder;
	uint32_t left;
};

/* For python.codes; NULL: no memory. Never freed: it goes with the process. */
struct python_codes *python_codes_make(void);
/* One that was allocated. */
void python_free(struct python *p);
/* The name of the interpreter, or of its library. */
bool python_is_of(const char *path);
/* Of this name, by version: the interpreter's function that runs Python's. NULL: no. */
bool python_is_loop(const char *function);
/* A frame as one of a stack. The texts are borrowed. */
struct place python_place(const struct python_frame *f);
/* Is the process one? Remembered until it is asked of another. */
bool python_find(struct python *p, const struct modules *modules, const struct space *space);
/* Of a process whose mappings are known; NULL: it is none that is known here. It belongs to the
 * space. */
struct python *python_of(const struct modules *modules, struct space *space,
			 struct python_codes *codes);
/* Of the thread with this number, as the interpreter has it. False: it has none. */
bool python_read(const struct python *p, pid_t tid, struct python_stack *out);
/* The same; lists the threads again if it was none of them. */
bool python_read_new(struct python *p, pid_t tid, struct python_stack *out);
/* Whose memory an address is: of the lock that lets one thread at a time run (the GIL). */
bool python_is_gil(const struct python *p, uint64_t address);
/* Who has it; 0: nobody, or it is not known. */
pid_t python_gil_holder(const struct python *p);

/* Which thread is within `with lock:` of the lock that waits at this address; 0: it is not known,
 * as when too many frames were searched for other locks. One that called acquire() is not found. */
pid_t python_lock_holder(struct python *p, uint64_t address);

#endif
