/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps_grid.h - what a node's samples say of the job at equal distances in time: that in which
 * steps are looked for, and that by which they differ (step_measures).
 *
 * {0} is empty and safe to free.
 */
#ifndef SONDE_REPORT_SUMMARY_STEPS_GRID_H
#define SONDE_REPORT_SUMMARY_STEPS_GRID_H

#include "report/summary/steps.h"

struct step_grid {
	double from_s, width_s;
	uint32_t n;
	double *value[STEP_MEASURES]; /* means; NAN: not known */
	double *weight;               /* [STEP_MEASURES * n] seconds that they are of */
};

/* n 0: there are too few samples. 0 or -errno with a sentence. Free in either case. */
int step_grid_make(struct step_grid *g, struct run *r, uint32_t node, struct err *e);
void step_grid_free(struct step_grid *g);
/* The mean of a measure over a time; NAN: not known. */
double step_grid_mean(const struct step_grid *g, uint32_t measure, double from_s, double to_s);

#endif
