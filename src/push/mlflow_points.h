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

#include "base/text/json.h"
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

/* Points and tags as bodies of runs/log-batch, each within the server's limits. */

enum {
	BATCH_ITEMS = 1000,
	BATCH_TAGS = 100,
	BATCH_BYTES = 900000, /* of 1,000,000 */
	TAG_VALUE_SIZE = 1001 /* with its NUL; MLflow's limit is 5,000 and more */
};

struct batch_tag {
	char key[251], value[TAG_VALUE_SIZE];
};

struct mlflow_batch {
	const char *run_id;
	const struct batch_tag *tags; /* of the whole push: the first batches take them */
	uint32_t ntags, tags_given;
	struct bytes body;
	struct json json;
	uint32_t items, metrics;
};

/* Room for one more metric? */
bool mlflow_batch_full(const struct mlflow_batch *b);
void mlflow_batch_point(struct mlflow_batch *b, const struct point *p);
/* Complete the body. False when there is nothing in it. */
bool mlflow_batch_close(struct mlflow_batch *b);
/* Begin the next. */
void mlflow_batch_reset(struct mlflow_batch *b);

/* The machines of a run as tags, by which a tracker's runs can be searched and compared.
 *
 * A tag has the different values of all nodes, in the order of the nodes; what no node states has
 * none. */

enum { PLATFORM_TAGS = 8 };

/* Of a fact of a machine, "host.cpu_model"; NULL: it has none. */
const char *mlflow_platform_tag(const char *metadata);
/* At most PLATFORM_TAGS from tags[*n] on. 0 or -ENOMEM. */
int mlflow_platform_tags(const struct run *r, struct batch_tag *tags, uint32_t *n);

#endif
