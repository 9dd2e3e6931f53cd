/* SPDX-License-Identifier: Apache-2.0 */
#include "core/stall.h"

#include <stddef.h>
#include <string.h>

#define TRACE "gdb -p PID, or for Python py-spy dump -p PID, shows where."

static const struct {
	const char *words, *advice;
} rows[] = {
	[STALL_NONE] = { "runs", "" },
	[STALL_STOPPED] = { "is stopped", "kill -CONT PID lets it go on." },
	[STALL_LOCK] = { "waits for a lock held by another thread",
			 "Look who holds it: gdb -p PID, then thread apply all bt." },
	[STALL_FILE_LOCK] = { "waits for a lock on a file",
			      "Look who holds it: lslocks; a lock on a shared file system may be "
			      "another node's." },
	[STALL_FIFO_WRITER] = { "waits for a FIFO that nobody writes",
				"Start its writer, or check the path." },
	[STALL_FIFO_READER] = { "waits for a FIFO that nobody reads",
				"Start its reader, or check the path." },
	[STALL_NETWORK] = { "waits for the network",
			    "Check that the other side answers, and set a timeout." },
	[STALL_CONNECTION] = { "waits for a connection",
			       "Check that its clients were started and find its address." },
	[STALL_STORAGE] = { "waits for storage",
			    "Check the file system that it uses; a server may not answer." },
	[STALL_SEMAPHORE] = { "waits for a semaphore or a message queue",
			      "Look who should release it: ipcs -p; " TRACE },
	[STALL_LOCAL_SOCKET] = { "waits for another process (local socket)",
				 "Look at the process at the other end: ss -xp." },
	[STALL_PIPE_WRITER] = { "waits for data from a pipe",
				"Look at the process that should write to it." },
	[STALL_PIPE_READER] = { "waits for a reader of its pipe",
				"Look at the process that should read from it." },
	[STALL_TERMINAL] = { "waits for input from a terminal", "Give it input, or </dev/null." },
	[STALL_SIGNAL] = { "waits for a signal", TRACE },
	[STALL_EVENTS] = { "waits for events (poll)", TRACE },
	[STALL_TIMER] = { "sleeps (timer)", "If it should not sleep: " TRACE },
	[STALL_THREAD] = { "waits for another thread", TRACE },
	[STALL_UNKNOWN] = { "sleeps", TRACE },
	[STALL_CHILD] = { "waits for a child", TRACE },
};
_Static_assert(sizeof rows / sizeof rows[0] == STALL_NUMBER_OF, "a row for every kind");

const char *stall_words(enum stall kind)
{
	return rows[kind].words;
}

const char *stall_advice(const char *evidence)
{
	const char *found = NULL, *advice = "";

	for (size_t i = STALL_STOPPED; i < STALL_NUMBER_OF; i++) {
		const char *at = strstr(evidence, rows[i].words);

		if (at && (!found || at < found)) {
			found = at;
			advice = rows[i].advice;
		}
	}
	return advice;
}
