/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats.h - running statistics of a series, weighted by the time each value stood.
 */
#ifndef SONDE_CORE_STATS_H
#define SONDE_CORE_STATS_H

#include <stdbool.h>
#include <stdint.h>

struct stats {
	uint64_t n;
	double min, max, first, last;
	double sum, weighted_sum, weight; /* weight: seconds */
	double min_at_s, max_at_s;
};

/* seconds: how long the value stood (for a rate: the interval it was computed over). */
void stats_add(struct stats *st, double value, double seconds, double at_s);
/* Time-weighted mean; plain mean when no weight is known. NAN when n == 0. */
double stats_mean(const struct stats *st);

#endif
