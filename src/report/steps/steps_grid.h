/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps_grid.h - what a node's samples say of the job at equal distances in time: that in which
 * steps are looked for, and that by which they differ (step_measures).
 *
 * {0} is empty and safe to free.
 */
#ifndef SONDE_REPORT_STEPS_STEPS_GRID_H
#define SONDE_REPORT_STEPS_STEPS_GRID_H

#include "report/steps/steps.h"

/* The first measures: in their samples steps are looked for. */
enum { STEP_SIGNALS = STEP_CALLS + 1 };

struct step_grid {
	double from_s, width_s;
	uint32_t n;
	double *value[STEP_MEASURES]; /* means; NAN: not known */
	double *weight;               /* [STEP_MEASURES * n] the part of the interval known */
	uint32_t *read;               /* [STEP_MEASURES * n] how often it was read in there */
	double rests;                 /* how often the job's threads gave up a CPU; NAN */
	double spacing_s; /* samples are no farther apart in three quarters of the time */
};

/* n 0: there are too few samples. 0 or -errno with a sentence. Free in either case. */
int step_grid_make(struct step_grid *g, struct run *r, uint32_t node, struct err *e);
void step_grid_free(struct step_grid *g);
/* Intervals become as long as samples are apart in most of the time: a value that stood for longer
 * than an interval repeats in several. 1: they became so; 0: they were; -ENOMEM. */
int step_grid_coarsen(struct step_grid *g);
/* How often a measure was read in a time. */
uint32_t step_grid_read(const struct step_grid *g, uint32_t measure, double from_s, double to_s);
/* The mean of a measure over a time; NAN: not known. */
double step_grid_mean(const struct step_grid *g, uint32_t measure, double from_s, double to_s);

/* What the job got and rested until each interval, [n + 1], in cores times intervals. Where one
 * thread wants a core all the time, or all get a quarter of what they want, it never rests. Returns
 * how many cores are next to none. */
double step_grid_work(const struct step_grid *g, double *work);
/* The signals at equal distances in that instead of time: its seconds are those of work. n 0: there
 * was none. 0 or -ENOMEM. */
int step_grid_by_work(struct step_grid *to, const struct step_grid *g, const double *work);
/* When so much of it was done. */
double step_grid_time(const struct step_grid *g, const double *work, double done);

/* Whether what a measure shows is the job's, and not how it was read or scheduled. */
bool steps_are_of_job(const struct steps *x, const struct step_grid *g, uint32_t measure);
/* Sorts them by kind, and measures the plain ones (steps_kinds.c). g may have no intervals. 0 or
 * -ENOMEM. */
int steps_measure(struct steps *x, const struct step_grid *g);
/* Looks for bursts with rests between them (steps_bursts.c): finds some, or leaves x as it is. 0 or
 * -ENOMEM. */
int steps_of_bursts(struct steps *x, const struct step_grid *g);

#endif
