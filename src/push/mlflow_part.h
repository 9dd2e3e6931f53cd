/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mlflow_part.h - what the parts of a push to MLflow share. Private to push/mlflow*.c.
 */
#ifndef SONDE_PUSH_MLFLOW_PART_H
#define SONDE_PUSH_MLFLOW_PART_H

#include "push/http.h"
#include "push/journal.h"
#include "push/mlflow_batch.h"
#include "push/push.h"

struct mlflow {
	const struct push_job *job;
	struct push_result *result;
	struct address server;
	struct http http;
	struct http_answer answer; /* the last one of a call; text NULL: none */
	struct journal journal;
	struct tracking tracking;
	struct mlflow_batch batch;
	uint64_t nbatches, sent; /* made now; arrived already */
	uint32_t timeout_s;
	char experiment[64], run_id[65], artifacts[1024], name[256];
};

/* A request with who we are in it. As http_ask_patiently. */
int mlflow_send(struct mlflow *m, struct http_request *q, const struct http_body *body,
		struct http_answer *a, struct err *e);

#endif
