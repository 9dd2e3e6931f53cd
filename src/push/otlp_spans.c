/* SPDX-License-Identifier: Apache-2.0 */
/* otlp_spans.c - the job and the spans of its programs as spans of OpenTelemetry. */
#include "base/hash.h"
#include "base/text/decimal.h"
#include "core/phase/mark.h"
#include "push/otlp_push.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPANS_A_REQUEST = 1000, EVENTS_MOST = 1000 };

/* ---- ids ---- */

static bool is_hex(const char *text, size_t n)
{
	bool zero = true;

	for (size_t i = 0; i < n; i++) {
		if (!isxdigit((unsigned char)text[i]) || isupper((unsigned char)text[i]))
			return false;
		zero &= text[i] == '0';
	}
	return !zero;
}

/* Of what a span is, so that it stays the same when a timeline is imported into the recording
 * later. The job has no node. */
static void span_id(const struct otlp_push *s, const struct run_span *x, char out[OTLP_SPAN_ID + 1])
{
	const struct run *r = s->job->run;
	const char *id = run_find_text(r, 0, "run.id");
	char text[2048], hex[SHA256_HEX];

	snprintf(text, sizeof text,
		 "%.64s %" PRId64 "\n%.255s\n%.500s\n%.1000s %" PRId64 " %" PRId64, id ? id : "",
		 r->t0_utc_ns, x ? r->nodes[x->node].host : "",
		 x && x->track ? r->instances[x->track].name : "", x ? x->name : "",
		 x ? x->begin_ns : 0, x ? x->end_ns : 0);
	sha256_hex(hex, text, strlen(text));
	snprintf(out, OTLP_SPAN_ID + 1, "%.*s", OTLP_SPAN_ID, hex);
}

/* W3C Trace Context: 00-TRACE-SPAN-FLAGS. */
static void make_ids(struct otlp_push *s)
{
	const char *of = run_find_text(s->job->run, 0, "job.environment.TRACEPARENT");
	const char *id = run_find_text(s->job->run, 0, "run.id");
	char hex[SHA256_HEX];

	span_id(s, NULL, s->root);
	if (of && strlen(of) >= 55 && of[2] == '-' && of[35] == '-' && of[52] == '-' &&
	    is_hex(of + 3, OTLP_TRACE_ID) && is_hex(of + 36, OTLP_SPAN_ID)) {
		snprintf(s->trace, sizeof s->trace, "%.*s", OTLP_TRACE_ID, of + 3);
		snprintf(s->parent, sizeof s->parent, "%.*s", OTLP_SPAN_ID, of + 36);
	} else if (id && strlen(id) == OTLP_TRACE_ID && is_hex(id, OTLP_TRACE_ID)) {
		snprintf(s->trace, sizeof s->trace, "%s", id);
	} else {
		char text[64];

		snprintf(text, sizeof text, "trace %" PRId64, s->job->run->t0_utc_ns);
		sha256_hex(hex, text, strlen(text));
		snprintf(s->trace, sizeof s->trace, "%.*s", OTLP_TRACE_ID, hex);
	}
}

/* ---- spans ---- */

static int flush_spans(struct otlp_push *s, struct err *e)
{
	const char *words[] = { "resourceSpans", "scopeSpans", "spans" };
	struct json j;
	int rc;

	if (!s->nspans)
		return 0;
	otlp_push_begin(s, &j, s->node, words);
	otlp_push_made(&j, &s->spans);
	otlp_push_end(&j);
	rc = otlp_push_post(s, "/v1/traces", e);
	rc = rc ? rc : journal_set_number(&s->journal, "spans", s->at, e);
	if (!rc)
		s->result->values += s->nspans;
	s->nspans = 0;
	bytes_reset(&s->spans);
	return rc;
}

/* The next one of the run, in an order that stays. False: it has arrived before. */
static bool begin_span(struct otlp_push *s, struct json *j, const struct run_span *x,
		       const char *name)
{
	char id[OTLP_SPAN_ID + 1];

	if (s->at < s->sent) {
		s->at++;
		return false;
	}
	span_id(s, x, id);
	*j = (struct json){ .out = &s->spans };
	if (s->spans.len)
		bytes_u8(&s->spans, ',');
	json_object(j);
	json_put_text(j, "traceId", s->trace);
	json_put_text(j, "spanId", id);
	if (s->at || *s->parent)
		json_put_text(j, "parentSpanId", s->at ? s->root : s->parent);
	json_put_text(j, "name", name);
	json_put_int(j, "kind", 1);
	s->at++;
	s->nspans++;
	return true;
}

static void otlp_push_words(struct json *j, const char *key, const char *text);

static int put_span(struct otlp_push *s, const struct run_span *x, struct err *e)
{
	const struct run *r = s->job->run;
	int64_t last_ns = r->nodes[x->node].last_ns;
	int64_t end_ns = x->end_ns == INT64_MAX ? last_ns : x->end_ns;
	int rc = x->node == s->node ? 0 : flush_spans(s, e);
	struct json j;

	s->node = x->node;
	if (rc || !begin_span(s, &j, x, x->name))
		return rc;
	otlp_push_time(&j, "startTimeUnixNano", run_utc_ns(r, x->node, x->begin_ns));
	otlp_push_time(&j, "endTimeUnixNano",
		       run_utc_ns(r, x->node, end_ns > x->begin_ns ? end_ns : x->begin_ns));
	json_key(&j, "attributes");
	json_array(&j);
	if (x->track) {
		otlp_push_attribute(&j, "sonde.track", r->instances[x->track].name);
		for (size_t i = 0; i < 3; i++) {
			static const char *const keys[][2] = { { "rank", "sonde.rank" },
							       { "pid", "process.pid" },
							       { "tid", "thread.id" } };
			const char *label = run_label(r, x->track, keys[i][0]);

			otlp_push_attribute(&j, keys[i][1], label);
		}
	}
	otlp_push_words(&j, "sonde.detail", x->detail);
	if (x->end_ns == INT64_MAX)
		otlp_push_attribute(&j, "sonde.end", "the recording's: it did not end");
	json_array_end(&j);
	json_object_end(&j);
	return s->nspans < SPANS_A_REQUEST ? 0 : flush_spans(s, e);
}

static void put_events(struct otlp_push *s, struct json *j)
{
	const struct run *r = s->job->run;
	uint32_t n = r->nmarks > EVENTS_MOST + 1 ? EVENTS_MOST + 1 : r->nmarks;

	json_key(j, "events");
	json_array(j);
	for (uint32_t i = 1; i < n; i++) {
		const struct run_mark *m = &r->marks[i];

		json_object(j);
		otlp_push_time(j, "timeUnixNano", run_utc_ns(r, m->node, m->at_ns));
		json_put_text(j, "name", m->name);
		json_key(j, "attributes");
		json_array(j);
		otlp_push_attribute(j, "host.name", r->nodes[m->node].host);
		otlp_push_words(j, "message", m->message);
		json_array_end(j);
		json_object_end(j);
	}
	json_array_end(j);
	if (r->nmarks > n)
		json_put_int(j, "droppedEventsCount", r->nmarks - n);
}

static void put_status(struct json *j, const struct run *r)
{
	static const char *const keys[] = { "job.exit_code", "job.signal" };

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		const struct run_meta *m = run_find_meta(r, 0, keys[i]);

		if (!m || m->type != META_INT || !m->value)
			continue;
		json_key(j, "status");
		json_object(j);
		json_put_int(j, "code", 2);
		json_put_text(j, "message", i ? "ended by a signal" : "failed");
		json_object_end(j);
		return;
	}
}

static void otlp_push_whole(struct json *j, const char *key, int64_t value);

/* The job: from the first row of any node to the last. */
static void put_job(struct otlp_push *s)
{
	const struct run *r = s->job->run;
	const char *command = run_find_text(r, 0, "job.command");
	const struct run_meta *code = run_find_meta(r, 0, "job.exit_code");
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
	struct json j;

	for (uint32_t i = 1; i < r->nnodes; i++) {
		int64_t begin = run_utc_ns(r, i, r->nodes[i].first_ns);
		int64_t end = run_utc_ns(r, i, r->nodes[i].last_ns);

		first_ns = begin < first_ns ? begin : first_ns;
		last_ns = end > last_ns ? end : last_ns;
	}
	if (first_ns > last_ns || !begin_span(s, &j, NULL, command ? command : "job"))
		return;
	otlp_push_time(&j, "startTimeUnixNano", first_ns);
	otlp_push_time(&j, "endTimeUnixNano", last_ns);
	json_key(&j, "attributes");
	json_array(&j);
	otlp_push_attribute(&j, "process.command_line", command);
	if (code && code->type == META_INT)
		otlp_push_whole(&j, "process.exit.code", code->value);
	json_array_end(&j);
	put_events(s, &j);
	put_status(&j, r);
	json_object_end(&j);
}

int otlp_push_spans(struct otlp_push *s, struct err *e)
{
	struct run *r = s->job->run;
	uint64_t of = 1 + r->npacked + (r->nspans ? r->nspans - 1 : 0);
	int rc = 0;

	/* Of a run with other spans than then, all are sent again. */
	if (journal_number(&s->journal, "spans_of") == of)
		s->sent = journal_number(&s->journal, "spans");
	else
		rc = journal_set_number(&s->journal, "spans_of", of, e);
	s->node = 0;
	make_ids(s);
	put_job(s);
	for (uint32_t i = 1; i < r->nspans && !rc; i++)
		rc = put_span(s, &r->spans[i], e);
	for (uint32_t i = 0; i < r->npacks && !rc; i++) {
		const struct run_span *some;
		int n = r->unpack(r, i, &some, e);

		rc = n < 0 ? n : 0;
		for (int k = 0; k < n && !rc; k++)
			rc = put_span(s, &some[k], e);
	}
	return rc ? rc : flush_spans(s, e);
}

/* Attributes of OTLP's JSON; and the values of programs' counters, which have
 * some. */

enum { POINTS_A_REQUEST = 5000 };

/* {"key": key, "value": { */
static void attribute_begin(struct json *j, const char *key)
{
	json_object(j);
	json_put_text(j, "key", key);
	json_key(j, "value");
	json_object(j);
}

static void attribute_end(struct json *j)
{
	json_object_end(j);
	json_object_end(j);
}

void otlp_push_attribute(struct json *j, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	attribute_begin(j, key);
	json_put_text(j, "stringValue", value);
	attribute_end(j);
}

void otlp_push_time(struct json *j, const char *key, int64_t utc_ns)
{
	char text[32];

	snprintf(text, sizeof text, "%" PRId64, utc_ns);
	json_put_text(j, key, text);
}

static void otlp_push_whole(struct json *j, const char *key, int64_t value)
{
	attribute_begin(j, key);
	otlp_push_time(j, "intValue", value);
	attribute_end(j);
}

/* A number as programs write it: "0x10", "nan", "007" and " 5" are texts. */
static void put_value(struct json *j, const char *key, const char *value)
{
	const char *digits = value + (*value == '-');
	bool number = isdigit((unsigned char)*digits) &&
		      !(digits[0] == '0' && isdigit((unsigned char)digits[1]));
	char *end = NULL, *whole_end = NULL;
	double real = number ? decimal_parse(value, &end) : 0;
	long long whole;

	errno = 0;
	whole = number ? strtoll(value, &whole_end, 10) : 0;
	if (number && !*whole_end && !errno) {
		otlp_push_whole(j, key, whole);
	} else if (number && !*end && isfinite(real)) {
		attribute_begin(j, key);
		json_put_real(j, "doubleValue", real);
		attribute_end(j);
	} else {
		attribute_begin(j, key);
		json_put_text(j, "stringValue", value);
		attribute_end(j);
	}
}

static bool is_pairs(const char *text)
{
	char word[MARK_LINE_MAX];

	while (mark_word_read(&text, word, sizeof word))
		if (!strchr(word, '=') || *word == '=')
			return false;
	return !*text;
}

/* Each word KEY=VALUE of a text as an attribute, numbers as numbers; where one is something else,
 * the whole text is the attribute `key`. NULL or "": nothing. */
static void otlp_push_words(struct json *j, const char *key, const char *text)
{
	char word[MARK_LINE_MAX];

	if (!text || !*text)
		return;
	if (!is_pairs(text)) {
		otlp_push_attribute(j, key, text);
		return;
	}
	while (mark_word_read(&text, word, sizeof word)) {
		char *value = strchr(word, '=');

		*value++ = '\0';
		put_value(j, word, value);
	}
}

/* ---- counters of programs ---- */

static void put_point(struct otlp_push *s, struct json *j, const struct run_point *p)
{
	const struct run *r = s->job->run;
	static const char *const keys[][2] = { { "rank", "sonde.rank" }, { "pid", "process.pid" } };

	json_object(j);
	otlp_push_time(j, "timeUnixNano", run_utc_ns(r, r->instances[p->instance].node, p->at_ns));
	json_put_real(j, "asDouble", p->value);
	json_key(j, "attributes");
	json_array(j);
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		otlp_push_attribute(j, keys[i][1], run_label(r, p->instance, keys[i][0]));
	json_array_end(j);
	json_object_end(j);
}

/* Values of one counter from the first on; how many. */
static uint32_t put_counter(struct otlp_push *s, uint32_t first)
{
	const char *words[] = { "resourceMetrics", "scopeMetrics", "metrics" };
	const struct run *r = s->job->run;
	uint32_t in = r->points[first].instance, i = first;
	const char *unit = run_label(r, in, "unit");
	struct json j;

	otlp_push_begin(s, &j, r->instances[in].node, words);
	json_object(&j);
	json_put_text(&j, "name", r->instances[in].name);
	json_put_text(&j, "unit", unit ? unit : "1");
	json_key(&j, "gauge");
	json_object(&j);
	json_key(&j, "dataPoints");
	json_array(&j);
	for (; i < r->npoints && i - first < POINTS_A_REQUEST && r->points[i].instance == in; i++)
		if (isfinite(r->points[i].value))
			put_point(s, &j, &r->points[i]);
	json_array_end(&j);
	json_object_end(&j);
	json_object_end(&j);
	otlp_push_end(&j);
	return i - first;
}

int otlp_push_counters(struct otlp_push *s, struct err *e)
{
	const struct run *r = s->job->run;
	bool same = journal_number(&s->journal, "points_of") == r->npoints;
	uint64_t sent = same ? journal_number(&s->journal, "points") : 0;
	int rc = same ? 0 : journal_set_number(&s->journal, "points_of", r->npoints, e);

	for (uint32_t i = (uint32_t)sent; i < r->npoints && !rc;) {
		uint32_t n = put_counter(s, i);

		i += n;
		rc = otlp_push_post(s, "/v1/metrics", e);
		rc = rc ? rc : journal_set_number(&s->journal, "points", i, e);
		s->result->values += rc ? 0 : n;
	}
	return rc;
}
