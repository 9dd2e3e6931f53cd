/* SPDX-License-Identifier: Apache-2.0 */
#include "core/stall.h"

#include <stddef.h>
#include <string.h>

#define WITH "with gdb -p PID, or py-spy dump -p PID for Python."
#define FIND "Find where " WITH

static const struct {
	const char *words, *advice;
} rows[] = {
	[STALL_NONE] = { "runs", "" },
	[STALL_STOPPED] = { "is stopped", "Resume it: kill -CONT PID." },
	[STALL_LOCK] = { "waits for a lock held by another thread",
			 "Find the holder: gdb -p PID, then thread apply all bt." },
	[STALL_FILE_LOCK] = { "waits for a lock on a file",
			      "Find the holder with lslocks; on a shared file system it may be on "
			      "another node." },
	[STALL_FIFO_WRITER] = { "waits for a FIFO that nobody writes",
				"Start its writer, or check the path." },
	[STALL_FIFO_READER] = { "waits for a FIFO that nobody reads",
				"Start its reader, or check the path." },
	[STALL_NETWORK] = { "waits for the network",
			    "Check that the server answers, and set a timeout." },
	[STALL_CONNECTION] = { "waits for a connection",
			       "Check that its clients started and know its address." },
	[STALL_STORAGE] = { "waits for storage",
			    "Check its file system; the server may not respond." },
	[STALL_SEMAPHORE] = { "waits for a semaphore or a message queue",
			      "Find who should release it with ipcs -p, and where it waits " WITH },
	[STALL_LOCAL_SOCKET] = { "waits for another process (local socket)",
				 "Check the process at the other end: ss -xp." },
	[STALL_PIPE_WRITER] = { "waits for data from a pipe",
				"Check the process that should write to it." },
	[STALL_PIPE_READER] = { "waits for a reader of its pipe",
				"Check the process that should read from it." },
	[STALL_TERMINAL] = { "waits for input from a terminal",
			     "Redirect its input, for example </dev/null." },
	[STALL_SIGNAL] = { "waits for a signal", FIND },
	[STALL_EVENTS] = { "waits for events (poll)", FIND },
	[STALL_TIMER] = { "sleeps (timer)", "If this is unexpected, find where " WITH },
	[STALL_THREAD] = { "waits for another thread", FIND },
	[STALL_UNKNOWN] = { "sleeps", FIND },
	[STALL_CHILD] = { "waits for a child", FIND },
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
