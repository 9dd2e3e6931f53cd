/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mlflow_follow.h - the values of a recording that grows: one of each metric for each window of
 * time.
 *
 * The journal knows how many windows of each node have arrived, and how many were on their way: one
 * push after another sends the same values, whenever one was killed.
 */
#ifndef SONDE_PUSH_MLFLOW_FOLLOW_H
#define SONDE_PUSH_MLFLOW_FOLLOW_H

#include "push/mlflow_part.h"

/* Is the run one whose values are sent so? It stays one. */
bool mlflow_is_followed(const struct mlflow *m);
/* What has come since; last: all of the rest. send: as point_take, with m; flush: what of the batch
 * is left. 0 or -errno. */
struct mlflow_follow {
	bool last;
	point_take send;
	int (*flush)(struct mlflow *m, struct err *e);
};
int mlflow_follow(struct mlflow *m, const struct mlflow_follow *f, struct err *e);

#endif
