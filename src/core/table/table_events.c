/* SPDX-License-Identifier: Apache-2.0 */
/* table_events.c - marks, spans and refused series: a row for each element of an array of the run.
 */
#include "base/clock.h"
#include "base/text/number.h"
#include "core/frame/frame_table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
		COLUMN_NODE,
		{ "time", COLUMN_TIME, "", "Wall time (UTC) of the mark.", NULL },
		COLUMN_SINCE("seconds"),
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
		COLUMN_NODE,
		COLUMN_TRACK,
		{ "name", COLUMN_TEXT, "", "Name of the span.", NULL },
		COLUMN_BEGIN,
		COLUMN_SINCE("begin_seconds"),
		COLUMN_END,
		COLUMN_SINCE("end_seconds"),
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
		COLUMN_NODE,
		{ "process", COLUMN_TEXT, "", "Whose counter it is; empty: the node.", NULL },
		{ "name", COLUMN_TEXT, "", "Name of the counter.", NULL },
		{ "time", COLUMN_TIME, "", "Wall time (UTC) from which on it had the value.",
		  NULL },
		COLUMN_SINCE("seconds"),
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
		COLUMN_NODE,
		{ "metric", COLUMN_TEXT, "", "Name of the metric as stored.", NULL },
		COLUMN_INSTANCE,
		{ "since_time", COLUMN_TIME, "", "Wall time (UTC) from which on it gave no value.",
		  NULL },
		COLUMN_SINCE("since_seconds"),
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

/* What came and went, a row each: its life, its labels, its counters at the
 * end. */

enum { NODE = 0, INSTANCE, NAME, PARENT, BIRTH, BIRTH_SECONDS, END, END_SECONDS, FIRST_LABEL };
enum { LABELS_MAX = 16 };

static const struct column columns[] = {
	[NODE] = COLUMN_NODE,
	[INSTANCE] = { "instance", COLUMN_TEXT, "", "What the series table calls it.", NULL },
	[NAME] = { "name", COLUMN_TEXT, "", "Its name.", NULL },
	[PARENT] = { "parent", COLUMN_TEXT, "", "The instance it came from; empty: not known.",
		     NULL },
	[BIRTH] = { "birth_time", COLUMN_TIME, "", "Wall time (UTC) of its start.", NULL },
	[BIRTH_SECONDS] = COLUMN_SINCE("birth_seconds"),
	[END] = COLUMN_END,
	[END_SECONDS] = COLUMN_SINCE("end_seconds"),
};

/* The last reading of a series, which stands in for the final value. */
struct last {
	uint32_t instance, metric;
	int64_t value, mono_ns;
};

struct instances {
	const char *domain;
	uint32_t next; /* instance that has no row yet */
	const char *label[LABELS_MAX];
	bool whole[LABELS_MAX]; /* it is a whole number */
	uint32_t nlabels;
	uint32_t *column; /* [nmetrics]; 0: not in this table */
	struct last *last;
	uint32_t nlast;
};

static bool is_mine(const struct frame *f, const struct instances *t, uint32_t id)
{
	const char *domain = id < f->run->ninstances ? f->run->instances[id].domain : NULL;

	return id && domain && !strcmp(domain, t->domain);
}

static bool is_whole(const char *key)
{
	static const char *const keys[] = { "pid", "tid", "rank", "exit_code", "signal" };

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (strcmp(keys[i], key) == 0)
			return true;
	return false;
}

static void add_label(struct instances *t, const char *key)
{
	for (uint32_t i = 0; i < t->nlabels; i++)
		if (!strcmp(t->label[i], key))
			return;
	if (t->nlabels == LABELS_MAX)
		return;
	t->whole[t->nlabels] = is_whole(key);
	t->label[t->nlabels++] = key;
}

/* Which labels and metrics there are; a metric's column is not known yet, but not 0. */
static void find_columns(struct frame *f, struct instances *t)
{
	const struct run *r = f->run;

	for (uint32_t id = 1; id < r->ninstances; id++) {
		const struct run_instance *i = &r->instances[id];

		for (uint32_t l = 0; is_mine(f, t, id) && l < i->nlabels; l++)
			add_label(t, r->labels[i->first_label + l].key);
		for (uint32_t n = 0; is_mine(f, t, id) && n < i->nfinals; n++)
			t->column[r->finals[i->first_final + n].metric] = 1;
	}
	for (uint32_t i = 0; i < t->nlast; i++)
		t->column[t->last[i].metric] = 1;
}

static int add_columns(struct frame *f, struct instances *t)
{
	int rc = frame_columns(f, columns, FIRST_LABEL);

	for (uint32_t i = 0; i < t->nlabels && !rc; i++)
		rc = frame_column(f, &(struct column){ t->label[i],
						       t->whole[i] ? COLUMN_INT : COLUMN_TEXT, "",
						       "Label.", NULL });
	for (uint32_t m = 1; m < f->run->nmetrics && !rc; m++) {
		const struct metric *row = &f->run->metrics[m].row;

		if (!t->column[m])
			continue;
		t->column[m] = f->ncolumns;
		rc = frame_column(f, &(struct column){ row->name, COLUMN_REAL, unit_name(row->unit),
						       row->help, kind_name(row->kind) });
	}
	return rc;
}

/* Whether the last reading of a series is worth a cell: counters only grow, and so do peaks, gauges
 * of which the largest counts. */
static bool grows(const struct frame *f, const struct instances *t, const struct run_series *s)
{
	const struct metric *m =
		s->metric < f->run->nmetrics ? &f->run->metrics[s->metric].row : NULL;

	return m && s->metric && is_mine(f, t, s->instance) &&
	       (m->kind == KIND_COUNTER || m->kind == KIND_TOTAL ||
		m->over_instances == COMBINE_MAX);
}

static int by_instance(const void *a, const void *b)
{
	const struct last *x = a, *y = b;

	if (x->instance != y->instance)
		return x->instance < y->instance ? -1 : 1;
	return (x->mono_ns > y->mono_ns) - (x->mono_ns < y->mono_ns);
}

/* The footers of the chunks give them without decoding. First a place for each series, then sorted.
 */
static int read_last(struct frame *f, struct instances *t, struct err *e)
{
	struct run *run = f->run;
	const struct range *r;
	uint32_t n;
	int rc = run->rewind(run);

	while (!rc && (rc = run->next_ranges(run, &r, &n, e)) > 0) {
		for (rc = 0; n; n--, r++) {
			const struct run_series *s =
				r->series < run->nseries ? &run->series[r->series] : NULL;

			if (s && r->count && grows(f, t, s))
				t->last[r->series] = (struct last){ s->instance, s->metric, r->last,
								    r->last_ns };
		}
	}
	for (uint32_t i = 0; i < run->nseries; i++)
		if (t->last[i].instance)
			t->last[t->nlast++] = t->last[i];
	qsort(t->last, t->nlast, sizeof(*t->last), by_instance);
	return rc;
}

static const char *table_name(const char *domain)
{
	static const struct {
		const char *domain, *name;
	} rows[] = { { "process", "processes" }, { "command", "commands" } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(rows[i].domain, domain))
			return rows[i].name;
	return "instances";
}

static int instances_open(struct frame *f, const struct selection *sel, struct err *e)
{
	struct instances *t = f->state;
	int rc;

	t->domain = sel->domain ? sel->domain : "process";
	f->schema.table = table_name(t->domain);
	t->column = calloc(f->run->nmetrics + 1u, sizeof(*t->column));
	t->last = calloc(f->run->nseries + 1u, sizeof(*t->last));
	if (!t->column || !t->last)
		return err_set(e, -ENOMEM, "out of memory for a table");
	rc = read_last(f, t, e);
	if (rc)
		return rc;
	find_columns(f, t);
	return add_columns(f, t) ? err_set(e, -ENOMEM, "out of memory for a table") : 0;
}

static void put_metric(struct frame *f, const struct instances *t, uint32_t metric, int64_t stored)
{
	if (t->column[metric] >= FIRST_LABEL)
		frame_real(f, t->column[metric],
			   metric_value(&f->run->metrics[metric].row, stored));
}

/* Final values come last, since they are the better ones. */
static void put_metrics(struct frame *f, const struct instances *t, uint32_t id)
{
	const struct run_instance *i = &f->run->instances[id];
	const struct run_final *final = f->run->finals + i->first_final;
	uint32_t low = 0, high = t->nlast;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (t->last[middle].instance < id)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < t->nlast && t->last[low].instance == id; low++)
		put_metric(f, t, t->last[low].metric, t->last[low].value);
	for (uint32_t n = 0; n < i->nfinals; n++)
		put_metric(f, t, final[n].metric, final[n].value);
}

/* A number that is none is not known. */
static void put_label(struct frame *f, const struct instances *t, uint32_t id, uint32_t l)
{
	const char *text = run_label(f->run, id, t->label[l]);
	int64_t number;

	if (!t->whole[l])
		frame_text(f, FIRST_LABEL + l, text);
	else if (text && number_i64(&text, &number) && !*text)
		frame_int(f, FIRST_LABEL + l, number);
}

static int put_row(struct frame *f, const struct instances *t, uint32_t id)
{
	const struct run_instance *i = &f->run->instances[id];
	const char *key, *parent;

	if (frame_key(f, id, &key) || frame_key(f, i->parent, &parent))
		return -ENOMEM;
	frame_row(f);
	frame_text(f, NODE, frame_host(f, i->node));
	frame_text(f, INSTANCE, key);
	frame_text(f, NAME, i->name);
	frame_text(f, PARENT, parent);
	frame_time(f, BIRTH, i->node, i->birth_ns);
	if (i->end_ns != INT64_MAX)
		frame_time(f, END, i->node, i->end_ns);
	for (uint32_t l = 0; l < t->nlabels; l++)
		put_label(f, t, id, l);
	put_metrics(f, t, id);
	return 0;
}

static int instances_fill(struct frame *f, struct err *e)
{
	struct instances *t = f->state;

	for (; t->next < f->run->ninstances && !frame_full(f); t->next++) {
		const struct run_instance *i = &f->run->instances[t->next];

		if (!is_mine(f, t, t->next) || !frame_selects(f, i->node, i->birth_ns, i->end_ns))
			continue;
		if (put_row(f, t, t->next))
			return err_set(e, -ENOMEM, "out of memory for the names of processes");
	}
	return 0;
}

static int instances_rewind(struct frame *f)
{
	struct instances *t = f->state;

	t->next = 0;
	return 0;
}

static void instances_close(struct frame *f)
{
	struct instances *t = f->state;

	free(t->column);
	free(t->last);
}

const struct table table_instances = {
	.name = "instances",
	.size = sizeof(struct instances),
	.open = instances_open,
	.fill = instances_fill,
	.rewind = instances_rewind,
	.close = instances_close,
};
