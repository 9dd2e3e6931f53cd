/* SPDX-License-Identifier: Apache-2.0 */
#include "core/stacks/waitkind.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *name, *words, *by;
} kinds[] = {
	[WAIT_UNKNOWN] = { "unknown", "sleeps", ", for " },
	[WAIT_MUTEX] = { "mutex", "waits for a mutex", ", held by " },
	[WAIT_RWLOCK] = { "rwlock", "waits for a read-write lock", ", held by " },
	[WAIT_LOCK] = { "lock", "waits for a lock", ", held by " },
	[WAIT_CONDITION] = { "condition", "waits for a condition variable", ", for " },
	[WAIT_BARRIER] = { "barrier", "waits in a barrier", ", for " },
	[WAIT_SEMAPHORE] = { "semaphore", "waits for a semaphore", ", for " },
	[WAIT_THREAD_END] = { "thread_end", "waits for the end of another thread", ": " },
	[WAIT_THREAD] = { "thread", "waits for another thread", ": " },
	[WAIT_PIPE_READ] = { "pipe_read", "waits for data from a pipe", ", written by " },
	[WAIT_PIPE_WRITE] = { "pipe_write", "waits for room in a pipe", ", read by " },
	[WAIT_FIFO_WRITER] = { "fifo_writer", "waits for a FIFO that nobody writes", ", but " },
	[WAIT_FIFO_READER] = { "fifo_reader", "waits for a FIFO that nobody reads", ", but " },
	[WAIT_SOCKET_READ] = { "socket_read", "waits for data from a socket", ", sent by " },
	[WAIT_SOCKET_WRITE] = { "socket_write", "waits for room in a socket", ", read by " },
	[WAIT_CONNECTION] = { "connection", "waits for a connection", ", by " },
	[WAIT_CHILD] = { "child", "waits for a child", ": " },
	[WAIT_FILE_LOCK] = { "file_lock", "waits for a lock on a file", ", held by " },
	[WAIT_STORAGE] = { "storage", "waits for storage", ", for " },
	[WAIT_TERMINAL] = { "terminal", "waits for input from a terminal", ", for " },
	[WAIT_TIMER] = { "timer", "sleeps (timer)", ", for " },
	[WAIT_SIGNAL] = { "signal", "waits for a signal", ", by " },
	[WAIT_EVENTS] = { "events", "waits for events (poll)", ", from " },
	[WAIT_GPU] = { "gpu", "waits for the GPU driver", ", for " },
	[WAIT_MEMORY] = { "memory", "waits for a page of memory", ", for " },
	[WAIT_QUEUE] = { "queue", "waits for a semaphore or a message queue of System V",
			 ", for " },
};
_Static_assert(sizeof kinds / sizeof kinds[0] == WAIT_KINDS, "a row for every kind");

const char *wait_kind_name(enum wait_kind k)
{
	return kinds[k].name;
}

const char *wait_kind_words(enum wait_kind k)
{
	return kinds[k].words;
}

const char *wait_by(enum wait_kind k)
{
	return kinds[k].by;
}

bool wait_kind_find(const char *name, enum wait_kind *out)
{
	for (int i = 0; i < WAIT_KINDS; i++)
		if (!strcmp(name, kinds[i].name)) {
			*out = (enum wait_kind)i;
			return true;
		}
	return false;
}

bool wait_is_far(const char *type)
{
	static const char *const types[] = { "nfs",  "lustre", "cifs", "smb",      "ceph",
					     "fuse", "beegfs", "gpfs", "virtiofs", "9p",
					     "pvfs", "afs",    "panfs" };

	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
		if (!strncmp(type, types[i], strlen(types[i])))
			return strncmp(type, "fuseblk", 7) != 0;
	return false;
}

/* ---- why nothing goes on ---- */

#define WITH "with gdb -p PID, or py-spy dump -p PID for Python."
#define FIND "Find where " WITH

static const struct {
	const char *name, *words, *advice;
} rows[] = {
	[STALL_NONE] = { "none", "runs", "" },
	[STALL_STOPPED] = { "stopped", "is stopped", "Resume it: kill -CONT PID." },
	[STALL_LOCK] = { "lock", "waits for a lock held by another thread",
			 "Find the holder: gdb -p PID, then thread apply all bt." },
	[STALL_FILE_LOCK] = { "file_lock", "waits for a lock on a file",
			      "Find out why its holder keeps it (lslocks lists the holders; on a shared "
			      "file system it may be on another node)." },
	[STALL_DATABASE] = { "database_lock", "waits for the lock of a database",
			     "Find out why its holder keeps it open (a transaction that goes on)." },
	[STALL_FIFO_WRITER] = { "fifo_writer", "waits for a FIFO that nobody writes",
				"Start its writer, or check the path." },
	[STALL_FIFO_READER] = { "fifo_reader", "waits for a FIFO that nobody reads",
				"Start its reader, or check the path." },
	[STALL_NETWORK] = { "network", "waits for the network",
			    "Check that the server answers, and set a timeout." },
	[STALL_CONNECTION] = { "connection", "waits for a connection",
			       "Check that its clients started and know its address." },
	[STALL_STORAGE] = { "storage", "waits for storage",
			    "Check its file system; the server may not respond." },
	[STALL_SEMAPHORE] = { "semaphore", "waits for a semaphore or a message queue",
			      "Find who should release it with ipcs -p, and where it waits " WITH },
	[STALL_LOCAL_SOCKET] = { "local_socket", "waits for another process (local socket)",
				 "Check the process at the other end: ss -xp." },
	[STALL_PIPE_WRITER] = { "pipe_writer", "waits for data from a pipe",
				"Check the process that should write to it." },
	[STALL_PIPE_READER] = { "pipe_reader", "waits for a reader of its pipe",
				"Check the process that should read from it." },
	[STALL_TERMINAL] = { "terminal", "waits for input from a terminal",
			     "Redirect its input, for example </dev/null." },
	[STALL_SIGNAL] = { "signal", "waits for a signal", FIND },
	[STALL_EVENTS] = { "events", "waits for events (poll)", FIND },
	[STALL_TIMER] = { "timer", "sleeps (timer)", "If this is unexpected, find where " WITH },
	[STALL_THREAD] = { "thread", "waits for another thread", FIND },
	[STALL_UNKNOWN] = { "unknown", "sleeps", FIND },
	[STALL_CHILD] = { "child", "waits for a child", FIND },
};
_Static_assert(sizeof rows / sizeof rows[0] == STALL_NUMBER_OF, "a row for every kind");

const char *stall_name(enum stall kind)
{
	return rows[kind].name;
}

const char *stall_words(enum stall kind)
{
	return rows[kind].words;
}

bool stall_is_sleep(const char *evidence)
{
	static const char sleeper[] = "sleep (pid ";

	while (strncmp(evidence, sleeper, sizeof sleeper - 1) == 0) {
		evidence = strstr(evidence, "; ");
		if (!evidence)
			return true;
		evidence += 2;
	}
	return false;
}

const char *stall_advice(const char *evidence)
{
	const char *found = NULL, *advice = "";

	if (stall_is_sleep(evidence))
		return "";
	for (size_t i = STALL_STOPPED; i < STALL_NUMBER_OF; i++) {
		const char *at = strstr(evidence, rows[i].words);

		if (at && (!found || at < found)) {
			found = at;
			advice = rows[i].advice;
		}
	}
	return advice;
}
