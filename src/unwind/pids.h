/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pids.h - numbers of rows for processes, 1 to `most`, found by pid; and the threads of a process.
 *
 * Who has rows keeps them in an array beside it. A number that was dropped is given again.
 */
#ifndef SONDE_UNWIND_PIDS_H
#define SONDE_UNWIND_PIDS_H

#include "base/root.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pids {
	struct pid_row {
		pid_t pid;     /* 0: free */
		uint32_t next; /* with the same hash, or free */
	} * row;               /* from 1 */
	uint32_t *first;       /* by hash */
	uint32_t n, spare, most;
};

int pids_make(struct pids *p, uint32_t most); /* 0 or -ENOMEM */
void pids_free(struct pids *p);
/* The row of a process, given to it if need be: then *fresh. 0: there is no room. */
uint32_t pids_get(struct pids *p, pid_t pid, bool *fresh);
void pids_drop(struct pids *p, uint32_t row);

/* Each thread that the process has now, until `take` gives false. False: it did. */
bool pids_threads(const struct root *proc, pid_t pid, bool (*take)(void *of, pid_t tid), void *of);

#endif
