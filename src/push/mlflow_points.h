/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mlflow_points.h - a run as MLflow's metrics: its own system metrics by their names, so that its
 * charts show them, then the trackers' figures (core/tracker.h).
 *
 * The same recording gives the same points in the same order, at most 1,000 of a metric: more
 * samples are means over windows. Keys are clean: letters, digits and _ - . / only.
 */
#ifndef SONDE_PUSH_MLFLOW_POINTS_H
#define SONDE_PUSH_MLFLOW_POINTS_H

#include "core/run.h"
#include "report/tracking.h"

enum { POINTS_OF_A_METRIC = 1000 };

struct point {
	const char *key;
	double value; /* finite */
	int64_t time_ms, step;
};

typedef int (*point_take)(void *ctx, const struct point *p, struct err *e);

/* node_id: what stands for the node of a run that has only one; NULL: nothing. 0, -errno, or what
 * take returned when that was not 0. */
int mlflow_points(struct run *r, const struct tracking *t, const char *node_id, point_take take,
		  void *ctx, struct err *e);

#endif
