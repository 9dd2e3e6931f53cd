/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threadfile.h - parsers of one thread's files, /proc/PID/task/TID/..., proc_pid_status(5).
 *
 * The same files of /proc/PID tell of the first thread alone. Pure: the text is hostile and
 * NUL-terminated; 0 when everything asked for was found, else -EBADMSG. Counts are those of the
 * thread so far; the kernel forgets them when it ends.
 */
#ifndef SONDE_SOURCE_THREADFILE_H
#define SONDE_SOURCE_THREADFILE_H

#include <stdbool.h>
#include <stdint.h>

struct thread_status {
	char state; /* R S D T t I Z X */
	int64_t voluntary, involuntary;
	/* Lists as cpuset(7) writes them, in the text, up to the end of the line; NULL: not told.
	 */
	const char *cpus, *nodes;
	int64_t high_water_bytes; /* of the resident set of its process; 0: not told */
	bool ignores_children;    /* SIGCHLD is ignored: nobody can wait for them */
};
int thread_status_parse(const char *status, struct thread_status *out);
/* Whether SigIgn names SIGCHLD; false where it is not told. */
bool thread_ignores_children(const char *status);

/* All that the kernel has counted of a thread: exact of one that does not run. turns: how often it
 * got a CPU. */
struct thread_times {
	int64_t run_ns, ready_ns, turns;
};
int thread_times_parse(const char *schedstat, struct thread_times *out);

/* Time it was ready to run and waited for a CPU. -EOPNOTSUPP where the kernel does not account
 * that: it prints zeros. */
int thread_schedstat_parse(const char *schedstat, int64_t *wait_ns);

/* Moves to another CPU, which sched tells where the kernel has it (CONFIG_SCHED_DEBUG). */
int thread_sched_parse(const char *sched, int64_t *migrations);

#endif
