/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mlflow.c - a job as a run of MLflow: its REST interface, version 2.0.
 *
 * The run is that of MLFLOW_RUN_ID, or one made for the job. Batches are the same whenever they are
 * made of the same recording, so that the journal needs only their number; the one that was on its
 * way when a push was killed is sent again, and the server keeps one of two equal values.
 */
#include "push/mlflow.h"

#include "base/clock.h"
#include "base/random.h"
#include "base/text/jsondoc.h"
#include "base/text/number.h"
#include "push/journal.h"
#include "push/mlflow_points.h"
#include "push/push.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAGS_MAX = 4096, TARGET = 2048 };

/* ---- the run ---- */

/* A run is made once even when its answer is lost: it is marked, and looked for first when one may
 * have been made. */
static int make_run(struct mlflow *m, struct err *e)
{
	const char *name = m->job->variable("MLFLOW_RUN_NAME");
	char mark[33] = "";
	const struct mlflow_new n = { .name = name ? name : m->name,
				      .mark = mark,
				      .start_ms = m->job->run->t0_utc_ns / NS_PER_MS };
	uint8_t random[16];
	bool maybe = journal_find(&m->journal, "making", mark, sizeof mark);
	int rc = mlflow_find_experiment(m, e);

	if (rc)
		return rc;
	if (!maybe) {
		if (!entropy_fill(random, sizeof random))
			return err_set(e, -EIO, "the system gives no random numbers");
		for (size_t i = 0; i < sizeof random; i++)
			snprintf(mark + 2 * i, 3, "%02x", random[i]);
		rc = journal_add(&m->journal, "making", mark, e);
	}
	return rc ? rc : mlflow_make(m, &n, maybe, e);
}

static int find_run(struct mlflow *m, struct err *e)
{
	const char *run_id = m->job->variable("MLFLOW_RUN_ID");
	int rc;

	if (journal_find(&m->journal, "run", m->run_id, sizeof m->run_id)) {
		journal_find(&m->journal, "artifacts", m->artifacts, sizeof m->artifacts);
		return 0;
	}
	rc = run_id ? mlflow_attach(m, run_id, e) : make_run(m, e);
	if (!rc && !mlflow_is_run_id(m->run_id))
		rc = mlflow_strange(m, "run_id", e);
	if (!rc && strchr(m->artifacts, '\n'))
		m->artifacts[0] = '\0';
	if (!rc && m->artifacts[0])
		rc = journal_add(&m->journal, "artifacts", m->artifacts, e);
	return rc ? rc : journal_add(&m->journal, "run", m->run_id, e);
}

/* ---- values ---- */

/* Does more come? */
static bool is_following(const struct mlflow *m)
{
	return m->job->every_ns && !m->job->last;
}

static int send_batch(struct mlflow *m, struct err *e)
{
	int rc = 0;

	if (!mlflow_batch_close(&m->batch))
		return 0;
	if (!m->counted || m->nbatches++ >= m->sent) {
		rc = mlflow_call(m, "runs/log-batch", &m->batch.body, e);
		if (!rc && m->counted)
			rc = journal_add_number(&m->journal, "batches", m->nbatches, e);
		if (!rc)
			m->result->values += m->batch.metrics;
	}
	mlflow_batch_reset(&m->batch);
	return rc;
}

static int take_point(void *ctx, const struct point *p, struct err *e)
{
	struct mlflow *m = ctx;

	mlflow_batch_point(&m->batch, p);
	return mlflow_batch_full(&m->batch) ? send_batch(m, e) : 0;
}

static int flush(struct mlflow *m, struct err *e)
{
	int rc = 0;

	while (!rc && (m->batch.body.len || m->batch.tags_given < m->batch.ntags))
		rc = send_batch(m, e);
	return rc;
}

/* The values of a recording that grows: one of each metric for each window of time.
 *
 * The journal knows how many windows of each node have arrived, and how many were on their way:
 * one push after another sends the same values, whenever one was killed. */

/* In the journal: the length of a window, in ns, and the host that was alone at first ("-": there
 * were several). */
#define EVERY "follow"
#define ALONE "alone"
#define SENT  "windows"
#define GOING "sending"

enum { HOST = 300 };

/* Of each node; windows from 0 on. */
struct reach {
	uint64_t *sent, *going;
	double *from_s, *to_s, *own_from_s, *own_to_s;
	void *memory;
};

static int reserve(struct reach *x, uint32_t nnodes)
{
	size_t n = nnodes + 1u;
	double *d = calloc(6 * n, sizeof *d);

	_Static_assert(sizeof(double) == sizeof(uint64_t), "one allocation has room for both");
	if (!d)
		return -ENOMEM;
	*x = (struct reach){ .memory = d,
			     .from_s = d,
			     .to_s = d + n,
			     .own_from_s = d + 2 * n,
			     .own_to_s = d + 3 * n,
			     .sent = (uint64_t *)(d + 4 * n),
			     .going = (uint64_t *)(d + 5 * n) };
	return 0;
}

/* Is the run one whose values are sent so? It stays one. */
static bool is_followed(const struct mlflow *m)
{
	return journal_number(&m->journal, EVERY) > 0;
}

/* How long windows are, and whose names have no node: as it was at first. */
static int follow_begin(struct mlflow *m, double *every_s, char alone[HOST], struct err *e)
{
	int rc = 0;

	if (!is_followed(m)) {
		const char *host = m->tracking.n == 1 ? m->tracking.host[0].name : NULL;

		rc = journal_add(&m->journal, ALONE, host && !strchr(host, '\n') ? host : "-", e);
		if (!rc)
			rc = journal_add_number(&m->journal, EVERY, (uint64_t)m->job->every_ns, e);
	}
	*every_s = (double)journal_number(&m->journal, EVERY) / NS_PER_S;
	if (!journal_find(&m->journal, ALONE, alone, HOST))
		*alone = '\0';
	return rc;
}

/* Windows that are over. */
static uint64_t complete(const struct run *r, uint32_t node, double every_s)
{
	double last_s = run_seconds(r, node, r->nodes[node].last_ns);

	return r->nodes[node].rows && last_s > 0 ? (uint64_t)floor(last_s / every_s) : 0;
}

/* A node's values from..to; of its own numbers, which come a moment later than samples, a window
 * less. to 0: all that there are. */
static void set(struct reach *x, uint32_t node, uint64_t to, double every_s)
{
	uint64_t from = x->sent[node];

	x->from_s[node] = from ? (double)from * every_s : -INFINITY;
	x->own_from_s[node] = from ? (double)(from - 1) * every_s : -INFINITY;
	x->to_s[node] = to ? (double)to * every_s : INFINITY;
	x->own_to_s[node] = to ? (double)(to - 1) * every_s : INFINITY;
}

/* What was on its way when a push was killed goes first, and as it was. *any: there is something to
 * send. *again: and more behind that. */
static void plan(struct reach *x, const struct mlflow *m, double every_s, bool last, bool *any,
		 bool *again)
{
	const struct run *r = m->job->run;
	char key[PUSH_KEY];

	*again = *any = false;
	for (uint32_t i = 1; i < r->nnodes; i++)
		*again |= journal_number(&m->journal, push_node_key(r, i, GOING, key)) >
			  journal_number(&m->journal, push_node_key(r, i, SENT, key));
	for (uint32_t i = 1; i < r->nnodes; i++) {
		x->sent[i] = journal_number(&m->journal, push_node_key(r, i, SENT, key));
		x->going[i] = journal_number(&m->journal, push_node_key(r, i, GOING, key));
		if (x->going[i] <= x->sent[i])
			x->going[i] = *again ? x->sent[i] : complete(r, i, every_s);
		if (x->going[i] < x->sent[i])
			x->going[i] = x->sent[i];
		*any |= x->going[i] > x->sent[i];
		set(x, i, x->going[i], every_s);
		if (last && !*again)
			set(x, i, 0, every_s);
		else if (!x->going[i])
			x->own_to_s[i] = x->to_s[i] = -INFINITY;
	}
	*any |= last;
}

static int note(struct mlflow *m, const struct reach *x, const char *word, struct err *e)
{
	const struct run *r = m->job->run;
	char key[PUSH_KEY];
	int rc = 0;

	for (uint32_t i = 1; i < r->nnodes && !rc; i++)
		if (x->going[i] > x->sent[i])
			rc = journal_set_number(&m->journal, push_node_key(r, i, word, key),
						x->going[i], e);
	return rc;
}

static int pass(struct mlflow *m, bool last, struct reach *x, struct points_follow *p, bool *again,
		struct err *e)
{
	const struct points_wish wish = { .node_id =
						  m->job->variable("MLFLOW_SYSTEM_METRICS_NODE_ID"),
					  .follow = p,
					  .take = take_point,
					  .ctx = m };
	bool any;
	int rc;

	plan(x, m, p->every_s, last, &any, again);
	p->last = last && !*again;
	if (!any)
		return 0;
	rc = p->last ? 0 : note(m, x, GOING, e);
	if (!rc)
		rc = mlflow_points(m->job->run, &m->tracking, &wish, e);
	if (!rc)
		rc = flush(m, e);
	return rc || p->last ? rc : note(m, x, SENT, e);
}

/* What has come since; last: all of the rest. 0 or -errno. */
static int follow(struct mlflow *m, bool last, struct err *e)
{
	struct reach x = { 0 };
	struct points_follow p = { 0 };
	char alone[HOST];
	bool again = true;
	int rc = follow_begin(m, &p.every_s, alone, e);

	p.alone = alone;
	if (!rc && reserve(&x, m->job->run->nnodes))
		rc = err_set(e, -ENOMEM, "out of memory for %u nodes", m->job->run->nnodes);
	p.from_s = x.from_s;
	p.to_s = x.to_s;
	p.own_from_s = x.own_from_s;
	p.own_to_s = x.own_to_s;
	while (x.memory && !rc && again)
		rc = pass(m, last, &x, &p, &again, e);
	free(x.memory);
	return rc;
}

static void add_tag(struct batch_tag *tags, uint32_t *n, const char *key, const char *value)
{
	if (!value || !*value || *n >= TAGS_MAX)
		return;
	snprintf(tags[*n].key, sizeof tags[*n].key, "%s", key);
	snprintf(tags[(*n)++].value, TAG_VALUE_SIZE, "%s", value);
}

static struct batch_tag *make_tags(const struct mlflow *m, const struct summary *s, uint32_t *n)
{
	struct batch_tag *tags = calloc(m->tracking.n + 8u + PLATFORM_TAGS, sizeof *tags);
	const struct run_meta *from = run_find_meta(m->job->run, 0, "import.from");
	char key[64], text[64];

	if (!tags)
		return NULL;
	snprintf(text, sizeof text, "%u", m->tracking.n);
	add_tag(tags, n, "sonde.version", SONDE_VERSION);
	add_tag(tags, n, "sonde.command", s->command);
	add_tag(tags, n, "sonde.job_id", s->job_id);
	add_tag(tags, n, "sonde.imported", from && from->type == META_TEXT ? from->text : NULL);
	add_tag(tags, n, "sonde.nodes", text);
	add_tag(tags, n, "sonde.peak_memory_kind", s->peak_memory_kind);
	if (mlflow_platform_tags(m->job->run, tags, n)) {
		free(tags);
		return NULL;
	}
	for (uint32_t i = 0; i < m->tracking.n; i++) {
		snprintf(key, sizeof key, "sonde.host.%u", m->tracking.host[i].step);
		add_tag(tags, n, key, m->tracking.host[i].name);
	}
	return tags;
}

static int send_values(struct mlflow *m, const struct summary *s, struct err *e)
{
	const struct points_wish all = { .node_id =
						 m->job->variable("MLFLOW_SYSTEM_METRICS_NODE_ID"),
					 .take = take_point,
					 .ctx = m };
	struct batch_tag *tags;
	uint32_t n = 0;
	int rc;

	tags = make_tags(m, s, &n);
	if (!tags)
		return err_set(e, -ENOMEM, "out of memory for %u tags", m->tracking.n);
	m->batch = (struct mlflow_batch){ .run_id = m->run_id, .tags = tags, .ntags = n };
	m->sent = journal_number(&m->journal, "batches");
	m->counted = !is_following(m) && !is_followed(m);
	if (m->counted) {
		rc = mlflow_points(m->job->run, &m->tracking, &all, e);
	} else {
		if (is_following(m) && is_followed(m))
			m->batch.ntags =
				0; /* they came with the first values, and come with the last */
		rc = follow(m, !is_following(m), e);
	}
	if (!rc)
		rc = flush(m, e);
	bytes_free(&m->batch.body);
	free(tags);
	return rc;
}

/* A run of our own ends as the job did; one we were given is its owner's to end. */
static int end_run(struct mlflow *m, const struct summary *s, struct err *e)
{
	int64_t end_ms = m->job->run->t0_utc_ns / NS_PER_MS;
	int rc;

	if (m->job->variable("MLFLOW_RUN_ID") || journal_has(&m->journal, "run-ended", "yes"))
		return 0;
	if (!isnan(s->wall_s))
		end_ms += llround(s->wall_s * 1e3);
	rc = mlflow_end(m,
			s->signal > 0 || !s->complete ? "KILLED"
			: s->exit_code > 0            ? "FAILED"
						      : "FINISHED",
			end_ms, e);
	return rc ? rc : journal_add(&m->journal, "run-ended", "yes", e);
}

/* ---- the push ---- */

/* What the batches are made of: it must not change while they are on their way. */
static int check_same(struct mlflow *m, struct err *e)
{
	const struct run *r = m->job->run;
	char now[256], before[256];
	uint64_t rows = 0;

	for (uint32_t i = 1; i < r->nnodes; i++)
		rows += r->nodes[i].rows;
	snprintf(now, sizeof now, "%s %u %" PRIu64 " %s", SONDE_VERSION, r->nnodes - 1, rows,
		 m->job->variable("MLFLOW_SYSTEM_METRICS_NODE_ID") ? "named" : "plain");
	if (!journal_find(&m->journal, "recording", before, sizeof before))
		return journal_add(&m->journal, "recording", now, e);
	if (!strcmp(now, before))
		return 0;
	return err_set(
		e, -ESTALE,
		"the recording, or Sonde, has changed since it was pushed to this run; remove "
		"%.200s to push it to a new one",
		m->journal.path);
}

static int understand(struct mlflow *m, char target[TARGET], struct err *e)
{
	const char *(*variable)(const char *) = m->job->variable;
	const char *run = variable("MLFLOW_RUN_ID"), *name = variable("MLFLOW_EXPERIMENT_NAME");
	const char *experiment = variable("MLFLOW_EXPERIMENT_ID");
	const struct run_meta *id = run_find_meta(m->job->run, 0, "job.id");
	const char *path = m->job->run->path, *slash = strrchr(path, '/');
	int rc = mlflow_where(m, e);

	if (rc)
		return rc;
	snprintf(m->name, sizeof m->name, "%.200s",
		 id && id->type == META_TEXT && id->text ? id->text
		 : slash && slash[1]                     ? slash + 1
							 : path);
	if (run)
		snprintf(target, TARGET, "%s run %.500s", m->server.shown, run);
	else
		snprintf(target, TARGET, "%s experiment %.500s", m->server.shown,
			 experiment ? experiment
			 : name     ? name
				    : "");
	return 0;
}

static int work(struct mlflow *m, const struct summary *s, struct err *e)
{
	char before[256];
	bool more = is_following(m);
	int rc = more && !journal_find(&m->journal, "recording", before, sizeof before)
			 ? 0
			 : check_same(m, e);

	if (!rc)
		rc = find_run(m, e);
	if (rc)
		return rc;
	m->result->kept = true;
	snprintf(m->result->where, sizeof m->result->where, "run %.64s at %.400s", m->run_id,
		 m->server.shown);
	if (journal_has(&m->journal, "all", "yes") &&
	    (m->job->artifacts == PUSH_NO_ARTIFACTS || !mlflow_files_left(m))) {
		m->result->nothing_new = true;
		return 0;
	}
	rc = send_values(m, s, e);
	if (rc || more)
		return rc;
	if (!rc)
		rc = mlflow_files_send(m, s, e);
	if (!rc)
		rc = end_run(m, s, e);
	return rc ? rc : journal_add(&m->journal, "all", "yes", e);
}

static int mlflow_exec(const struct push_job *job, struct push_result *r, struct err *e)
{
	struct mlflow m = { .job = job, .result = r, .journal.fd = -1 };
	struct summary s = { 0 };
	char target[TARGET];
	int rc = understand(&m, target, e);

	if (!rc && !job->every_ns && push_is_running(job->run, clock_utc_ns()))
		rc = err_set(e, -EBUSY,
			     "%.200s is still being recorded; push it when it has ended, or with "
			     "--follow",
			     job->run->path);
	if (!rc)
		rc = journal_open(&m.journal, job->state, "mlflow", target, e);
	if (!rc)
		rc = http_open(&m.http, &m.server, job->patience_ns, e);
	if (!rc && !is_following(&m))
		rc = summary_make_as(
			&s, job->run,
			&(struct summary_wish){ .all = true, .public = !job->with_environment }, e);
	if (!rc)
		rc = tracking_make(&m.tracking, job->run, &s, TRACKING_SAMPLES, e);
	if (!rc)
		rc = work(&m, &s, e);
	r->requests = m.http.requests;
	tracking_free(&m.tracking);
	summary_free(&s);
	http_close(&m.http);
	journal_close(&m.journal);
	return rc;
}

const struct push push_mlflow = {
	.name = "mlflow",
	.what = "a run of an MLflow server: MLFLOW_TRACKING_URI, MLFLOW_RUN_ID and the like",
	.follows = true,
	.exec = mlflow_exec,
	.exec_trials = mlflow_trials,
};
