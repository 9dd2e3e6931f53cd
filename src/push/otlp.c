/* SPDX-License-Identifier: Apache-2.0 */
/*
 * otlp.c - a run as OpenTelemetry's metrics and traces: OTLP over HTTP, in JSON.
 *
 * Samples are gauges with the names of Sonde's metrics; a node is a resource. The job is a span, in
 * the trace of who started it if TRACEPARENT said so, and each span of its programs is one below
 * it. Spans go once the job has ended. Ids are made from the run's, so that what is sent again
 * after a push was killed is the same span, and the same value of the same time.
 */
#include "push/otlp_push.h"

#include "base/clock.h"
#include "base/text/jsondoc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define URL_VARIABLE     "OTEL_EXPORTER_OTLP_ENDPOINT"
#define HEADERS_VARIABLE "OTEL_EXPORTER_OTLP_HEADERS"
/* What all tools of OpenTelemetry read. */
#define SERVICE_VARIABLE  "OTEL_SERVICE_NAME"
#define RESOURCE_VARIABLE "OTEL_RESOURCE_ATTRIBUTES"

enum { POINTS_A_REQUEST = 5000, TIMEOUT_S = 60, MESSAGE = 200 };

/* ---- JSON ---- */

/* What --labels adds: "cluster=a,job_id=4711". */
static void put_labels(struct json *j, const char *labels)
{
	for (const char *at = labels ? labels : ""; *at;) {
		size_t n = strcspn(at, ","), name = strcspn(at, "=");
		char key[64], value[256];

		snprintf(key, sizeof key, "%.*s", (int)name, at);
		snprintf(value, sizeof value, "%.*s", (int)(n - name - 1), at + name + 1);
		otlp_push_attribute(j, key, value);
		at += n + (at[n] == ',');
	}
}

static bool labels_are_well(const char *labels)
{
	for (const char *at = labels ? labels : ""; *at;) {
		size_t n = strcspn(at, ","), name = strcspn(at, "=");

		if (!name || name >= n || name >= 64 || n - name > 255)
			return false;
		at += n + (at[n] == ',');
	}
	return true;
}

/* {"resourceMetrics": [{"resource": ..., "scopeMetrics": [{"scope": ..., "metrics": [ */
void otlp_push_begin(struct otlp_push *s, struct json *j, uint32_t node, const char *words[3])
{
	const struct run *r = s->job->run;
	const char *name = s->job->variable(SERVICE_VARIABLE);

	bytes_reset(&s->body);
	*j = (struct json){ .out = &s->body };
	json_object(j);
	json_key(j, words[0]);
	json_array(j);
	json_object(j);
	json_key(j, "resource");
	json_object(j);
	json_key(j, "attributes");
	json_array(j);
	otlp_push_attribute(j, "service.name", name ? name : "sonde");
	otlp_push_attribute(j, "host.name", node ? r->nodes[node].host : NULL);
	otlp_push_attribute(j, "sonde.run.id", run_find_text(r, 0, "run.id"));
	put_labels(j, s->job->labels);
	if (labels_are_well(s->job->variable(RESOURCE_VARIABLE)))
		put_labels(j, s->job->variable(RESOURCE_VARIABLE));
	json_array_end(j);
	json_object_end(j);
	json_key(j, words[1]);
	json_array(j);
	json_object(j);
	json_key(j, "scope");
	json_object(j);
	json_put_text(j, "name", "sonde");
	json_put_text(j, "version", SONDE_VERSION);
	json_object_end(j);
	json_key(j, words[2]);
	json_array(j);
}

void otlp_push_end(struct json *j)
{
	for (int i = 0; i < 3; i++) {
		json_array_end(j);
		json_object_end(j);
	}
}

void otlp_push_made(struct json *j, const struct bytes *made)
{
	if (j->comma && made->len)
		bytes_u8(j->out, ',');
	bytes_put(j->out, made->data, made->len);
	j->out->failed |= made->failed;
	j->comma |= made->len > 0;
}

/* ---- requests ---- */

/* A collector that refuses a part says so with status 200. */
static void take_partial(struct otlp_push *s, const struct http_answer *a)
{
	struct jsondoc j;
	struct err e;
	enum jsondoc_token t;
	char message[MESSAGE] = "";
	bool refused = false;

	jsondoc_open_text(&j, a->text, a->length);
	while ((t = jsondoc_next(&j, &e)) != JSONDOC_END && t != JSONDOC_BAD) {
		bool count = t == JSONDOC_KEY && !strncmp(j.text, "rejected", 8);

		if (t == JSONDOC_KEY && !strcmp(j.text, "errorMessage")) {
			if (jsondoc_next(&j, &e) == JSONDOC_STRING)
				snprintf(message, sizeof message, "%s", j.text);
		} else if (count &&
			   ((t = jsondoc_next(&j, &e)) == JSONDOC_STRING || t == JSONDOC_NUMBER)) {
			refused |= strcmp(j.text, "0") != 0;
		}
	}
	jsondoc_close(&j);
	if (refused)
		snprintf(s->result->left_out, sizeof s->result->left_out,
			 "%.200s has not taken all: %s", s->server.shown, message);
}

int otlp_push_post(struct otlp_push *s, const char *path, struct err *e)
{
	char url[ADDRESS_MAX + 16];
	struct http_request q = {
		.method = "POST",
		.url = url,
		.user = s->server.user[0] ? s->server.user : NULL,
		.password = s->server.password,
		.content_type = "application/json",
		.header = *s->headers ? s->headers : NULL,
		.timeout_s = TIMEOUT_S,
	};
	struct http_body body = { s->body.data, -1, s->body.len };
	struct http_answer a;
	int rc;

	snprintf(url, sizeof url, "%s%s", s->server.url, path);
	if (s->body.failed)
		return err_set(e, -ENOMEM, "out of memory for a request");
	rc = http_ask_patiently(&s->http, &q, &body, &a, e);
	if (rc)
		return rc;
	if (a.status < 200 || a.status >= 300)
		return err_set(e, -EPROTO, "%.150s refuses %s with status %u: %.*s%s",
			       s->server.shown, path, a.status,
			       (int)(a.length < MESSAGE ? strcspn(a.text, "\r\n") : MESSAGE),
			       a.text,
			       a.status == 404 ? "; is that a receiver of OTLP over HTTP, as "
						 "http://host:4318?"
			       : a.status == 401 || a.status == 403 ? "; " HEADERS_VARIABLE
								      " has what it asks for"
								    : "");
	take_partial(s, &a);
	s->result->kept = true;
	return 0;
}

/* ---- metrics ---- */

/* UCUM's names. */
static const char *unit_of(enum unit u)
{
	static const char *const names[UNIT_NUMBER_OF] = {
		[UNIT_ONE] = "1",
		[UNIT_COUNT] = "1",
		[UNIT_RATIO] = "1",
		[UNIT_SECONDS] = "s",
		[UNIT_BYTES] = "By",
		[UNIT_JOULES] = "J",
		[UNIT_HERTZ] = "Hz",
		[UNIT_CELSIUS] = "Cel",
		[UNIT_CORES] = "{core}",
		[UNIT_BYTES_PER_SECOND] = "By/s",
		[UNIT_PER_SECOND] = "1/s",
		[UNIT_WATTS] = "W",
		[UNIT_ELAPSED_SECONDS] = "s",
	};

	return names[u];
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Cells of one quantity are one metric. They come in its order. */
static void put_metrics(struct otlp_push *s, struct json *j)
{
	const struct plan *p = &s->derive.plan;

	qsort(s->open, s->nopen, sizeof *s->open, by_number);
	for (uint32_t i = 0; i < s->nopen;) {
		uint32_t quantity = p->cell[s->open[i]].quantity;

		json_object(j);
		json_put_text(j, "name", p->quantity[quantity].name);
		json_put_text(j, "unit", unit_of(p->quantity[quantity].unit));
		json_key(j, "gauge");
		json_object(j);
		json_key(j, "dataPoints");
		json_array(j);
		for (; i < s->nopen && p->cell[s->open[i]].quantity == quantity; i++) {
			struct cell_points *c = &s->column[s->open[i]];

			otlp_push_made(j, &c->points);
			bytes_reset(&c->points);
			c->open = false;
		}
		json_array_end(j);
		json_object_end(j);
		json_object_end(j);
	}
	s->nopen = 0;
}

static int note(struct otlp_push *s, int64_t until_ns, struct err *e)
{
	char key[PUSH_KEY];

	push_node_key(s->job->run, s->node, "until", key);
	return journal_set_number(&s->journal, key, (uint64_t)until_ns, e);
}

static int flush(struct otlp_push *s, struct err *e)
{
	const char *words[] = { "resourceMetrics", "scopeMetrics", "metrics" };
	struct json j;
	int rc;

	if (!s->npoints)
		return 0;
	otlp_push_begin(s, &j, s->node, words);
	put_metrics(s, &j);
	otlp_push_end(&j);
	rc = otlp_push_post(s, "/v1/metrics", e);
	rc = rc ? rc : note(s, s->made_ns, e);
	if (!rc) {
		s->result->values += s->npoints;
		s->until_ns = s->made_ns;
	}
	s->npoints = 0;
	return rc;
}

static void put_point(struct otlp_push *s, uint32_t cell, double value, int64_t utc_ns)
{
	const struct plan *p = &s->derive.plan;
	const struct holder *h = &p->holder[p->cell[cell].holder];
	struct cell_points *c = &s->column[cell];
	struct json j = { .out = &c->points };

	if (!c->open) {
		c->open = true;
		s->open[s->nopen++] = cell;
	}
	if (c->points.len)
		bytes_u8(&c->points, ',');
	json_object(&j);
	otlp_push_time(&j, "timeUnixNano", utc_ns);
	json_put_real(&j, "asDouble", value);
	if (h->instance) {
		const struct run_instance *in = &s->job->run->instances[h->instance];

		json_key(&j, "attributes");
		json_array(&j);
		otlp_push_attribute(&j, in->domain, in->name);
		json_array_end(&j);
	}
	json_object_end(&j);
	s->npoints++;
}

static bool lasts(const struct otlp_push *s, uint32_t cell)
{
	const struct holder *h = &s->derive.plan.holder[s->derive.plan.cell[cell].holder];

	return !h->instance || !instance_passes(&s->job->run->instances[h->instance]);
}

static int put_instant(struct otlp_push *s, const struct instant *in, struct err *e)
{
	int rc = in->node == s->node ? 0 : flush(s, e);

	if (!rc && in->node != s->node) {
		char key[PUSH_KEY];

		s->node = in->node;
		push_node_key(s->job->run, s->node, "until", key);
		s->until_ns = (int64_t)journal_number(&s->journal, key);
	}
	if (rc || in->utc_ns <= s->until_ns)
		return rc;
	for (uint32_t i = 0; i < in->n; i++)
		if (lasts(s, in->cell[i]))
			put_point(s, in->cell[i], in->value[i], in->utc_ns);
	s->made_ns = in->utc_ns;
	return s->npoints < POINTS_A_REQUEST ? 0 : flush(s, e);
}

static int send_metrics(struct otlp_push *s, struct err *e)
{
	const struct selection sel = { .metrics = s->job->metrics, .lasting = true };
	struct instant in;
	int rc = derive_open(&s->derive, s->job->run, &sel, e);

	if (rc)
		return rc;
	s->column = calloc(s->derive.plan.ncells + 1u, sizeof *s->column);
	s->open = calloc(s->derive.plan.ncells + 1u, sizeof *s->open);
	if (!s->column || !s->open)
		return err_set(e, -ENOMEM, "out of memory for %u series", s->job->run->nseries);
	while ((rc = derive_next(&s->derive, &in, e)) > 0)
		if ((rc = put_instant(s, &in, e)))
			return rc;
	return rc ? rc : flush(s, e);
}

/* ---- */

/* "api-key=abc,other=x" as lines of headers. */
static int take_headers(struct otlp_push *s, struct err *e)
{
	const char *text = s->job->variable(HEADERS_VARIABLE);
	size_t n = 0;

	for (const char *at = text ? text : ""; *at;) {
		size_t length = strcspn(at, ","), name = strcspn(at, "=");

		if (!name || name >= length || n + length + 4 > sizeof s->headers ||
		    memchr(at, '\n', length) || memchr(at, '\r', length))
			return err_set(e, -EINVAL,
				       HEADERS_VARIABLE " is to be name=value,name=value");
		n += (size_t)snprintf(s->headers + n, sizeof s->headers - n, "%s%.*s: %.*s",
				      n ? "\n" : "", (int)name, at, (int)(length - name - 1),
				      at + name + 1);
		at += length + (at[length] == ',');
	}
	return 0;
}

static int understand(struct otlp_push *s, struct err *e)
{
	const char *url = s->job->url ? s->job->url : s->job->variable(URL_VARIABLE);

	if (!url)
		return err_set(e, -EINVAL,
			       "where is the receiver? " URL_VARIABLE
			       " or --url says it, as http://host:4318");
	if (!labels_are_well(s->job->labels))
		return err_set(e, -EINVAL, "--labels takes NAME=VALUE,...");
	return address_parse(&s->server, url, s->job->url ? "--url" : URL_VARIABLE, e);
}

static void close_all(struct otlp_push *s)
{
	for (uint32_t i = 0; s->column && i < s->derive.plan.ncells; i++)
		bytes_free(&s->column[i].points);
	derive_close(&s->derive);
	http_close(&s->http);
	journal_close(&s->journal);
	free(s->column);
	free(s->open);
	bytes_free(&s->body);
	bytes_free(&s->spans);
	explicit_bzero(s->headers, sizeof s->headers);
}

static int otlp_exec(const struct push_job *job, struct push_result *r, struct err *e)
{
	struct otlp_push s = { .job = job, .result = r, .journal.fd = -1 };
	char target[ADDRESS_MAX + 1024];
	int rc = understand(&s, e);

	rc = rc ? rc : take_headers(&s, e);
	snprintf(target, sizeof target, "%s %.900s", s.server.shown,
		 job->labels ? job->labels : "");
	rc = rc ? rc : journal_open(&s.journal, job->state, "otlp", target, e);
	rc = rc ? rc : http_open(&s.http, &s.server, job->patience_ns, e);
	snprintf(r->where, sizeof r->where, "%.400s", s.server.shown);
	rc = rc ? rc : send_metrics(&s, e);
	if (!rc && !push_may_grow(job->run, clock_utc_ns()))
		rc = otlp_push_counters(&s, e);
	if (!rc && !push_may_grow(job->run, clock_utc_ns()))
		rc = otlp_push_spans(&s, e);
	r->requests = s.http.requests;
	r->nothing_new = !rc && !s.http.requests;
	close_all(&s);
	return rc;
}

const struct push push_otlp = {
	.name = "otlp",
	.what = "a receiver of OpenTelemetry's OTLP over HTTP: " URL_VARIABLE,
	.follows = true,
	.exec = otlp_exec,
};
