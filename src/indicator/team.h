/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team.h - work that several threads do at a time, and how long it took: from the first that began
 * to the last that ended, by the monotonic clock.
 */
#ifndef SONDE_INDICATOR_TEAM_H
#define SONDE_INDICATOR_TEAM_H

#include "base/err.h"

#include <stdint.h>

struct team {
	int64_t threads;
	void (*work)(void *ctx, int64_t thread); /* begun by all at once */
	void *ctx;
};

/* 0 and the seconds, or -errno when so many threads cannot be had: then nobody worked. */
int team_run(const struct team *t, double *seconds, struct err *e);

/* The same of work that is repeated *times times, which grows, at most to most, until that takes so
 * long at least. */
int team_measure(const struct team *t, int64_t seconds_ns, int64_t most, int64_t *times,
		 double *seconds, struct err *e);

#endif
