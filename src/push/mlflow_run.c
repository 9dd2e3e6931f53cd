/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/text/jsondoc.h"
#include "base/text/number.h"
#include "push/mlflow.h"
#include "recording/recover.h"
#include "report/page/page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* A request with who we are in it. As http_ask_patiently. */
static int mlflow_send(struct mlflow *m, struct http_request *q, const struct http_body *body,
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

/* A text of the answer, as json_read_text. */
static bool mlflow_said(const struct mlflow *m, const char *path, char *out, size_t size)
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

#define ARTIFACTS "mlflow-artifacts:/"
#define RECORDING "recording/"

/* What is made of the run when it is sent. */
struct made {
	const char *name, *type;
	int (*make)(struct bytes *out, struct mlflow *m, const struct summary *s, struct err *e);
};

static int make_report(struct bytes *out, struct mlflow *m, const struct summary *s, struct err *e)
{
	return page_make(out, m->job->run, s, NULL, e);
}

static int make_samples(struct bytes *out, struct mlflow *m, const struct summary *s, struct err *e)
{
	struct json j = { .out = out, .indent = true };

	(void)s;
	tracking_samples_json(&m->tracking, &j);
	bytes_u8(out, '\n');
	return out->failed ? err_set(e, -ENOMEM, "out of memory for the samples") : 0;
}

static const struct made made[] = {
	{ "report.html", "text/html", make_report },
	{ "samples.json", "application/json", make_samples },
};

/* A name as a part of a URL: what is no plain character is %XX. */
static void put_escaped(struct bytes *b, const char *name)
{
	for (const unsigned char *c = (const unsigned char *)name; *c; c++)
		if ((*c >= '0' && *c <= '9') || (*c >= 'A' && *c <= 'Z') ||
		    (*c >= 'a' && *c <= 'z') || strchr("-._~/", *c))
			bytes_u8(b, *c);
		else
			bytes_printf(b, "%%%02X", *c);
}

/* mlflow-artifacts://host/path: the host is the server's own name for itself. */
static const char *path_of(const char *uri)
{
	const char *path = uri + sizeof ARTIFACTS - 1;

	if (path[0] == '/') {
		path = strchr(path + 1, '/');
		return path ? path + 1 : NULL;
	}
	return path;
}

/* A recording that was sent without the environment is another one than with it. */
static const char *noted_as(const struct mlflow *m, const char *name)
{
	return m->job->with_environment && !strncmp(name, RECORDING, sizeof RECORDING - 1)
		       ? "file-with-environment"
		       : "file";
}

static int put(struct mlflow *m, const char *name, const char *type, const struct http_body *body,
	       struct err *e)
{
	struct bytes url = { 0 };
	struct http_request q = { .method = "PUT", .content_type = type };
	struct http_answer a;
	int rc;

	bytes_printf(&url, "%s/api/2.0/mlflow-artifacts/artifacts/", m->server.url);
	put_escaped(&url, path_of(m->artifacts));
	bytes_puts(&url, "/sonde/");
	put_escaped(&url, name);
	bytes_u8(&url, 0);
	if (url.failed) {
		bytes_free(&url);
		return err_set(e, -ENOMEM, "out of memory");
	}
	q.url = (const char *)url.data;
	rc = mlflow_send(m, &q, body, &a, e);
	bytes_free(&url);
	if (!rc && (a.status < 200 || a.status >= 300))
		rc = err_set(e, -EPROTO, "%.200s does not take the file %.100s: status %u",
			     m->server.shown, name, a.status);
	return rc ? rc : journal_add(&m->journal, noted_as(m, name), name, e);
}

static int send_made(struct mlflow *m, const struct made *what, const struct summary *s,
		     struct err *e)
{
	struct bytes content = { 0 };
	int rc = what->make(&content, m, s, e);
	const struct http_body body = { content.data, -1, content.len };

	if (!rc)
		rc = put(m, what->name, what->type, &body, e);
	bytes_free(&content);
	return rc;
}

static int send_file(struct mlflow *m, const char *path, const char *name, struct err *e)
{
	int rc = 0, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return 0; /* a tail that went with the sealing of its last block */
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		rc = err_set(e, -EIO, "cannot read %.300s", path);
	} else if (st.st_size) { /* a tail whose rows are all sealed is empty */
		const struct http_body body = { NULL, fd, (uint64_t)st.st_size };

		rc = put(m, name, "application/octet-stream", &body, e);
	}
	if (fd >= 0)
		close(fd);
	return rc;
}

/* The files of a node's recording: file 0 its blocks, 1 what is after them. False when there is no
 * such file. */
static bool file_of(const struct mlflow *m, uint32_t node, int which, char path[PATH_MAX],
		    char name[320])
{
	static const char sealed[] = ".sonde", tail[] = ".tail";
	const char *file = m->job->run->nodes[node].file, *slash;
	size_t n = strlen(file);

	if (n < sizeof sealed || strcmp(file + n - (sizeof sealed - 1), sealed) || n >= PATH_MAX)
		return false;
	for (uint32_t i = 1; i < node; i++) /* an import may have many nodes in a file */
		if (!strcmp(m->job->run->nodes[i].file, file))
			return false;
	snprintf(path, PATH_MAX, "%.*s%s", (int)(n - (sizeof sealed - 1)), file,
		 which ? tail : sealed);
	slash = strrchr(path, '/');
	snprintf(name, 320, RECORDING "%.300s", slash ? slash + 1 : path);
	return true;
}

static bool takes_files(const struct mlflow *m)
{
	return !strncmp(m->artifacts, ARTIFACTS, sizeof ARTIFACTS - 1) && path_of(m->artifacts);
}

static bool is_sent(const struct mlflow *m, const char *name)
{
	return journal_has(&m->journal, noted_as(m, name), name);
}

bool mlflow_files_left(const struct mlflow *m)
{
	char path[PATH_MAX], name[320];

	if (m->job->artifacts == PUSH_NO_ARTIFACTS || !takes_files(m))
		return false;
	for (size_t i = 0; i < sizeof made / sizeof made[0]; i++)
		if (!journal_has(&m->journal, "file", made[i].name))
			return true;
	for (uint32_t i = 1; m->job->artifacts == PUSH_ALL && i < m->job->run->nnodes; i++)
		if (file_of(m, i, 0, path, name) && !is_sent(m, name))
			return true;
	return false;
}

/* copies: where the recording lies without its environment; NULL: it is sent as it is. */
static int send_files(struct mlflow *m, const char *copies, struct err *e)
{
	char path[PATH_MAX], name[320];
	int rc = 0;

	for (uint32_t i = 1; i < m->job->run->nnodes; i++)
		for (int which = 0; which < (copies ? 1 : 2) && !rc; which++) {
			if (!file_of(m, i, which, path, name) || is_sent(m, name))
				continue;
			if (copies)
				snprintf(path, sizeof path, "%.3000s/%s", copies,
					 name + sizeof RECORDING - 1);
			rc = send_file(m, path, name, e);
		}
	return rc;
}

static bool has_private(const struct run *r)
{
	for (uint32_t i = 1; i < r->nmetas; i++)
		if (key_is_private(r->metas[i].key))
			return true;
	for (uint32_t i = 1; i < r->nlabels; i++)
		if (key_is_private(r->labels[i].key))
			return true;
	return false;
}

static void remove_copies(const struct mlflow *m, const char *copies, int fd)
{
	char path[PATH_MAX], name[320];

	for (uint32_t i = 1; i < m->job->run->nnodes; i++)
		if (file_of(m, i, 0, path, name))
			unlinkat(fd, name + sizeof RECORDING - 1, 0);
	rmdir(copies);
}

/* A copy without what is private lies beside the journal while it is sent. */
static int send_recording(struct mlflow *m, struct err *e)
{
	char copies[PATH_MAX];
	int fd, rc;

	if (m->job->with_environment || !has_private(m->job->run))
		return send_files(m, NULL, e);
	snprintf(copies, sizeof copies, "%.3000s/.push-recording-XXXXXX", m->job->state);
	if (!mkdtemp(copies))
		return err_set(e, -errno, "cannot make a directory in %.300s: %s", m->job->state,
			       strerror(errno));
	fd = open(copies, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rc = fd < 0 ? err_set(e, -errno, "cannot open %.300s: %s", copies, strerror(errno))
		    : recover(m->job->run, fd, true, NULL, NULL, e);
	if (!rc)
		rc = send_files(m, copies, e);
	if (fd >= 0) {
		remove_copies(m, copies, fd);
		close(fd);
	}
	return rc;
}

static void leave_out(struct mlflow *m, const char *what)
{
	snprintf(m->result->left_out, sizeof m->result->left_out,
		 "the files of this run lie at %.200s, where the server does not put them itself; "
		 "%s were left out (--artifacts none says so at once)",
		 m->artifacts[0] ? m->artifacts : "an unknown place", what);
}

int mlflow_files_send(struct mlflow *m, const struct summary *s, struct err *e)
{
	int rc = 0;

	if (m->job->artifacts == PUSH_NO_ARTIFACTS)
		return 0;
	if (!takes_files(m)) {
		leave_out(m, "report and recording");
		return 0;
	}
	for (size_t i = 0; i < sizeof made / sizeof made[0] && !rc; i++)
		if (!journal_has(&m->journal, "file", made[i].name))
			rc = send_made(m, &made[i], s, e);
	return rc || m->job->artifacts != PUSH_ALL ? rc : send_recording(m, e);
}

int mlflow_file_send(struct mlflow *m, const struct push_file *f, struct err *e)
{
	const struct http_body body = { f->data, -1, f->length };

	if (is_sent(m, f->name))
		return 0;
	if (takes_files(m))
		return put(m, f->name, "text/plain", &body, e);
	leave_out(m, "lock files");
	return 0;
}
