/* SPDX-License-Identifier: Apache-2.0 */
#include "import/scanner.h"

#include "core/phase/mark.h"
#include "recording/format.h"
#include "recording/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { EVENTS_MAX = 4096, EVENTS_FLUSH = 512 };

/* Rows of no time are left out by the writer, and what was said with them stays. */
enum { NO_TIME = -1 };

struct writing {
	struct scanner_node *n;
	struct writer *w;
	struct sample sample;
	int64_t at_ns, end_ns; /* since the job began */
	const struct scanner_thread *thread;
	uint32_t track, nnames;
	const char *names[SCANNER_KEYS];
	int64_t value[SCANNER_METRICS];
	uint64_t known; /* counters */
	int rc;
	struct err *e;
};

static void take_fault(void *ctx, uint64_t offset, bool lost, const char *what)
{
	struct writing *x = ctx;

	x->n->fault(x->n->ctx, offset, lost, what);
}

/* What was said so far, with a row of that time. */
static int flush(struct writing *x, int64_t at_ns)
{
	sample_begin(&x->sample, x->n->base_utc + at_ns, at_ns);
	return writer_sample(x->w, &x->sample, x->e);
}

static void take_times(void *ctx, int64_t begin_ns, int64_t end_ns)
{
	struct writing *x = ctx;
	struct sample *s = &x->sample;
	int64_t base = x->n->base_utc;
	bool known = begin_ns >= base && end_ns >= begin_ns && end_ns - base <= MONO_MAX;

	sample_meta_int(s, SCANNER_BEGIN, begin_ns);
	sample_meta_int(s, SCANNER_END, end_ns);
	x->at_ns = known ? begin_ns - base : NO_TIME;
	x->end_ns = known ? end_ns - base : NO_TIME;
	if (!known)
		take_fault(x, 0, false,
			   "it begins before the job or ends before it begins: its total time is "
			   "not known");
}

static void take_chains(void *ctx, unsigned pipelines, unsigned stages)
{
	struct writing *x = ctx;

	(void)pipelines;
	sample_meta_int(&x->sample, SCANNER_STAGES, stages);
}

static void name_thread(const struct scanner_thread *t, char *out, size_t size)
{
	switch (t->place) {
	case SCANNER_LOAD:
		snprintf(out, size, "Reader[%" PRId64 "]", t->number);
		break;
	case SCANNER_SAVE:
		snprintf(out, size, "Writer[%" PRId64 "]", t->number);
		break;
	case SCANNER_EVAL:
		if (t->group >= 0)
			snprintf(out, size, "Pipeline[%" PRId64 "]:Ops[%d]", t->number, t->group);
		else
			snprintf(out, size, "Pipeline[%" PRId64 "]:%s", t->number,
				 strcmp(t->tag, "pre") ? "EncodeVideo" : "DecodeVideo");
		break;
	default:
		snprintf(out, size, "EventLoop");
		break;
	}
}

static void list_names(struct writing *x)
{
	x->nnames = 0;
	for (unsigned i = 0; i < SCANNER_KEYS; i++) {
		x->names[i] = x->thread->key[i];
		if (x->names[i])
			x->nnames = i + 1;
	}
}

static int take_thread(void *ctx, const struct scanner_thread *t)
{
	struct writing *x = ctx;
	struct sample *s = &x->sample;
	char text[64];
	int rc = s->nevents > EVENTS_FLUSH ? flush(x, x->at_ns) : 0;

	x->thread = t;
	x->known = 0;
	list_names(x);
	name_thread(t, text, sizeof text);
	x->track = sample_instance(s, SCANNER_DOMAIN, text, 0, 0, 0);
	sample_label(s, x->track, SCANNER_KIND, t->type);
	sample_label(s, x->track, SCANNER_TAG, t->tag);
	snprintf(text, sizeof text, "%" PRId64, t->number);
	sample_label(s, x->track, SCANNER_NUMBER, text);
	return rc;
}

static int take_intervals(void *ctx, const struct scanner_intervals *i)
{
	struct writing *x = ctx;
	const struct spans spans = { .track = x->track,
				     .n = i->n,
				     .nnames = x->nnames,
				     .names = x->names,
				     .name = i->key,
				     .begin_ns = i->begin_ns,
				     .end_ns = i->end_ns };

	x->n->spans += i->n;
	return writer_spans(x->w, &spans, x->e);
}

static void take_counter(void *ctx, const char *name, int64_t value)
{
	struct writing *x = ctx;
	char key[SCANNER_TEXT_MAX + sizeof SCANNER_COUNTER], text[32];

	for (unsigned i = 0; i < SCANNER_METRICS; i++)
		if (!strcmp(scanner_metrics[i].label, name)) {
			x->value[i] = value;
			x->known |= UINT64_C(1) << i;
			return;
		}
	snprintf(key, sizeof key, SCANNER_COUNTER "%s", name);
	snprintf(text, sizeof text, "%" PRId64, value);
	sample_label(&x->sample, x->track, key, text);
	if (x->sample.nevents > EVENTS_FLUSH && !x->rc)
		x->rc = flush(x, x->at_ns);
}

static int take_thread_end(void *ctx)
{
	struct writing *x = ctx;

	for (unsigned i = 0; i < SCANNER_METRICS; i++)
		if (x->known >> i & 1)
			sample_final(&x->sample, x->track, &scanner_metrics[i], 1, &x->value[i], 1);
	return x->rc;
}

static void say_node(struct writing *x)
{
	const struct scanner_node *n = x->n;
	struct sample *s = &x->sample;
	char id[32];

	sample_clock(s, 0, n->base_utc, -1, false);
	sample_meta_text(s, "import.from", n->from);
	sample_meta_text(s, "node.host", n->host);
	sample_meta_int(s, SCANNER_NODE, n->number);
	snprintf(id, sizeof id, "%" PRId64, n->job);
	sample_meta_text(s, SCANNER_JOB, id);
	if (n->job_name)
		sample_meta_text(s, SCANNER_NAME, n->job_name);
}

/* The last row says when the node ended. */
static int finish(struct writing *x, int rc)
{
	if (!rc)
		rc = flush(x, x->at_ns);
	if (!rc && x->end_ns > x->at_ns)
		rc = flush(x, x->end_ns);
	return rc;
}

int scanner_node_import(struct scanner_node *n, int profile, int dirfd, struct err *e)
{
	const struct writer_options o = { .sync_ns = 0 };
	struct writing x = { .n = n, .at_ns = NO_TIME, .end_ns = NO_TIME, .e = e };
	const struct scanner_visitor v = { .ctx = &x,
					   .times = take_times,
					   .chains = take_chains,
					   .thread = take_thread,
					   .intervals = take_intervals,
					   .counter = take_counter,
					   .thread_end = take_thread_end,
					   .fault = take_fault };
	struct writer_figures figures;
	int rc = sample_init(&x.sample, 16, EVENTS_MAX);

	if (rc)
		return err_set(e, rc, "out of memory for a node");
	rc = writer_open(&x.w, dirfd, n->host, &o, e);
	if (!rc) {
		say_node(&x);
		rc = scanner_profile_read(profile, n->number == SCANNER_MASTER_NODE, &v);
		if (rc && !e->text[0])
			err_set(e, rc, "%s: %s", n->host, strerror(-rc));
		rc = finish(&x, rc);
		writer_figures(x.w, &figures);
		snprintf(n->name, sizeof n->name, "%s", figures.name);
		if (rc)
			writer_close(x.w, NULL);
		else
			rc = writer_close(x.w, e);
	}
	sample_free(&x.sample);
	return rc;
}
