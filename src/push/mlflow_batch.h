/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mlflow_batch.h - points and tags as bodies of runs/log-batch, each within the server's limits.
 */
#ifndef SONDE_PUSH_MLFLOW_BATCH_H
#define SONDE_PUSH_MLFLOW_BATCH_H

#include "base/text/json.h"
#include "push/mlflow_points.h"

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

#endif
