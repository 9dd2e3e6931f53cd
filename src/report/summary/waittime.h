/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waittime.h - what the job's threads waited for (core/stacks/waiting.h), as text, Markdown and
 * JSON.
 */
#ifndef SONDE_REPORT_SUMMARY_WAITTIME_H
#define SONDE_REPORT_SUMMARY_WAITTIME_H

#include "base/bytes.h"
#include "core/stacks/waiting.h"

#include <stdio.h>

struct waittime {
	struct classes classes;
	struct waiting *waiting;          /* NULL: none were recorded */
	const char *refused;              /* why they were not; NULL: nobody said */
	const char *fix_user, *fix_admin; /* against it; NULL: nothing is known */
};

/* phases: rows by phase, too, which take another pass. 0 or -errno with a sentence; *w NULL where
 * the recording has no waits and does not say why. */
int waittime_make(struct waittime **w, struct run *r, bool phases, struct err *e);
void waittime_free(struct waittime *w);

/* What the time was of, without what was none: on a CPU, ready, waiting by kind, most first, then
 * what is not known for what. Their number. */
struct waittime_part {
	enum waiting_part part;
	const char *label;
	double seconds;
};
uint32_t waittime_parts(const struct waiting *w, struct waittime_part out[WAITING_PARTS]);
/* The i-th sentence of what is missing and how to read it, not escaped, or nothing; false: there is
 * none. */
bool waittime_say(const struct waittime *t, unsigned i, struct bytes *out);

/* As a share of all time of threads, 0..1. */
double waittime_ratio(const struct waiting *w, double seconds);
/* "waiting 83 %, on a CPU 12 %, ready 5 %; data from a pipe 60 % (load, io.c:88), ...": the largest
 * `most`; escaped for a terminal. */
void waittime_words(const struct waiting *w, unsigned most, struct bytes *out);

/* `show --waits`, of what has waits: the account, objects and functions; or with `by` one table.
 * most: rows. */
void waittime_print(const struct waittime *t, FILE *out, unsigned most);
void waittime_print_by(const struct waiting *w, enum waiting_by by, FILE *out, unsigned most);
/* Schema sonde/waits/1. most: rows of each table. */
void waittime_json(const struct waittime *w, const struct run *r, unsigned most, struct bytes *out);

#endif
