/* SPDX-License-Identifier: Apache-2.0 */
/*
 * otlp_push.h - a push to a receiver of OTLP: its requests, in JSON, of metrics and of spans.
 */
#ifndef SONDE_PUSH_OTLP_PUSH_H
#define SONDE_PUSH_OTLP_PUSH_H

#include "base/text/json.h"
#include "core/frame/derive.h"
#include "push/http.h"
#include "push/journal.h"
#include "push/push.h"

enum { OTLP_TRACE_ID = 32, OTLP_SPAN_ID = 16 };

/* What a cell has in the open request: data points, as JSON. */
struct cell_points {
	struct bytes points;
	bool open;
};

struct otlp_push {
	const struct push_job *job;
	struct push_result *result;
	struct address server;
	char headers[2048];
	struct http http;
	struct journal journal;
	struct derive derive;
	struct cell_points *column; /* [ncells] */
	uint32_t *open, nopen;      /* cells with points */
	uint32_t npoints;
	uint32_t node; /* of the open request */
	int64_t until_ns, made_ns;
	char trace[OTLP_TRACE_ID + 1], parent[OTLP_SPAN_ID + 1], root[OTLP_SPAN_ID + 1];
	uint64_t at, sent; /* of the run's spans, the job's is 0 */
	struct bytes body, spans;
	uint32_t nspans;
};

/* A request of one node (0: none in particular) up to its list of metrics or spans, and its end.
 * words: {"resourceSpans", "scopeSpans", "spans"}. */
void otlp_push_begin(struct otlp_push *s, struct json *j, uint32_t node, const char *words[3]);
void otlp_push_end(struct json *j);
/* What was made before, as the next elements of an array. */
void otlp_push_made(struct json *j, const struct bytes *made);
/* To /v1/metrics or /v1/traces. 0 or -errno. */
int otlp_push_post(struct otlp_push *s, const char *path, struct err *e);

/* An attribute, unless the value is NULL or "". A time in ns since 1970. */
void otlp_push_attribute(struct json *j, const char *key, const char *value);
void otlp_push_time(struct json *j, const char *key, int64_t utc_ns);

/* The values that programs gave to counters, as far as they have not arrived. 0 or -errno. */
int otlp_push_counters(struct otlp_push *s, struct err *e);
/* The job and the spans of its programs, as far as they have not arrived. 0 or -errno. */
int otlp_push_spans(struct otlp_push *s, struct err *e);

#endif
