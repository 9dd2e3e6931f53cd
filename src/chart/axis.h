/* SPDX-License-Identifier: Apache-2.0 */
/*
 * axis.h - from values to places on paper, and where its ticks are.
 *
 * The unit's prefix is chosen once for the whole axis ("GiB"), so that ticks are bare numbers.
 * Bytes have ticks at powers of two, time at minutes, hours and days.
 */
#ifndef SONDE_CHART_AXIS_H
#define SONDE_CHART_AXIS_H

#include "core/metric.h"

#include <stdbool.h>

enum { AXIS_TICKS = 24, AXIS_LABEL = 24, AXIS_UNIT = 24 };

struct axis {
	double from, to;      /* values at its ends */
	double begin, length; /* places; length may be negative */
	double divisor;       /* a value / divisor is in its unit */
	char unit[AXIS_UNIT]; /* "GiB"; "" for bare numbers */
	double tick[AXIS_TICKS];
	char label[AXIS_TICKS][AXIS_LABEL];
	unsigned nticks;
	bool log;
};

/* For values from min to max, ends at ticks. A linear one begins at 0 unless min is below. On a
 * logarithmic one min has to be above 0. */
void axis_of_values(struct axis *a, enum unit unit, double min, double max, bool log);
/* The same, which begins where the values do: for values that hardly differ. */
void axis_around_values(struct axis *a, enum unit unit, double min, double max);
/* Seconds since the run's start, in the unit that suits them; ends where they end. */
void axis_of_time(struct axis *a, double from_s, double to_s);
/* Its place; values beyond an end are moved to it. */
double axis_place(const struct axis *a, double value);

#endif
