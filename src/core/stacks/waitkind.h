/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waitkind.h - what threads wait for, by kind: their names in recordings and JSON, and their words.
 */
#ifndef SONDE_CORE_STACKS_WAITKIND_H
#define SONDE_CORE_STACKS_WAITKIND_H

#include <stdbool.h>

enum wait_kind {
	WAIT_UNKNOWN,
	WAIT_MUTEX,
	WAIT_RWLOCK,
	WAIT_LOCK,
	WAIT_CONDITION,
	WAIT_BARRIER,
	WAIT_SEMAPHORE,
	WAIT_THREAD_END,
	WAIT_THREAD,
	WAIT_PIPE_READ,
	WAIT_PIPE_WRITE,
	WAIT_FIFO_WRITER,
	WAIT_FIFO_READER,
	WAIT_SOCKET_READ,
	WAIT_SOCKET_WRITE,
	WAIT_CONNECTION,
	WAIT_CHILD,
	WAIT_FILE_LOCK,
	WAIT_STORAGE,
	WAIT_TERMINAL,
	WAIT_TIMER,
	WAIT_SIGNAL,
	WAIT_EVENTS,
	WAIT_GPU,
	WAIT_MEMORY,
	WAIT_QUEUE,
	WAIT_KINDS
};

/* Of no kind: where the time of a thread went that it did not wait, or not known for what. */
#define WAIT_ON_CPU    "on_cpu"
#define WAIT_WAS_READY "ready"     /* others had the core */
#define WAIT_UNSEEN    "unseen"    /* it ran again before it was looked at */
#define WAIT_REFUSED   "forbidden" /* it may not be looked at */

/* The module, in a recording, of frames that are no code but one of these names, or a kind's name,
 * or below a kind what was waited for. */
#define WAIT_MODULE "[wait]"
/* That of functions of Python scripts, which have a file and a line. */
#define PYTHON_MODULE "[python]"

const char *wait_kind_name(enum wait_kind k);
/* "waits for a mutex", and between that and the names of those who could end it: ", held by ". */
const char *wait_kind_words(enum wait_kind k);
const char *wait_by(enum wait_kind k);
/* The kind of a name; false: there is none. */
bool wait_kind_find(const char *name, enum wait_kind *out);

/* Does what file systems of a type answer ("nfs4", "fuse.sshfs") come from elsewhere? What follows
 * the type does not count. */
bool wait_is_far(const char *type);

/*
 * What a process that does not run waits for: the words for it, and what to do next.
 *
 * The words stand in recordings, as evidence of a hang; who judges finds them there again.
 */

/* The more it says about why nothing goes on, the earlier: of several threads or processes the
 * first of these speaks. */
enum stall {
	STALL_NONE, /* it runs, or wants to */
	STALL_STOPPED,
	STALL_LOCK,
	STALL_FILE_LOCK,
	STALL_DATABASE, /* the lock of a file that SQLite asks for again and again */
	STALL_FIFO_WRITER,
	STALL_FIFO_READER,
	STALL_NETWORK,
	STALL_STORAGE,
	STALL_SEMAPHORE,
	STALL_LOCAL_SOCKET,
	STALL_CONNECTION, /* of a server: who asked it for something says more */
	STALL_PIPE_WRITER,
	STALL_PIPE_READER,
	STALL_TERMINAL,
	STALL_EVENTS,
	STALL_TIMER,
	STALL_THREAD,
	STALL_UNKNOWN,
	STALL_SIGNAL, /* from here on: mostly for what another process does */
	STALL_CHILD,
	STALL_NUMBER_OF
};

const char *stall_words(enum stall kind); /* "waits for a child" */
const char *stall_name(enum stall kind);  /* "child", for keys of metadata */
/* What to do about the first wait that this evidence names; "" when it names none. */
const char *stall_advice(const char *evidence);
/* Is all that waited the command sleep, which somebody started to wait? */
bool stall_is_sleep(const char *evidence);

#endif
