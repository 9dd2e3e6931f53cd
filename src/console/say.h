/* SPDX-License-Identifier: Apache-2.0 */
/*
 * say.h - what a person reads on stderr: lines with "sonde: " before them, and on a terminal one
 * that counts the recordings that are read.
 *
 * A line is escaped for the terminal, so hostile names may be handed in as they are. Data goes to
 * stdout and not through here.
 */
#ifndef SONDE_CONSOLE_SAY_H
#define SONDE_CONSOLE_SAY_H

#include <stdbool.h>
#include <stdint.h>

/* Nothing more is said once whoever read standard output has gone, as head -1 does: it has what it
 * wanted. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What was said last, without "sonde: "; "" when nothing was. */
const char *say_last(void);
/* Whether writing to standard output failed because its reader has gone. */
bool say_reader_is_gone(void);

struct progress {
	int64_t next_ns; /* when something is to be said again; INT64_MAX: never */
	bool shown;      /* the line is there */
};

void progress_begin(struct progress *p);
/* For struct run_progress; ctx is the progress. The line goes when at == of. */
void progress_show(void *ctx, uint32_t at, uint32_t of);

#endif
