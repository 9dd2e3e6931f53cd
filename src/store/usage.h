/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage.h - what groups of runs used: percentiles of each figure over the runs, and what to ask for
 * next.
 *
 * A percentile is the smallest value that so many of the runs did not exceed (nearest rank): a
 * value that was there, also of few runs.
 */
#ifndef SONDE_STORE_USAGE_H
#define SONDE_STORE_USAGE_H

#include "core/metric.h"
#include "store/history.h"

enum usage_by { USAGE_NAME, USAGE_ARRAY, USAGE_HOST, USAGE_USER, USAGE_ACCOUNT };

enum { USAGE_FIGURES = 4, USAGE_TOTALS = 2 };

struct usage_row {
	const char *name;  /* of a figure of the history */
	const char *asked; /* of the one that says how much was asked for; NULL: none does */
	const char *label;
	enum unit unit;
	double step; /* what to ask for is a multiple of it; 0: it is not asked for */
};

struct usage_figure {
	const struct usage_row *row;
	uint32_t n; /* runs that have it; 0: the others are NAN */
	double p50, p90, p95, max, next;
	double asked; /* half of those that know it asked for so much at most */
};

/* Time of cores, or of GPUs, over the runs that know what they asked for and what they used. */
struct usage_total {
	const char *name, *label; /* "core_hours", "core hours" */
	uint32_t n;
	double asked_h, used_h;
};

struct usage_group {
	const char *name, *of; /* borrowed from the history; of: the array's name, or NULL */
	uint32_t runs, failed;
	struct usage_figure figure[USAGE_FIGURES];
	struct usage_total total[USAGE_TOTALS];
};

struct usage {
	struct usage_group *group; /* most runs first */
	uint32_t n;
};

/* Runs that have ended, in groups; those without what makes a group are left out. percentile and
 * margin of 1. The history is borrowed. 0 or -ENOMEM; free in either case. */
int usage_make(struct usage *u, const struct history *h, enum usage_by by, double percentile,
	       double margin);
void usage_free(struct usage *u);

const char *usage_by_name(enum usage_by by);

/* Of n > 0 values, which it sorts. */
double usage_percentile(double *v, uint32_t n, double p);

#endif
