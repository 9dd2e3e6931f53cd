/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comparison_page.h - a comparison as one HTML file that needs no network and no script: the
 * verdict, every figure with the values of the runs as points, and the runs of both groups overlaid
 * in time.
 */
#ifndef SONDE_REPORT_COMPARISON_COMPARISON_PAGE_H
#define SONDE_REPORT_COMPARISON_COMPARISON_PAGE_H

#include "report/comparison/comparison.h"
#include "report/comparison/flame.h"

enum { COMPARISON_CHARTS = 6, COMPARISON_POINTS = 160 };

/* One run's values, at most one each of COMPARISON_POINTS equal parts of its time; NAN: none. */
struct comparison_track {
	enum comparison_group group;
	double window_s;
	double value[COMPARISON_CHARTS][COMPARISON_POINTS];
};

struct comparison_page {
	struct comparison_track *track;
	uint32_t n, cap;
	struct flame flame; /* of all runs with stacks */
};

/* Reads the run's series once more; charts leave runs out beyond what can be told apart. 0 or
 * -errno. */
int comparison_page_add(struct comparison_page *p, enum comparison_group group, struct run *r,
			const struct summary *s, struct err *e);
int comparison_page_make(struct bytes *b, const struct comparison_page *p,
			 const struct comparison *x, struct err *e);
void comparison_page_free(struct comparison_page *p);

#endif
