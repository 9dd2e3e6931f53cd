/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own.h - a job's own numbers over time: what its programs counted (sonde_counter), and the
 * numbers in its marks' words ("epoch loss=0.31"); and how long it took from one mark of a name to
 * the next.
 *
 * Of each recording by itself. Many values become OWN_POINTS, each the mean of those that follow
 * one another; least, most, first and last are of all. Names are hostile. {0} is empty.
 */
#ifndef SONDE_REPORT_SUMMARY_OWN_H
#define SONDE_REPORT_SUMMARY_OWN_H

#include "base/text/json.h"
#include "core/frame/run.h"
#include "report/phases/traces.h"

#include <stdio.h>

enum { OWN_SERIES = 64, OWN_LAPS = 16, OWN_POINTS = 512, OWN_NAME = 96 };
/* Names that have a chart. */
enum { OWN_CHARTS = 12 };

struct own_series {
	char name[OWN_NAME]; /* "samples_per_second", "epoch loss"; "epoch" of "epoch epoch=3" */
	const char *mark;    /* of whose words it is; NULL: a counter */
	uint32_t node;
	uint64_t n;      /* values; never 0, but of a range */
	uint64_t before; /* values before the range */
	double first, last, least, most;
	double change; /* middle of the later half less that of the earlier; NAN: fewer than 4 */
	double step;   /* from each value to the next; NAN: not always the same whole number */
	double at_s[OWN_POINTS], value[OWN_POINTS];
	uint32_t npoints;
};

struct own_laps {
	const char *mark;
	uint32_t node;
	uint64_t n; /* from one mark to the next; 2 or more */
	double least_s, median_s, most_s;
	double change; /* as above, as a share of the earlier half's; NAN: fewer than 4 */
};

/* Only values at a node's from_s and later, before its to_s. */
struct own_range {
	const double *from_s, *to_s; /* [nnodes] */
};

struct own {
	struct own_series *series; /* of marks, then counters; those that only count last */
	struct own_laps laps[OWN_LAPS];
	uint32_t nseries, nlaps;
	const struct own_range *range; /* NULL: everything */
	bool left_out;                 /* there were more series */
	uint8_t *stream; /* [ninstances] it is a counter with values as they were set; or NULL */
};

/* The counter's metric, whose instances are the counters' names. */
extern const char own_counter[];

/* Of the marks, and of counters whose values are known as they were set: reads no samples. 0 or
 * -ENOMEM; free in either case. */
int own_of_marks(struct own *x, const struct run *r);
/* Add the other counters, of traces that were wished of them by instance. */
void own_add_counters(struct own *x, const struct run *r, const struct traces *t);
/* Both; the run is read when it has counters. 0 or -errno with a sentence. */
int own_make(struct own *x, struct run *r, struct err *e);
/* The same of a range, for who has sent what was before: there are points of its values only.
 * sampled: with the counters of which samples are all there is, without regard to the range. */
int own_make_between(struct own *x, struct run *r, const struct own_range *range, bool sampled,
		     struct err *e);
/* Of how many values a point of a series is the mean. */
uint64_t own_values_a_point(const struct own_series *s);
void own_free(struct own *x);

/* Is it the first of its name? */
bool own_is_first(const struct own *x, uint32_t i);

/* Values of one name at times that are given. */
struct own_values {
	bool one_node; /* of the first series alone */
	bool gaps;     /* NAN from value to value: else a line between them */
	uint32_t n;
	double *at_s;                /* [n], growing: to be filled in; one allocation, here */
	double *mean, *least, *most; /* [n] of those that have one; NAN: none */
	double *count, *one;         /* [n] private */
};

bool own_values_reserve(struct own_values *v, uint32_t n);
/* Of the series of the name of series[first], from that on. How many these are. */
uint32_t own_values_of(const struct own *x, uint32_t first, const struct own_values *to);

/* For a line of the summary; nothing when there is nothing. */
void own_briefly(const struct own *x, struct bytes *out);
/* For a terminal; nothing when there is nothing. */
void own_print(const struct own *x, const struct run *r, FILE *out);
/* Key "own" of the object that is open. */
void own_json(struct json *j, const struct own *x, const struct run *r);

#endif
