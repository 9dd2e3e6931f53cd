/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mlflow.h - what the parts of a push to MLflow share. Private to push/mlflow*.c.
 */
#ifndef SONDE_PUSH_MLFLOW_H
#define SONDE_PUSH_MLFLOW_H

#include "push/http.h"
#include "push/journal.h"
#include "push/mlflow_points.h"
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
	bool counted;            /* batches are the same each time: their number says it all */
	uint32_t timeout_s;
	char experiment[64], run_id[65], artifacts[1024], name[256];
};

/* A run that is to be made. */
struct mlflow_new {
	const char *name;
	const char *mark;   /* by which it is found: hexadecimal digits */
	const char *parent; /* id of another run; NULL: none */
	int64_t start_ms;   /* 0: not known */
};

/* Which server, of --url or the variables. 0 or -EINVAL with a sentence. */
int mlflow_where(struct mlflow *m, struct err *e);
/* what: "runs/create", "runs/get?run_id=..."; body NULL: GET. Its answer is m->answer until the
 * next call. 0, -ENOENT when the server says so, or -errno with a sentence. */
int mlflow_call(struct mlflow *m, const char *what, const struct bytes *body, struct err *e);
/* -EPROTO: that is missing in its answer. */
int mlflow_strange(const struct mlflow *m, const char *missing, struct err *e);
/* It goes into a URL and into a line of the journal. */
bool mlflow_is_run_id(const char *id);
/* Of the variables, into m->experiment; of a name, one that is not there yet is made. */
int mlflow_find_experiment(struct mlflow *m, struct err *e);
/* The run with that mark, into run_id and artifacts; -ENOENT: there is none. */
int mlflow_find_marked(struct mlflow *m, const char *mark, struct err *e);
/* The same, and it is made when there is none: once, even when its answer is lost. maybe: it may be
 * there already. m->run_id has to be empty. */
int mlflow_make(struct mlflow *m, const struct mlflow_new *n, bool maybe, struct err *e);
/* The run of MLFLOW_RUN_ID, with its experiment. */
int mlflow_attach(struct mlflow *m, const char *run_id, struct err *e);
/* end_ms 0: it is not known. status: FINISHED, FAILED or KILLED; of the run m->run_id. */
int mlflow_end(struct mlflow *m, const char *status, int64_t end_ms, struct err *e);

/* The artefacts of a run: the report, the samples as JSON, the recording. */

/* Is there any that has not arrived? */
bool mlflow_files_left(const struct mlflow *m);
/* Those that have not arrived. Where the server does not take them itself, result->left_out says
 * so. 0 or -errno. */
int mlflow_files_send(struct mlflow *m, const struct summary *s, struct err *e);

/* One of a run of trials, unless it has arrived; left_out as above. */
int mlflow_file_send(struct mlflow *m, const struct push_file *f, struct err *e);

/* Trials as runs of MLflow: one run of all, and below it one of each trial.
 *
 * Each has a mark that follows from what it is, by which it is found again: from another machine,
 * too, where no journal knows of it. */

/* As the exec_trials of a push. */
int mlflow_trials(const struct push_job *j, const struct push_trials *t, struct push_result *r,
		  struct err *e);

#endif
