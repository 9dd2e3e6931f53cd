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

#include "core/frame/run.h"
#include "report/summary/tracking.h"

enum { POINTS_OF_A_METRIC = 1000 };

/* Of a recording that grows: the same windows give the same points, whatever has come since. */
struct points_follow {
	double every_s;
	const char *alone; /* the host in whose names is no node, also beside others; NULL: none */
	const double *from_s, *to_s;         /* [nnodes] windows that begin in between */
	const double *own_from_s, *own_to_s; /* [nnodes] of the job's own numbers */
	bool last;                           /* the figures, too, and counters that are sampled */
};

struct point {
	const char *key;
	double value; /* finite */
	int64_t time_ms, step;
};

typedef int (*point_take)(void *ctx, const struct point *p, struct err *e);

struct points_wish {
	const char *node_id; /* what the node of a run that has only one is called; NULL: nothing */
	const struct points_follow *follow; /* NULL: everything */
	point_take take;
	void *ctx;
};

/* 0, -errno, or what take returned when that was not 0. */
int mlflow_points(struct run *r, const struct tracking *t, const struct points_wish *w,
		  struct err *e);

#endif
