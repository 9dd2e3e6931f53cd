/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patience.h - how long the launcher waits for a recorder at the job's end: for as long as it
 * works, and not for one that is stopped or hangs.
 *
 * Work is CPU time, or waiting for a CPU. What it writes may take a while to reach the disk. Who
 * may sleep, as a recorder that waits for other tasks, is waited for until the deadline.
 */
#ifndef SONDE_JOB_PATIENCE_H
#define SONDE_JOB_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct patience {
	pid_t pid; /* 0: not known, and taken to sleep */
	bool may_sleep;
	int64_t deadline_ns, cpu_ns, moved_ns;
};

struct patience patience_begin(pid_t pid, bool may_sleep, int most_ms);
/* How long to wait before asking again; 0: long enough. */
int patience_left_ms(struct patience *p);

#endif
