/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cycle_part.h - what cycle.c and cycle_series.c share.
 *
 * Private to these.
 */
#ifndef SONDE_CORE_STATISTICS_CYCLE_PART_H
#define SONDE_CORE_STATISTICS_CYCLE_PART_H

#include "base/random.h"
#include "core/statistics/cycle.h"

#include <stdbool.h>

/* Of a period, in values of a scale; those of a difference function; of a pattern. */
enum {
	FINEST = CYCLE_VALUES,
	SHORT = 12,
	LONG = 24,
	LAGS = LONG + 8,
	FINER = 4,
	PATTERN = FINER * LONG + 1
};
enum { WINDOW = 4096, PROPOSALS = 3, PASSES = 3, SHUFFLES = 24 };
/* Series that are no longer are searched as if they had so many values for each. */
enum { SPREAD = 4, SPREAD_MOST = 1 << 15 };
/* Of a repeat, at most. */
enum { PARTS = 4 };

struct cycle_scale {
	const double *x;
	uint32_t n;
};

struct cycle_moments {
	double mean, sd;
};

struct cycle_moments cycle_moments(const double *x, uint32_t n);
struct cycle_pattern {
	double x[PATTERN];
	int half; /* values before and behind the beginning */
};

/* Mean 0, length 1. */
void cycle_normalise(struct cycle_pattern *p);
/* Of n values their mean, and the length of what they are off it; what hardly changes has more. */
double cycle_scatter(const double *x, int n, double *mean);
/* The correlation of the pattern with what is around each value; what hardly changes has none. -1
 * where there is no room for it. */
void cycle_fit(double *fit, const struct cycle_scale *s, const struct cycle_pattern *p);
/* A place between two values, where a parabola through the fits is highest. */
double cycle_between(const double *fit, const struct cycle_scale *s, uint32_t i);
/* Whether many places that are none of the n beginnings, which grow, fit as well as those next to
 * them: then these are some of all that look alike, by chance. */
bool cycle_skips(const double *fit, const struct cycle_scale *s, const uint32_t *at, uint32_t n,
		 double period);
/* What is not known is as before; what is far out is cut, or all become ranks, so that a burst does
 * not hide the rest; mean 0, variance 1. 1; 0: there is nothing in it; -ENOMEM. */
int cycle_prepare(double *out, const double *in, uint32_t n, bool ranks);
/* So many values for each, on the line from one to the next. */
void cycle_spread(double *out, const double *in, uint32_t n, uint32_t each);
/* Two values become one. How many these are. */
uint32_t cycle_halve(double *x, uint32_t n);
/* Periods of shortest and more; of a series that is not long, some are always proposed. room: of as
 * many values. How many. */
uint32_t cycle_propose(double *room, const struct cycle_scale *s, uint32_t shortest,
		       double period[PROPOSALS]);
/* Whether it is one of those proposed where no lag stands out. */
bool cycle_is_guessed(double period);
/* Pieces of half a period to one and a half, in random order. */
void cycle_shuffle(double *out, const struct cycle_scale *s, double period, struct random *random);

#endif
