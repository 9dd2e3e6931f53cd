/* SPDX-License-Identifier: Apache-2.0 */
#include "push/mlflow.h"

#include "base/clock.h"
#include "base/text/json_read.h"
#include "base/text/number.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define API "/api/2.0/mlflow/"

enum { TIMEOUT_S = 120, MESSAGE = 200 };

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
int mlflow_call(struct mlflow *m, const char *what, const struct bytes *body, struct err *e)
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

bool mlflow_said(const struct mlflow *m, const char *path, char *out, size_t size)
{
	return json_read_text(m->answer.text, m->answer.length, path, out, size);
}

int mlflow_strange(const struct mlflow *m, const char *missing, struct err *e)
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
			    : mlflow_call(m, (char *)escaped.data, NULL, e);
	if (!rc && !mlflow_said(m, "experiment.experiment_id", m->experiment, sizeof m->experiment))
		rc = mlflow_strange(m, "experiment.experiment_id", e);
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
	rc = mlflow_call(m, "experiments/create", &body, e);
	bytes_free(&body);
	if (!rc && !mlflow_said(m, "experiment_id", m->experiment, sizeof m->experiment))
		return mlflow_strange(m, "experiment_id", e);
	return rc && !ask_experiment(m, name, &ignored) ? 0 : rc;
}

/* Of a name: one that is not there yet is made. */
int mlflow_find_experiment(struct mlflow *m, struct err *e)
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
int mlflow_find_marked(struct mlflow *m, const char *mark, struct err *e)
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
	rc = mlflow_call(m, "runs/search", &body, e);
	if (!rc && !mlflow_said(m, "runs.info.run_id", m->run_id, sizeof m->run_id))
		rc = -ENOENT;
	if (!rc)
		mlflow_said(m, "runs.info.artifact_uri", m->artifacts, sizeof m->artifacts);
	bytes_free(&body);
	return rc;
}

static void put_tag(struct json *j, const char *key, const char *value)
{
	if (!value)
		return;
	json_object(j);
	json_put_text(j, "key", key);
	json_put_text(j, "value", value);
	json_object_end(j);
}

static int make_once(struct mlflow *m, const struct mlflow_new *n, struct err *e)
{
	struct bytes body = { 0 };
	struct json j = { .out = &body };
	int rc;

	json_object(&j);
	json_put_text(&j, "experiment_id", m->experiment);
	json_put_text(&j, "run_name", n->name);
	if (n->start_ms > 0)
		json_put_int(&j, "start_time", n->start_ms);
	json_key(&j, "tags");
	json_array(&j);
	put_tag(&j, "sonde.push", n->mark);
	put_tag(&j, "mlflow.parentRunId", n->parent);
	json_array_end(&j);
	json_object_end(&j);
	rc = mlflow_call(m, "runs/create", &body, e);
	if (!rc && !mlflow_said(m, "run.info.run_id", m->run_id, sizeof m->run_id))
		rc = mlflow_strange(m, "run.info.run_id", e);
	if (!rc)
		mlflow_said(m, "run.info.artifact_uri", m->artifacts, sizeof m->artifacts);
	bytes_free(&body);
	return rc;
}

int mlflow_make(struct mlflow *m, const struct mlflow_new *n, bool maybe, struct err *e)
{
	int64_t patience_ns = m->http.patience_ns, until = clock_mono_ns() + patience_ns;
	int rc = 0;

	for (unsigned times = 0; !rc; times++) {
		int found = maybe ? mlflow_find_marked(m, n->mark, e) : -ENOENT;

		if (found != -ENOENT || m->run_id[0])
			return found;
		m->http.patience_ns = 0; /* once: what was made is looked for first */
		m->http.once_ns = until - clock_mono_ns();
		rc = make_once(m, n, e);
		m->http.patience_ns = patience_ns;
		if (!rc)
			return 0;
		maybe = true;
		if ((rc == -EHOSTUNREACH || rc == -EAGAIN) && http_pause(times, 0, until))
			rc = 0;
	}
	return rc;
}

int mlflow_end(struct mlflow *m, const char *status, int64_t end_ms, struct err *e)
{
	struct bytes body = { 0 };
	struct json j = { .out = &body };
	int rc;

	json_object(&j);
	json_put_text(&j, "run_id", m->run_id);
	json_put_text(&j, "status", status);
	if (end_ms > 0)
		json_put_int(&j, "end_time", end_ms);
	json_object_end(&j);
	rc = mlflow_call(m, "runs/update", &body, e);
	bytes_free(&body);
	return rc;
}

bool mlflow_is_run_id(const char *id)
{
	return *id && !id[strspn(id, "0123456789abcdefghijklmnopqrstuvwxyz"
				     "ABCDEFGHIJKLMNOPQRSTUVWXYZ_-")];
}

int mlflow_attach(struct mlflow *m, const char *run_id, struct err *e)
{
	char what[256];
	int rc;

	if (strlen(run_id) >= sizeof m->run_id || !mlflow_is_run_id(run_id))
		return err_set(e, -EINVAL, "MLFLOW_RUN_ID is not the id of a run");
	snprintf(m->run_id, sizeof m->run_id, "%s", run_id);
	snprintf(what, sizeof what, "runs/get?run_id=%s", run_id);
	rc = mlflow_call(m, what, NULL, e);
	if (!rc && !mlflow_said(m, "run.info.artifact_uri", m->artifacts, sizeof m->artifacts))
		rc = mlflow_strange(m, "run.info.artifact_uri", e);
	if (!rc)
		mlflow_said(m, "run.info.experiment_id", m->experiment, sizeof m->experiment);
	return rc;
}

/* ---- where ---- */

int mlflow_where(struct mlflow *m, struct err *e)
{
	const char *(*variable)(const char *) = m->job->variable;
	const char *uri = m->job->url ? m->job->url : variable("MLFLOW_TRACKING_URI");
	const char *timeout = variable("MLFLOW_HTTP_REQUEST_TIMEOUT");
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
	snprintf(m->result->where, sizeof m->result->where, "%.400s", m->server.shown);
	return 0;
}
