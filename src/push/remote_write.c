/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote_write.c - a run as Prometheus' remote write 1.0: Protocol Buffers, Snappy, POST.
 *
 * Names and labels are those of the OpenMetrics export: the node and the device, and what --labels
 * adds. A node's samples come in the order of time, as receivers want them; up to when they have
 * arrived is in the journal, node by node, so that the push of a running job goes on later. What
 * was on its way when a push was killed is sent again: the same value of the same time is no other.
 */
#include "push/remote_write.h"

#include "base/clock.h"
#include "base/text/escape.h"
#include "core/frame/derive.h"
#include "push/http.h"
#include "push/journal.h"
#include "push/push.h"
#include "sink/openmetrics.h"
#include "sink/protobuf.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define URL_VARIABLE "SONDE_REMOTE_WRITE_URL"

/* WriteRequest, TimeSeries, Label, Sample of prometheus' types.proto. */
enum {
	SERIES = 1,
	LABELS = 1,
	SAMPLES = 2,
	NAME = 1,
	VALUE = 2,
	SAMPLE_VALUE = 1,
	SAMPLE_TIME = 2
};
enum { SAMPLES_A_REQUEST = 5000, TIMEOUT_S = 60, LABELS_MAX = 16, MESSAGE = 200 };

struct label {
	char name[64], value[256];
};

/* What a cell has in the open request. */
struct cell_samples {
	struct bytes labels;  /* made once; empty: not yet */
	struct bytes samples; /* Sample fields of a TimeSeries */
	int64_t last_ms;      /* of what was put last */
	bool open;
};

struct writing {
	const struct push_job *job;
	struct push_result *result;
	struct address server;
	struct http http;
	struct journal journal;
	struct derive derive;
	struct cell_samples *column; /* [ncells] */
	uint32_t *open, nopen;       /* cells with samples */
	uint32_t nsamples;
	struct label label[LABELS_MAX];
	uint32_t nlabels;
	uint32_t node;      /* of the open request */
	uint32_t *first;    /* [nnodes] first recording of its host */
	uint32_t recording; /* which of its host's the node is, by their beginnings; from 1 */
	int64_t until_ns;   /* wall time of what has arrived of it; 0: nothing */
	int64_t sending_ns; /* up to when the request was that may have arrived */
	int64_t made_ns;    /* of what is in the open request */
	struct bytes message, series, inner, body;
};

/* ---- labels ---- */

static void put_label(struct writing *w, const char *name, const char *value)
{
	struct bytes text = { 0 };

	escape_utf8(&text, value);
	bytes_u8(&text, 0);
	protobuf_text(&w->inner, NAME, name);
	protobuf_text(&w->inner, VALUE, text.failed ? "" : (const char *)text.data);
	w->inner.failed |= text.failed;
	bytes_free(&text);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct label *)a)->name, ((const struct label *)b)->name);
}

/* Sorted by name, as the protocol has it. */
static int make_labels(struct writing *w, uint32_t cell, struct err *e)
{
	const struct plan *p = &w->derive.plan;
	const struct cell *c = &p->cell[cell];
	const struct holder *h = &p->holder[c->holder];
	const char *metric = p->quantity[c->quantity].name;
	struct bytes *labels = &w->column[cell].labels, name = { 0 };
	struct label all[LABELS_MAX + 4];
	uint32_t n = w->nlabels;

	memcpy(all, w->label, n * sizeof *all);
	openmetrics_name(&name, metric);
	bytes_u8(&name, 0);
	snprintf(all[n].name, sizeof all->name, "__name__");
	snprintf(all[n++].value, sizeof all->value, "%s", name.failed ? "" : (char *)name.data);
	snprintf(all[n].name, sizeof all->name, "node");
	snprintf(all[n++].value, sizeof all->value, "%s",
		 w->job->run->nodes[h->node].host ? w->job->run->nodes[h->node].host : "");
	if (w->recording > 1) { /* of another step, or begun anew: series of its own */
		snprintf(all[n].name, sizeof all->name, "recording");
		snprintf(all[n++].value, sizeof all->value, "%u", w->recording);
	}
	if (h->instance) {
		bytes_reset(&name);
		openmetrics_label(&name, metric);
		bytes_u8(&name, 0);
		snprintf(all[n].name, sizeof all->name, "%s",
			 name.failed ? "x" : (char *)name.data);
		snprintf(all[n++].value, sizeof all->value, "%s",
			 w->job->run->instances[h->instance].name);
	}
	qsort(all, n, sizeof *all, by_name);
	for (uint32_t i = 0; i < n; i++) {
		put_label(w, all[i].name, all[i].value);
		protobuf_message(labels, LABELS, &w->inner);
	}
	labels->failed |= name.failed;
	bytes_free(&name);
	return labels->failed ? err_set(e, -ENOMEM, "out of memory for labels") : 0;
}

/* "cluster=a,job_id=4711". */
static int read_labels(struct writing *w, struct err *e)
{
	static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

	for (const char *at = w->job->labels ? w->job->labels : ""; *at;) {
		struct label *l = &w->label[w->nlabels];
		size_t n = strcspn(at, ","), name = strspn(at, letters);

		if (w->nlabels == LABELS_MAX || !strspn(at, first) || at[name] != '=' ||
		    name >= sizeof l->name || n - name > sizeof l->value || !strncmp(at, "__", 2) ||
		    (name == 4 && !memcmp(at, "node", 4)) ||
		    (name == 9 && !memcmp(at, "recording", 9)))
			return err_set(
				e, -EINVAL,
				"--labels takes NAME=VALUE,... with names of letters, digits "
				"and _, but not node or recording, and at most %d of them",
				LABELS_MAX);
		snprintf(l->name, sizeof l->name, "%.*s", (int)name, at);
		snprintf(l->value, sizeof l->value, "%.*s", (int)(n - name - 1), at + name + 1);
		w->nlabels++;
		at += n + (at[n] == ',');
	}
	return 0;
}

/* ---- requests ---- */

static int refusal(const struct writing *w, const struct http_answer *a, struct err *e)
{
	const char *hint = "";
	size_t line = strcspn(a->text, "\r\n");

	if (a->status == 401 || a->status == 403)
		hint = "; " URL_VARIABLE " has the user and password, or SONDE_REMOTE_WRITE_TOKEN";
	else if (a->status == 400 && a->length && strstr(a->text, "out of bounds"))
		hint = "; Prometheus takes recent samples only: an old job is `sonde export --to "
		       "openmetrics` and promtool";
	else if (a->status == 400 && a->length && strstr(a->text, "out of order"))
		hint = "; it has newer samples of these series: --labels distinguishes this job";
	else if (a->status == 404)
		hint = "; is that the address of the receiver, as http://host:9090/api/v1/write?";
	return err_set(e, -EPROTO, "%.150s refuses with status %u: %.*s%s", w->server.shown,
		       a->status, (int)(line < MESSAGE ? line : MESSAGE), a->text, hint);
}

static void put_series(struct writing *w)
{
	bytes_reset(&w->message);
	for (uint32_t i = 0; i < w->nopen; i++) {
		struct cell_samples *c = &w->column[w->open[i]];

		bytes_reset(&w->series);
		bytes_put(&w->series, c->labels.data, c->labels.len);
		bytes_put(&w->series, c->samples.data, c->samples.len);
		w->series.failed |= c->samples.failed;
		protobuf_message(&w->message, SERIES, &w->series);
		bytes_reset(&c->samples);
		c->open = false;
	}
	w->nopen = 0;
}

/* How far a word of the journal ("until", "sending") says that the node's samples are. */
static int64_t noted(const struct writing *w, const char *word)
{
	char key[PUSH_KEY];

	push_node_key(w->job->run, w->node, word, key);
	return (int64_t)journal_number(&w->journal, key);
}

static int note(struct writing *w, const char *word, int64_t until_ns, struct err *e)
{
	char key[PUSH_KEY];

	push_node_key(w->job->run, w->node, word, key);
	return journal_set_number(&w->journal, key, (uint64_t)until_ns, e);
}

/* What is refused is not on its way: the next push is not to take it for a request sent before. */
static int refused(struct writing *w, const struct http_answer *a, struct err *e)
{
	int rc = note(w, "sending", 0, e);

	return rc ? rc : refusal(w, a, e);
}

/* Of a request that was sent before. */
static bool has_it(const struct http_answer *a)
{
	return a->status == 400 &&
	       (strstr(a->text, "out of order") || strstr(a->text, "duplicate"));
}

static int flush(struct writing *w, struct err *e)
{
	const char *(*variable)(const char *) = w->job->variable;
	struct http_request q = {
		.method = "POST",
		.url = w->server.url,
		.user = w->server.user[0] ? w->server.user : NULL,
		.password = w->server.password,
		.token = variable("SONDE_REMOTE_WRITE_TOKEN"),
		.content_type = "application/x-protobuf",
		.encoding = "snappy",
		.header = "X-Prometheus-Remote-Write-Version: 0.1.0",
		.timeout_s = TIMEOUT_S,
	};
	uint64_t before = w->http.requests;
	struct http_body body = { 0 };
	struct http_answer a;
	int rc;

	if (!w->nsamples)
		return 0;
	put_series(w);
	bytes_reset(&w->body);
	if (!w->message.failed)
		snappy_put(&w->body, w->message.data, w->message.len);
	if (w->message.failed || w->body.failed)
		return err_set(e, -ENOMEM, "out of memory for a request");
	body = (struct http_body){ w->body.data, -1, w->body.len };
	rc = w->made_ns == w->sending_ns ? 0 : note(w, "sending", w->made_ns, e);
	if (!rc)
		rc = http_ask_patiently(&w->http, &q, &body, &a, e);
	if (!rc && (a.status < 200 || a.status >= 300) &&
	    !((w->made_ns == w->sending_ns || w->http.requests > before + 1) && has_it(&a)))
		rc = refused(w, &a, e);
	if (!rc)
		rc = note(w, "until", w->made_ns, e);
	if (!rc)
		w->result->values += w->nsamples;
	if (!rc)
		w->until_ns = w->made_ns;
	w->result->kept |= !rc;
	w->nsamples = 0;
	return rc;
}

/* ---- samples ---- */

static int put_sample(struct writing *w, uint32_t cell, double value, int64_t ms, struct err *e)
{
	struct cell_samples *c = &w->column[cell];
	int rc = c->labels.len ? 0 : make_labels(w, cell, e);

	if (rc || ms <= c->last_ms) /* two readings of one millisecond: the first one counts */
		return rc;
	if (!c->open) {
		c->open = true;
		w->open[w->nopen++] = cell;
	}
	c->last_ms = ms;
	protobuf_real(&w->inner, SAMPLE_VALUE, value);
	protobuf_number(&w->inner, SAMPLE_TIME, (uint64_t)ms);
	protobuf_message(&c->samples, SAMPLES, &w->inner);
	w->nsamples++;
	return 0;
}

static bool lasts(const struct plan *p, uint32_t cell, const struct run *r)
{
	const struct holder *h = &p->holder[p->cell[cell].holder];

	return !h->instance || !instance_passes(&r->instances[h->instance]);
}

static uint32_t which_recording(const struct writing *w, uint32_t node)
{
	const struct run *r = w->job->run;
	double begin = run_seconds(r, node, r->nodes[node].first_ns);
	uint32_t n = 1;

	for (uint32_t i = 1; i < r->nnodes; i++)
		if (w->first[i] == w->first[node] && r->nodes[i].rows && i != node) {
			double other = run_seconds(r, i, r->nodes[i].first_ns);

			n += other < begin || (other == begin && i < node);
		}
	return n;
}

static void begin_node(struct writing *w, uint32_t node)
{
	w->node = node;
	w->recording = which_recording(w, node);
	w->until_ns = noted(w, "until");
	w->sending_ns = noted(w, "sending");
}

static int put_instant(struct writing *w, const struct instant *in, struct err *e)
{
	int rc = in->node == w->node ? 0 : flush(w, e);

	if (!rc && in->node != w->node)
		begin_node(w, in->node);
	if (rc || in->utc_ns <= w->until_ns)
		return rc;
	for (uint32_t i = 0; i < in->n && !rc; i++)
		if (lasts(&w->derive.plan, in->cell[i], w->job->run))
			rc = put_sample(w, in->cell[i], in->value[i], in->utc_ns / NS_PER_MS, e);
	w->made_ns = in->utc_ns;
	if (w->sending_ns > w->until_ns) /* as that request was */
		return rc || w->made_ns < w->sending_ns ? rc : flush(w, e);
	return rc || w->nsamples < SAMPLES_A_REQUEST ? rc : flush(w, e);
}

static int send_run(struct writing *w, struct err *e)
{
	const struct selection sel = { .metrics = w->job->metrics, .lasting = true };
	const struct run *r = w->job->run;
	struct instant in;
	int rc = derive_open(&w->derive, w->job->run, &sel, e);

	if (rc)
		return rc;
	w->column = calloc(w->derive.plan.ncells + 1u, sizeof *w->column);
	w->open = calloc(w->derive.plan.ncells + 1u, sizeof *w->open);
	w->first = calloc(r->nnodes + 1u, sizeof *w->first);
	if (!w->column || !w->open || !w->first || run_hosts(r, w->first))
		return err_set(e, -ENOMEM, "out of memory for %u series", r->nseries);
	while ((rc = derive_next(&w->derive, &in, e)) > 0)
		if ((rc = put_instant(w, &in, e)))
			return rc;
	return rc ? rc : flush(w, e);
}

static int understand(struct writing *w, struct err *e)
{
	const char *url = w->job->url ? w->job->url : w->job->variable(URL_VARIABLE);

	if (!url)
		return err_set(e, -EINVAL,
			       "where is the receiver? " URL_VARIABLE " or --url says it");
	return address_parse(&w->server, url, w->job->url ? "--url" : URL_VARIABLE, e);
}

static void close_all(struct writing *w)
{
	for (uint32_t i = 0; w->column && i < w->derive.plan.ncells; i++) {
		bytes_free(&w->column[i].labels);
		bytes_free(&w->column[i].samples);
	}
	derive_close(&w->derive);
	http_close(&w->http);
	journal_close(&w->journal);
	free(w->column);
	free(w->open);
	free(w->first);
	bytes_free(&w->message);
	bytes_free(&w->series);
	bytes_free(&w->inner);
	bytes_free(&w->body);
}

static int remote_write_exec(const struct push_job *job, struct push_result *r, struct err *e)
{
	struct writing w = { .job = job, .result = r, .journal.fd = -1 };
	char target[ADDRESS_MAX + 1024];
	int rc = understand(&w, e);

	if (!rc)
		rc = read_labels(&w, e);
	snprintf(target, sizeof target, "%s %.900s", w.server.shown,
		 job->labels ? job->labels : "");
	if (!rc)
		rc = journal_open(&w.journal, job->state, "remote-write", target, e);
	if (!rc)
		rc = http_open(&w.http, &w.server, job->patience_ns, e);
	snprintf(r->where, sizeof r->where, "%.400s", w.server.shown);
	if (!rc)
		rc = send_run(&w, e);
	r->requests = w.http.requests;
	r->nothing_new = !rc && !w.http.requests;
	close_all(&w);
	return rc;
}

const struct push push_remote_write = {
	.name = "remote-write",
	.what = "a receiver of Prometheus' remote write: " URL_VARIABLE,
	.follows = true,
	.exec = remote_write_exec,
};

enum { LITERAL = 0, COPY_2 = 2, BLOCK = 65536, SHORT_LITERAL = 60, COPY_MAX = 64, HASH_BITS = 13 };

static void put_literal(struct bytes *out, const uint8_t *from, size_t n)
{
	if (!n)
		return;
	if (n <= SHORT_LITERAL) {
		bytes_u8(out, (uint8_t)((n - 1) << 2 | LITERAL));
	} else { /* the length in two bytes: a block has no more */
		bytes_u8(out, (uint8_t)((SHORT_LITERAL + 1) << 2 | LITERAL));
		bytes_u8(out, (uint8_t)((n - 1) & 0xff));
		bytes_u8(out, (uint8_t)((n - 1) >> 8));
	}
	bytes_put(out, from, n);
}

static void put_copy(struct bytes *out, size_t offset, size_t n)
{
	while (n) {
		size_t part = n < COPY_MAX ? n : COPY_MAX;

		bytes_u8(out, (uint8_t)((part - 1) << 2 | COPY_2));
		bytes_u8(out, (uint8_t)(offset & 0xff));
		bytes_u8(out, (uint8_t)(offset >> 8));
		n -= part;
	}
}

static uint32_t four(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

/* Copies never reach out of the block, so that an offset fits two bytes. */
static void put_block(struct bytes *out, const uint8_t *data, size_t n)
{
	uint16_t table[1 << HASH_BITS] = { 0 }; /* where four bytes of this hash were last */
	size_t literal = 0, at = 1;

	while (at + 4 <= n) {
		uint32_t v = four(data + at), hash = v * UINT32_C(0x1e35a7bd) >> (32 - HASH_BITS);
		size_t before = table[hash], length = 4;

		table[hash] = (uint16_t)at;
		if (before >= at || four(data + before) != v) {
			at++;
			continue;
		}
		while (at + length < n && data[before + length] == data[at + length])
			length++;
		put_literal(out, data + literal, at - literal);
		put_copy(out, at - before, length);
		at += length;
		literal = at;
	}
	put_literal(out, data + literal, n - literal);
}

void snappy_put(struct bytes *out, const uint8_t *data, size_t n)
{
	bytes_varint(out, n);
	for (size_t at = 0; at < n; at += BLOCK)
		put_block(out, data + at, n - at < BLOCK ? n - at : BLOCK);
}
