/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stall.h - what a process that does not run waits for: the words for it, and what to do next.
 *
 * The words stand in recordings, as evidence of a hang; who judges finds them there again.
 */
#ifndef SONDE_CORE_STACKS_STALL_H
#define SONDE_CORE_STACKS_STALL_H

#include <stdbool.h>

/* The more it says about why nothing goes on, the earlier: of several threads or processes the
 * first of these speaks. */
enum stall {
	STALL_NONE, /* it runs, or wants to */
	STALL_STOPPED,
	STALL_LOCK,
	STALL_FILE_LOCK,
	STALL_FIFO_WRITER,
	STALL_FIFO_READER,
	STALL_NETWORK,
	STALL_CONNECTION,
	STALL_STORAGE,
	STALL_SEMAPHORE,
	STALL_LOCAL_SOCKET,
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
