/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mlflow.c - a job as a run of MLflow: its REST interface, version 2.0.
 *
 * The run is that of MLFLOW_RUN_ID, or one made for the job. Batches are the same whenever they are
 * made of the same recording, so that the journal needs only their number; the one that was on its
 * way when a push was killed is sent again, and the server keeps one of two equal values.
 */
#include "base/clock.h"
#include "base/entropy.h"
#include "base/json_read.h"
#include "base/number.h"
#include "push/journal.h"
#include "push/mlflow_batch.h"
#include "push/mlflow_files.h"
#include "push/mlflow_part.h"
#include "push/mlflow_platform.h"
#include "push/push.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API "/api/2.0/mlflow/"

enum { TIMEOUT_S = 120, MESSAGE = 200, TAGS_MAX = 4096, TARGET = 2048 };

/* ---- asking ---- */

static void prepare(const struct mlflow *m, struct http_request *q)
{
	const struct address *a = &m->server;
	const char *(*variable)(const char *) = m->job->variable;
	const char *user = variable("MLFLOW_TRACKING_USERNAME");
	const char *insecure = variable("MLFLOW_TRACKING_INSECURE_TLS");

	q->token = variable("MLFLOW_TRACKING_TOKEN");
	q->user = user ? user : a->user[0] ? a->user : NULL;
	q->password = user ? variable("MLFLOW_TRACKING_PASSWORD") : a->password;
	q->authorities = variable("MLFLOW_TRACKING_SERVER_CERT_PATH");
	q->certificate = variable("MLFLOW_TRACKING_CLIENT_CERT_PATH");
	q->insecure = insecure && (!strcmp(insecure, "true") || !strcmp(insecure, "1"));
	q->timeout_s = m->timeout_s;
}

/* What the server says why not. */
static int refusal(const struct mlflow *m, const struct http_answer *a, struct err *e)
{
	char message[MESSAGE * 4] = "";
	int code = a->status == 401 || a->status == 403 ? -EACCES
		   : a->status == 404                   ? -ENOENT
							: -EPROTO;

	if (a->status >= 300 && a->status < 400)
		return err_set(e, code,
			       "%.200s answers that it is elsewhere (status %u); Sonde does not "
			       "follow, give the address itself",
			       m->server.shown, a->status);
	if (code == -EACCES)
		return err_set(e, code,
			       "%.200s does not let us in (status %u); MLFLOW_TRACKING_TOKEN, or "
			       "MLFLOW_TRACKING_USERNAME and _PASSWORD, say who we are",
			       m->server.shown, a->status);
	json_read_text(a->text, a->length, "message", message, sizeof message);
	return err_set(e, code, "%.200s refuses with status %u%s%.*s", m->server.shown, a->status,
		       message[0] ? ": " : "", MESSAGE, message);
}

int mlflow_send(struct mlflow *m, struct http_request *q, const struct http_body *body,
		struct http_answer *a, struct err *e)
{
	prepare(m, q);
	return http_ask_patiently(&m->http, q, body, a, e);
}

/* Its answer is m->answer until the next call. */
static int call(struct mlflow *m, const char *what, const struct bytes *body, struct err *e)
{
	char url[ADDRESS_MAX + 2048];
	struct http_request q = { .method = body ? "POST" : "GET",
				  .url = url,
				  .content_type = body ? "application/json" : NULL,
				  .once = !strcmp(what, "runs/create") };
	const struct http_body b = { body ? body->data : NULL, -1, body ? body->len : 0 };
	int rc;

	snprintf(url, sizeof url, "%s" API "%s", m->server.url, what);
	if (body && body->failed)
		return err_set(e, -ENOMEM, "out of memory");
	rc = mlflow_send(m, &q, body ? &b : NULL, &m->answer, e);
	if (!rc && m->answer.status != 200)
		rc = refusal(m, &m->answer, e);
	return rc;
}

static bool said(const struct mlflow *m, const char *path, char *out, size_t size)
{
	return json_read_text(m->answer.text, m->answer.length, path, out, size);
}

static int no_mlflow(const struct mlflow *m, const char *missing, struct err *e)
{
	return err_set(e, -EPROTO, "%.200s is no MLflow server: its answer has no %s",
		       m->server.shown, missing);
}

/* ---- the run ---- */

/* -ENOENT: there is none of that name. */
static int ask_experiment(struct mlflow *m, const char *name, struct err *e)
{
	struct bytes escaped = { 0 };
	int rc;

	bytes_puts(&escaped, "experiments/get-by-name?experiment_name=");
	for (const unsigned char *c = (const unsigned char *)name; *c && escaped.len < 1600; c++)
		bytes_printf(&escaped, "%%%02X", *c);
	bytes_u8(&escaped, 0);
	rc = escaped.failed ? err_set(e, -ENOMEM, "out of memory")
			    : call(m, (char *)escaped.data, NULL, e);
	if (!rc && !said(m, "experiment.experiment_id", m->experiment, sizeof m->experiment))
		rc = no_mlflow(m, "experiment.experiment_id", e);
	bytes_free(&escaped);
	return rc;
}

/* Another push may make it at the same moment: this one is then refused. */
static int create_experiment(struct mlflow *m, const char *name, struct err *e)
{
	struct bytes body = { 0 };
	struct json j = { .out = &body };
	struct err ignored;
	int rc;

	json_object(&j);
	json_put_text(&j, "name", name);
	json_object_end(&j);
	rc = call(m, "experiments/create", &body, e);
	bytes_free(&body);
	if (!rc && !said(m, "experiment_id", m->experiment, sizeof m->experiment))
		return no_mlflow(m, "experiment_id", e);
	return rc && !ask_experiment(m, name, &ignored) ? 0 : rc;
}

/* Of a name: one that is not there yet is made. */
static int find_experiment(struct mlflow *m, struct err *e)
{
	const char *id = m->job->variable("MLFLOW_EXPERIMENT_ID");
	const char *name = m->job->variable("MLFLOW_EXPERIMENT_NAME");
	int rc;

	snprintf(m->experiment, sizeof m->experiment, "%s", id ? id : "0");
	if (id || !name)
		return 0;
	rc = ask_experiment(m, name, e);
	return rc == -ENOENT ? create_experiment(m, name, e) : rc;
}

/* What the server may have made, and could not tell. */
static int find_made(struct mlflow *m, const char *mark, struct err *e)
{
	struct bytes body = { 0 };
	struct json j = { .out = &body };
	char filter[128];
	int rc;

	snprintf(filter, sizeof filter, "tags.`sonde.push` = '%s'", mark);
	json_object(&j);
	json_key(&j, "experiment_ids");
	json_array(&j);
	json_text(&j, m->experiment);
	json_array_end(&j);
	json_put_text(&j, "filter", filter);
	json_key(&j, "max_results");
	json_int(&j, 1);
	json_object_end(&j);
	rc = call(m, "runs/search", &body, e);
	if (!rc && !said(m, "runs.info.run_id", m->run_id, sizeof m->run_id))
		rc = -ENOENT;
	if (!rc)
		said(m, "runs.info.artifact_uri", m->artifacts, sizeof m->artifacts);
	bytes_free(&body);
	return rc;
}

static int make_once(struct mlflow *m, const char *mark, struct err *e)
{
	const char *name = m->job->variable("MLFLOW_RUN_NAME");
	struct bytes body = { 0 };
	struct json j = { .out = &body };
	int rc;

	json_object(&j);
	json_put_text(&j, "experiment_id", m->experiment);
	json_put_text(&j, "run_name", name ? name : m->name);
	json_key(&j, "start_time");
	json_int(&j, m->job->run->t0_utc_ns / NS_PER_MS);
	json_key(&j, "tags");
	json_array(&j);
	json_object(&j);
	json_put_text(&j, "key", "sonde.push");
	json_put_text(&j, "value", mark);
	json_object_end(&j);
	json_array_end(&j);
	json_object_end(&j);
	rc = call(m, "runs/create", &body, e);
	if (!rc && !said(m, "run.info.run_id", m->run_id, sizeof m->run_id))
		rc = no_mlflow(m, "run.info.run_id", e);
	if (!rc)
		said(m, "run.info.artifact_uri", m->artifacts, sizeof m->artifacts);
	bytes_free(&body);
	return rc;
}

/* A run is made once even when its answer is lost: it is marked, and looked for first when one may
 * have been made. Repetitions within runs/create do the same. */
static int make_run(struct mlflow *m, struct err *e)
{
	int64_t patience_ns = m->http.patience_ns, until = clock_mono_ns() + patience_ns;
	char mark[33] = "";
	uint8_t random[16];
	bool maybe = journal_find(&m->journal, "making", mark, sizeof mark);
	int rc = find_experiment(m, e);

	if (rc)
		return rc;
	if (!maybe) {
		if (!entropy_fill(random, sizeof random))
			return err_set(e, -EIO, "the system gives no random numbers");
		for (size_t i = 0; i < sizeof random; i++)
			snprintf(mark + 2 * i, 3, "%02x", random[i]);
		rc = journal_add(&m->journal, "making", mark, e);
	}
	for (unsigned times = 0; !rc; times++) {
		int found = maybe ? find_made(m, mark, e) : -ENOENT;

		if (found != -ENOENT || m->run_id[0])
			return found;
		m->http.patience_ns = 0; /* once: see above */
		m->http.once_ns = until - clock_mono_ns();
		rc = make_once(m, mark, e);
		m->http.patience_ns = patience_ns;
		if (!rc)
			return 0;
		maybe = true;
		if ((rc == -EHOSTUNREACH || rc == -EAGAIN) && http_pause(times, 0, until))
			rc = 0;
	}
	return rc;
}

/* It goes into a URL and into a line of the journal. */
static bool is_run_id(const char *id)
{
	return *id && !id[strspn(id, "0123456789abcdefghijklmnopqrstuvwxyz"
				     "ABCDEFGHIJKLMNOPQRSTUVWXYZ_-")];
}

static int attach(struct mlflow *m, const char *run_id, struct err *e)
{
	char what[256];
	int rc;

	if (strlen(run_id) >= sizeof m->run_id || !is_run_id(run_id))
		return err_set(e, -EINVAL, "MLFLOW_RUN_ID is not the id of a run");
	snprintf(m->run_id, sizeof m->run_id, "%s", run_id);
	snprintf(what, sizeof what, "runs/get?run_id=%s", run_id);
	rc = call(m, what, NULL, e);
	if (!rc && !said(m, "run.info.artifact_uri", m->artifacts, sizeof m->artifacts))
		rc = no_mlflow(m, "run.info.artifact_uri", e);
	return rc;
}

static int find_run(struct mlflow *m, struct err *e)
{
	const char *run_id = m->job->variable("MLFLOW_RUN_ID");
	int rc;

	if (journal_find(&m->journal, "run", m->run_id, sizeof m->run_id)) {
		journal_find(&m->journal, "artifacts", m->artifacts, sizeof m->artifacts);
		return 0;
	}
	rc = run_id ? attach(m, run_id, e) : make_run(m, e);
	if (!rc && !is_run_id(m->run_id))
		rc = no_mlflow(m, "run_id", e);
	if (!rc && strchr(m->artifacts, '\n'))
		m->artifacts[0] = '\0';
	if (!rc && m->artifacts[0])
		rc = journal_add(&m->journal, "artifacts", m->artifacts, e);
	return rc ? rc : journal_add(&m->journal, "run", m->run_id, e);
}

/* ---- values ---- */

static int send_batch(struct mlflow *m, struct err *e)
{
	int rc = 0;

	if (!mlflow_batch_close(&m->batch))
		return 0;
	if (m->nbatches++ >= m->sent) {
		rc = call(m, "runs/log-batch", &m->batch.body, e);
		if (!rc)
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
	struct batch_tag *tags;
	uint32_t n = 0;
	int rc;

	tags = make_tags(m, s, &n);
	if (!tags)
		return err_set(e, -ENOMEM, "out of memory for %u tags", m->tracking.n);
	m->batch = (struct mlflow_batch){ .run_id = m->run_id, .tags = tags, .ntags = n };
	m->sent = journal_number(&m->journal, "batches");
	rc = mlflow_points(m->job->run, &m->tracking,
			   m->job->variable("MLFLOW_SYSTEM_METRICS_NODE_ID"), take_point, m, e);
	while (!rc && (m->batch.body.len || m->batch.tags_given < n))
		rc = send_batch(m, e);
	bytes_free(&m->batch.body);
	free(tags);
	return rc;
}

/* A run of our own ends as the job did; one we were given is its owner's to end. */
static int end_run(struct mlflow *m, const struct summary *s, struct err *e)
{
	struct bytes body = { 0 };
	struct json j = { .out = &body };
	int64_t end_ms = m->job->run->t0_utc_ns / NS_PER_MS;
	int rc;

	if (m->job->variable("MLFLOW_RUN_ID") || journal_has(&m->journal, "run-ended", "yes"))
		return 0;
	if (!isnan(s->wall_s))
		end_ms += llround(s->wall_s * 1e3);
	json_object(&j);
	json_put_text(&j, "run_id", m->run_id);
	json_put_text(&j, "status",
		      s->signal > 0 || !s->complete ? "KILLED"
		      : s->exit_code > 0            ? "FAILED"
						    : "FINISHED");
	json_key(&j, "end_time");
	json_int(&j, end_ms);
	json_object_end(&j);
	rc = call(m, "runs/update", &body, e);
	bytes_free(&body);
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
	const char *uri = m->job->url ? m->job->url : variable("MLFLOW_TRACKING_URI");
	const char *run = variable("MLFLOW_RUN_ID"), *name = variable("MLFLOW_EXPERIMENT_NAME");
	const char *experiment = variable("MLFLOW_EXPERIMENT_ID");
	const char *timeout = variable("MLFLOW_HTTP_REQUEST_TIMEOUT");
	const struct run_meta *id = run_find_meta(m->job->run, 0, "job.id");
	const char *path = m->job->run->path, *slash = strrchr(path, '/');
	uint64_t seconds;
	int rc;

	if (!uri)
		return err_set(e, -EINVAL,
			       "where is the MLflow server? MLFLOW_TRACKING_URI or --url says it");
	rc = address_parse(&m->server, uri, m->job->url ? "--url" : "MLFLOW_TRACKING_URI", e);
	if (rc)
		return rc;
	m->timeout_s = timeout && number_u64(&timeout, &seconds) && seconds && seconds < 86400
			       ? (uint32_t)seconds
			       : TIMEOUT_S;
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
	snprintf(m->result->where, sizeof m->result->where, "%.400s", m->server.shown);
	return 0;
}

static int work(struct mlflow *m, const struct summary *s, struct err *e)
{
	int rc = check_same(m, e);

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

	if (!rc && push_is_running(job->run, clock_utc_ns()))
		rc = err_set(e, -EBUSY,
			     "%.200s is still being recorded; MLflow gets a job when it has ended",
			     job->run->path);
	if (!rc)
		rc = journal_open(&m.journal, job->state, "mlflow", target, e);
	if (!rc)
		rc = http_open(&m.http, &m.server, job->patience_ns, e);
	if (!rc)
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
	.exec = mlflow_exec,
};
