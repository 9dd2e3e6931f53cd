/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trend.h - the straight line through values at equal distances, and how sure its slope is.
 */
#ifndef SONDE_CORE_STATISTICS_TREND_H
#define SONDE_CORE_STATISTICS_TREND_H

#include <stdint.h>

/* Slope and error are per second; error: two standard errors of the slope. from, to: the line's
 * values where it begins and where it ends. NAN: fewer than four values are known. */
struct trend {
	double slope, error, from, to;
};

/* Of v[begin..end-1], each of so many seconds; NAN: not known. */
struct trend trend_of(const double *v, uint32_t begin, uint32_t end, double width_s);

#endif
