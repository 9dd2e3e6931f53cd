/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats.h - running statistics of a series, weighted by the time each value stood.
 *
 * How long a value stood may be said with it, or later.
 */
#ifndef SONDE_CORE_STATISTICS_STATS_H
#define SONDE_CORE_STATISTICS_STATS_H

#include <stdbool.h>
#include <stdint.h>

struct stats {
	uint64_t n;
	double min, max, first, last;
	double sum, weighted_sum, weight; /* weight: seconds */
};

/* seconds: how long the value stood (for a rate: the interval it was computed over). */
void stats_add(struct stats *st, double value, double seconds);
/* A value that was added before stood for so long (more). */
void stats_stand(struct stats *st, double value, double seconds);
/* Add what came later than all of st. */
void stats_join(struct stats *st, const struct stats *later);
/* Time-weighted mean; plain mean when no weight is known. NAN when n == 0. */
double stats_mean(const struct stats *st);

#endif
