/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.h - other processes: children that may hang in the kernel, commands whose output is read,
 * the memory of one.
 */
#ifndef SONDE_BASE_PROCESS_H
#define SONDE_BASE_PROCESS_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Ending a child process that may hang in the kernel.
 *
 * Nobody is ever waited for long: who does not end within 20 ms is left behind and goes when the
 * kernel lets it go.
 */

/* Kill and reap it. Does nothing for a pid that is no child, or was reaped. False: it was left
 * behind. */
bool child_end(pid_t pid);

/*
 * Letting go of what was inherited: a process of our own that lives beside the job
 * must not hold the job's pipes and locks.
 */
/* Close every descriptor from `first` on, but `keep`. */
void descriptors_close(int first, int keep);
/* Below `end` there is nothing to read from then on, and what is written goes nowhere. */
void descriptors_null(int end);
/* The same below standard error; and close what else was inherited: all that would stay open when
 * something is executed, as no file of Sonde's own does, but `keep`; -1: all. */
void descriptors_let_go(int keep);

/*
 * Forks a process that is nobody's child here, so that it is never among the children
 * that the launcher waits for and adds up.
 */
/* 0 in the new process, its pid in the caller, or -errno. Not for programs with threads. */
int orphan_fork(void);

/* Another one, which `be` is for. */
struct orphan {
	void (*be)(void *of); /* in the new process, which ends when it returns */
	void *of;
	int pid; /* or -errno; 0: none was made */
};
/* Both by the same process in between; NULL: only one. */
int orphan_fork_two(struct orphan *other);

/*
 * A command of the system whose output is read while it runs, with an empty standard
 * input. Its messages are part of the output. Nobody waits for it.
 */

struct asking {
	pid_t pid; /* 0: none */
	int from;
	struct bytes output; /* so far; at most ASKING_OUTPUT and a little */
};

enum { ASKING_OUTPUT = 1 << 18 };

/* argv[0] is looked for in PATH. change: called in the new process before; or NULL. 0 or -errno; a
 * command that is not there says so in its output. */
int asking_start(struct asking *c, char *const *argv, void (*change)(void));
/* Takes what has been written. False once there will be no more. */
bool asking_take(struct asking *c);
/* The same for so long. False: it has not ended by then. */
bool asking_take_all(struct asking *c, int64_t patience_ns);
/* The output as a text. */
const char *asking_text(struct asking *c);
/* Kills and reaps it; {0} afterwards. As wait says how it ended, -1 if there was none. */
int asking_end(struct asking *c, int signal);

/*
 * The memory of another process, read without stopping it.
 *
 * It may block where a page comes from a server that is silent: for helpers only.
 */

/* All of it, or false. */
bool memory_read(pid_t pid, uint64_t at, void *out, size_t size);
/* As much as there is from there on, in whole pages; 0: nothing, -errno: it is refused. */
ssize_t memory_copy(pid_t pid, uint64_t at, void *out, size_t size);
/* A part of a file, by a mapping, since what a launcher reads would be counted as read by its job.
 * The kernel copies it, so that a file that shrinks meanwhile is no SIGBUS. What cannot be mapped
 * is read.
 */
ssize_t memory_of_file(int fd, void *out, size_t size, int64_t at);
/* A text that ends in NUL, cut at size; false: there is none. */
bool memory_text(pid_t pid, uint64_t at, char *out, size_t size);

#endif
