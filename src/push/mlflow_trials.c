/* SPDX-License-Identifier: Apache-2.0 */
#include "push/mlflow.h"

#include "base/hash.h"
#include "push/mlflow_points.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MARK = 33, TARGET = 2048, PARAMS = 100, METRICS = 800, VALUE_BYTES = 2000 };

static void mark_of(char mark[MARK], const char *word, const char *uid)
{
	char text[600], digest[SHA256_HEX];
	int n = snprintf(text, sizeof text, "%s %.500s", word, uid);

	sha256_hex(digest, text, n > 0 ? (size_t)n : 0);
	snprintf(mark, MARK, "%.32s", digest);
}

/* ---- what is in a run ---- */

struct content {
	const struct push_list *parameters; /* NULL: none */
	const struct push_list *tags;
	const struct push_list *facts; /* NULL: none */
	const struct push_number *figure;
	uint32_t nfigures, step;
	int64_t time_ms;
	const char *note;
	uint32_t parameters_given, tags_given, facts_given, figures_given;
};

/* As long as MLflow's limit for a whole request allows. */
static void put_pair(struct json *j, const char *key, const char *text)
{
	char value[VALUE_BYTES + 4];
	int n = snprintf(value, sizeof value, "%.*s", VALUE_BYTES, text);

	if (n == VALUE_BYTES && text[n])
		memcpy(value + n, "...", 4);
	json_object(j);
	json_put_text(j, "key", key);
	json_put_text(j, "value", value);
	json_object_end(j);
}

static void put_parameters(struct json *j, struct content *c)
{
	json_key(j, "params");
	json_array(j);
	for (uint32_t n = 0; c->parameters && n < PARAMS && c->parameters_given < c->parameters->n;
	     n++) {
		const struct push_text *p = &c->parameters->v[c->parameters_given++];

		put_pair(j, p->name, p->text);
	}
	json_array_end(j);
}

static void put_tags(struct json *j, struct content *c)
{
	uint32_t n = 0;

	json_key(j, "tags");
	json_array(j);
	if (c->note && !c->tags_given)
		put_pair(j, "mlflow.note.content", c->note);
	for (; n < BATCH_TAGS - 1 && c->tags_given < c->tags->n; n++) {
		const struct push_text *t = &c->tags->v[c->tags_given++];

		put_pair(j, t->name, t->text);
	}
	while (n < BATCH_TAGS - 1 && c->facts && c->facts_given < c->facts->n) {
		const struct push_text *f = &c->facts->v[c->facts_given++];
		const char *tag = mlflow_platform_tag(f->name);

		if (!tag)
			continue;
		put_pair(j, tag, f->text);
		n++;
	}
	json_array_end(j);
}

static uint32_t put_figures(struct json *j, struct content *c)
{
	uint32_t n = 0;

	json_key(j, "metrics");
	json_array(j);
	for (; n < METRICS && c->figures_given < c->nfigures; n++) {
		const struct push_number *f = &c->figure[c->figures_given++];

		json_object(j);
		json_put_text(j, "key", f->name);
		json_put_real(j, "value", f->value);
		json_put_int(j, "timestamp", c->time_ms);
		json_put_int(j, "step", c->step);
		json_object_end(j);
	}
	json_array_end(j);
	return n;
}

static bool is_left(const struct content *c)
{
	return (c->parameters && c->parameters_given < c->parameters->n) ||
	       c->tags_given < c->tags->n || (c->facts && c->facts_given < c->facts->n) ||
	       c->figures_given < c->nfigures;
}

/* Sent again it changes nothing: MLflow keeps one of two equal values. */
static int send_content(struct mlflow *m, struct content *c, struct err *e)
{
	int rc = 0;

	while (!rc && is_left(c)) {
		struct bytes body = { 0 };
		struct json j = { .out = &body };
		uint32_t n;

		json_object(&j);
		json_put_text(&j, "run_id", m->run_id);
		put_parameters(&j, c);
		put_tags(&j, c);
		n = put_figures(&j, c);
		json_object_end(&j);
		rc = mlflow_call(m, "runs/log-batch", &body, e);
		m->result->values += rc ? 0 : n;
		bytes_free(&body);
	}
	return rc;
}

/* ---- a trial ---- */

static int push_trial(struct mlflow *m, const struct push_trial *t, const char *parent, bool maybe,
		      struct err *e)
{
	char mark[MARK];
	const struct mlflow_new n = { t->name, mark, parent, t->start_ms };
	struct content c = { .parameters = &t->parameters,
			     .tags = &t->tags,
			     .facts = t->facts,
			     .figure = t->figure,
			     .nfigures = t->nfigures,
			     .time_ms = t->end_ms };
	int rc;

	mark_of(mark, "trial", t->uid);
	if (journal_has(&m->journal, "done", mark))
		return 0;
	m->run_id[0] = '\0';
	rc = mlflow_make(m, &n, maybe, e);
	if (!rc && !mlflow_is_run_id(m->run_id))
		rc = mlflow_strange(m, "run_id", e);
	if (!rc)
		rc = send_content(m, &c, e);
	if (!rc)
		rc = mlflow_end(m, t->failed ? "FAILED" : "FINISHED", t->end_ms, e);
	return rc ? rc : journal_add(&m->journal, "done", mark, e);
}

/* ---- the run of all ---- */

/* *maybe: trials may be there already. */
static int find_parent(struct mlflow *m, const struct push_trials *t, bool *maybe, struct err *e)
{
	const char *run_id = m->job->variable("MLFLOW_RUN_ID");
	const char *name = m->job->variable("MLFLOW_RUN_NAME");
	char mark[MARK];
	const struct mlflow_new n = { name ? name : t->name, mark, NULL, t->start_ms };
	int rc;

	mark_of(mark, "trials", t->uid);
	*maybe = true;
	if (run_id)
		return mlflow_attach(m, run_id, e);
	rc = mlflow_find_experiment(m, e);
	if (!rc)
		rc = mlflow_find_marked(m, mark, e);
	if (rc != -ENOENT || m->run_id[0])
		return rc;
	*maybe = false;
	rc = mlflow_make(m, &n, false, e);
	return !rc && !mlflow_is_run_id(m->run_id) ? mlflow_strange(m, "run_id", e) : rc;
}

static int push_parent(struct mlflow *m, const struct push_trials *t, struct err *e)
{
	uint32_t failed = 0;
	struct push_number figure[3];
	struct content c = { .tags = &t->tags,
			     .figure = figure,
			     .nfigures = t->is_sweep ? 3 : 2,
			     .step = t->n,
			     .time_ms = t->end_ms,
			     .note = t->note };
	int rc;

	for (uint32_t i = 0; i < t->n; i++)
		failed += t->trial[i].failed;
	figure[0] = (struct push_number){ "trials", t->n };
	figure[1] = (struct push_number){ "trials_failed", failed };
	figure[2] = (struct push_number){ "combinations_skipped", t->nskipped };
	rc = send_content(m, &c, e);
	if (rc || m->job->variable("MLFLOW_RUN_ID"))
		return rc;
	return mlflow_end(m, t->n && failed == t->n ? "FAILED" : "FINISHED", t->end_ms, e);
}

/* ---- the push ---- */

/* What of the group itself was sent: it is sent again when there is more. */
static void group_mark(char mark[MARK], const struct push_trials *t)
{
	char text[160];

	snprintf(text, sizeof text, "%u trials, %u skipped, %u files, %.80s", t->n, t->nskipped,
		 t->nfiles, t->note ? t->note : "");
	mark_of(mark, "group", text);
}

static bool is_all_there(const struct mlflow *m, const struct push_trials *t, const char *group)
{
	char mark[MARK], last[MARK];

	for (uint32_t i = 0; i < t->n; i++) {
		mark_of(mark, "trial", t->trial[i].uid);
		if (!journal_has(&m->journal, "done", mark))
			return false;
	}
	return journal_find(&m->journal, "group", last, sizeof last) && !strcmp(last, group);
}

static int work(struct mlflow *m, const struct push_trials *t, struct err *e)
{
	struct push_trials sent = *t;
	char parent[sizeof m->run_id], group[MARK];
	bool maybe;
	int rc;

	if (m->job->artifacts == PUSH_NO_ARTIFACTS)
		sent.nfiles = 0;
	group_mark(group, &sent);
	if (is_all_there(m, &sent, group)) {
		m->result->nothing_new = true;
		return 0;
	}
	rc = http_open(&m->http, &m->server, m->job->patience_ns, e);
	if (!rc)
		rc = find_parent(m, &sent, &maybe, e);
	if (rc)
		return rc;
	m->result->kept = true;
	snprintf(parent, sizeof parent, "%s", m->run_id);
	snprintf(m->result->where, sizeof m->result->where, "run %.64s at %.400s", parent,
		 m->server.shown);
	for (uint32_t i = 0; i < sent.nfiles && !rc; i++)
		rc = mlflow_file_send(m, &sent.file[i], e);
	for (uint32_t i = 0; i < sent.n && !rc; i++)
		rc = push_trial(m, &sent.trial[i], parent, maybe, e);
	snprintf(m->run_id, sizeof m->run_id, "%s", parent);
	if (!rc)
		rc = push_parent(m, &sent, e);
	return rc ? rc : journal_add(&m->journal, "group", group, e);
}

int mlflow_trials(const struct push_job *job, const struct push_trials *t, struct push_result *r,
		  struct err *e)
{
	struct mlflow m = { .job = job, .result = r, .journal.fd = -1 };
	const char *run = job->variable("MLFLOW_RUN_ID");
	const char *id = job->variable("MLFLOW_EXPERIMENT_ID");
	const char *name = job->variable("MLFLOW_EXPERIMENT_NAME");
	char target[TARGET], mark[MARK];
	int rc = mlflow_where(&m, e);

	mark_of(mark, "trials", t->uid);
	snprintf(target, sizeof target, "%s %s %.500s trials %s", m.server.shown,
		 run ? "run" : "experiment",
		 run    ? run
		 : id   ? id
		 : name ? name
			: "",
		 mark);
	if (!rc)
		rc = journal_open(&m.journal, job->state, "mlflow", target, e);
	if (!rc)
		rc = work(&m, t, e);
	r->requests = m.http.requests;
	http_close(&m.http);
	journal_close(&m.journal);
	return rc;
}
