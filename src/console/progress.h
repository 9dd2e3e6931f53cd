/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - how far the reading of many recordings is, on one line of a terminal.
 *
 * Nothing is said when standard error is no terminal, or before a second has passed.
 */
#ifndef SONDE_CONSOLE_PROGRESS_H
#define SONDE_CONSOLE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	int64_t next_ns; /* when something is to be said again; INT64_MAX: never */
	bool shown;      /* the line is there */
};

void progress_begin(struct progress *p);
/* For struct run_progress; ctx is the progress. The line goes when at == of. */
void progress_show(void *ctx, uint32_t at, uint32_t of);

#endif
