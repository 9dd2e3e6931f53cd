/* SPDX-License-Identifier: Apache-2.0 */
/* table_events.c - marks, spans and refused series: a row for each element of an array of the run.
 */
#include "base/clock.h"
#include "core/frame/frame_table.h"

#include <errno.h>
#include <math.h>

/* The element that has no row yet; of spans behind all of these: the pack, and which in it. */
struct cursor {
	uint32_t next, pack, in_pack;
};

static int events_rewind(struct frame *f)
{
	struct cursor *c = f->state;

	*c = (struct cursor){ 0 };
	return 0;
}

static void events_close(struct frame *f)
{
	(void)f;
}

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for a table");
}

static int marks_open(struct frame *f, const struct selection *sel, struct err *e)
{
	static const struct column columns[] = {
		{ "node", COLUMN_TEXT, "", "Host name.", NULL },
		{ "time", COLUMN_TIME, "", "Wall time (UTC) of the mark.", NULL },
		{ "seconds", COLUMN_REAL, "seconds", "The same, since the run began.", NULL },
		{ "name", COLUMN_TEXT, "", "Name of the mark.", NULL },
		{ "message", COLUMN_TEXT, "", "What was said with it.", NULL },
		{ "instance", COLUMN_TEXT, "", "What it is about; empty: the node.", NULL },
	};

	(void)sel;
	return frame_columns(f, columns, sizeof(columns) / sizeof(columns[0])) ? no_memory(e) : 0;
}

static int marks_fill(struct frame *f, struct err *e)
{
	struct cursor *c = f->state;

	for (; c->next < f->run->nmarks && !frame_full(f); c->next++) {
		const struct run_mark *m = &f->run->marks[c->next];
		const char *key;

		if (!frame_selects(f, m->node, m->at_ns, m->at_ns))
			continue;
		if (frame_key(f, m->instance, &key))
			return no_memory(e);
		frame_row(f);
		frame_text(f, 0, frame_host(f, m->node));
		frame_time(f, 1, m->node, m->at_ns);
		frame_text(f, 3, m->name);
		frame_text(f, 4, m->message);
		frame_text(f, 5, key);
	}
	return 0;
}

static int spans_open(struct frame *f, const struct selection *sel, struct err *e)
{
	static const struct column columns[] = {
		{ "node", COLUMN_TEXT, "", "Host name.", NULL },
		{ "track", COLUMN_TEXT, "", "What it ran on; empty: the node.", NULL },
		{ "name", COLUMN_TEXT, "", "Name of the span.", NULL },
		{ "begin_time", COLUMN_TIME, "", "Wall time (UTC) of its begin.", NULL },
		{ "begin_seconds", COLUMN_REAL, "seconds", "The same, since the run began.", NULL },
		{ "end_time", COLUMN_TIME, "", "Wall time (UTC) of its end; empty: none was seen.",
		  NULL },
		{ "end_seconds", COLUMN_REAL, "seconds", "The same, since the run began.", NULL },
		{ "duration_seconds", COLUMN_REAL, "seconds", "From begin to end.", NULL },
		{ "detail", COLUMN_TEXT, "", "What was said with it.", NULL },
	};

	(void)sel;
	return frame_columns(f, columns, sizeof(columns) / sizeof(columns[0])) ? no_memory(e) : 0;
}

static double duration_seconds(const struct run_span *s)
{
	int64_t ns;

	return __builtin_sub_overflow(s->end_ns, s->begin_ns, &ns) ? NAN : (double)ns / NS_PER_S;
}

static int span_row(struct frame *f, const struct run_span *s, struct err *e)
{
	const char *key;

	if (!frame_selects(f, s->node, s->begin_ns, s->end_ns))
		return 0;
	if (frame_key(f, s->track, &key))
		return no_memory(e);
	frame_row(f);
	frame_text(f, 0, frame_host(f, s->node));
	frame_text(f, 1, key);
	frame_text(f, 2, s->name);
	frame_time(f, 3, s->node, s->begin_ns);
	if (s->end_ns != INT64_MAX) {
		frame_time(f, 5, s->node, s->end_ns);
		frame_real(f, 7, duration_seconds(s));
	}
	frame_text(f, 8, s->detail);
	return 0;
}

/* A pack is larger than a batch, and is unpacked again for each. */
static int packs_fill(struct frame *f, struct cursor *c, struct err *e)
{
	struct run *r = f->run;

	while (c->pack < r->npacks && !frame_full(f)) {
		const struct run_span *span;
		int n = r->unpack(r, c->pack, &span, e), rc = 0;

		if (n < 0)
			return n;
		for (; c->in_pack < (uint32_t)n && !frame_full(f) && !rc; c->in_pack++)
			rc = span_row(f, &span[c->in_pack], e);
		if (rc)
			return rc;
		if (c->in_pack >= (uint32_t)n) {
			c->pack++;
			c->in_pack = 0;
		}
	}
	return 0;
}

static int spans_fill(struct frame *f, struct err *e)
{
	struct cursor *c = f->state;
	int rc = 0;

	for (; c->next < f->run->nspans && !frame_full(f) && !rc; c->next++)
		rc = span_row(f, &f->run->spans[c->next], e);
	return rc ? rc : packs_fill(f, c, e);
}

static int counters_open(struct frame *f, const struct selection *sel, struct err *e)
{
	static const struct column columns[] = {
		{ "node", COLUMN_TEXT, "", "Host name.", NULL },
		{ "process", COLUMN_TEXT, "", "Whose counter it is; empty: the node.", NULL },
		{ "name", COLUMN_TEXT, "", "Name of the counter.", NULL },
		{ "time", COLUMN_TIME, "", "Wall time (UTC) from which on it had the value.",
		  NULL },
		{ "seconds", COLUMN_REAL, "seconds", "The same, since the run began.", NULL },
		{ "value", COLUMN_REAL, "", "Its value, in a unit of its own.", NULL },
	};

	(void)sel;
	return frame_columns(f, columns, sizeof(columns) / sizeof(columns[0])) ? no_memory(e) : 0;
}

static int counters_fill(struct frame *f, struct err *e)
{
	struct cursor *c = f->state;

	for (; c->next < f->run->npoints && !frame_full(f); c->next++) {
		const struct run_point *p = &f->run->points[c->next];
		const struct run_instance *in = &f->run->instances[p->instance];
		const char *key;

		if (!frame_selects(f, in->node, p->at_ns, p->at_ns))
			continue;
		if (frame_key(f, in->parent, &key))
			return no_memory(e);
		frame_row(f);
		frame_text(f, 0, frame_host(f, in->node));
		frame_text(f, 1, key);
		frame_text(f, 2, in->name);
		frame_time(f, 3, in->node, p->at_ns);
		frame_real(f, 5, p->value);
	}
	return 0;
}

static int states_open(struct frame *f, const struct selection *sel, struct err *e)
{
	static const struct column columns[] = {
		{ "node", COLUMN_TEXT, "", "Host name.", NULL },
		{ "metric", COLUMN_TEXT, "", "Name of the metric as stored.", NULL },
		{ "instance", COLUMN_TEXT, "", "Device or process; empty: the node itself.", NULL },
		{ "since_time", COLUMN_TIME, "", "Wall time (UTC) from which on it gave no value.",
		  NULL },
		{ "since_seconds", COLUMN_REAL, "seconds", "The same, since the run began.", NULL },
		{ "state", COLUMN_TEXT, "", "unsupported, forbidden or failed.", NULL },
		{ "reason", COLUMN_TEXT, "", "Why.", NULL },
	};

	(void)sel;
	return frame_columns(f, columns, sizeof(columns) / sizeof(columns[0])) ? no_memory(e) : 0;
}

static int states_fill(struct frame *f, struct err *e)
{
	struct cursor *c = f->state;

	for (; c->next < f->run->nseries && !frame_full(f); c->next++) {
		const struct run_series *s = &f->run->series[c->next];
		struct run_refusal refusal = run_refusal_of(f->run, s);
		const char *key;

		if (s->state <= STATE_PRESENT || s->metric >= f->run->nmetrics ||
		    !frame_selects(f, s->node, refusal.at_ns, INT64_MAX))
			continue;
		if (frame_key(f, s->instance, &key))
			return no_memory(e);
		frame_row(f);
		frame_text(f, 0, frame_host(f, s->node));
		frame_text(f, 1, f->run->metrics[s->metric].row.name);
		frame_text(f, 2, key);
		frame_time(f, 3, s->node, refusal.at_ns);
		frame_text(f, 5, state_name(s->state));
		frame_text(f, 6, refusal.reason);
	}
	return 0;
}

#define EVENTS(what)                                                                               \
	const struct table table_##what = {                                                        \
		.name = #what,                                                                     \
		.size = sizeof(struct cursor),                                                     \
		.open = what##_open,                                                               \
		.fill = what##_fill,                                                               \
		.rewind = events_rewind,                                                           \
		.close = events_close,                                                             \
	}

EVENTS(marks);
EVENTS(spans);
EVENTS(states);
EVENTS(counters);
