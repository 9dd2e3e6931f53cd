/* SPDX-License-Identifier: Apache-2.0 */
/* table_tidy.c - the series, a row for each value that was there. */
#include "core/table_series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NODE = 0, METRIC, INSTANCE, TIME, SECONDS, VALUE, UNIT, KIND, MIN, MAX };

static const struct column columns[] = {
	[NODE] = { "node", COLUMN_TEXT, "", "Host name.", NULL },
	[METRIC] = { "metric", COLUMN_TEXT, "", "Name of the metric, or of its rate.", NULL },
	[INSTANCE] = { "instance", COLUMN_TEXT, "", "Device or process; empty: the node itself.",
		       NULL },
	[TIME] = { "time", COLUMN_TIME, "",
		   "Wall time (UTC) of the reading, or of the window's begin.", NULL },
	[SECONDS] = { "seconds", COLUMN_REAL, "seconds", "The same, since the run began.", NULL },
	[VALUE] = { "value", COLUMN_REAL, "", "The value; the time-weighted mean of a window.",
		    NULL },
	[UNIT] = { "unit", COLUMN_TEXT, "", "Unit of the value.", NULL },
	[KIND] = { "kind", COLUMN_TEXT, "", "counter: grows; gauge: rates included; state: a code.",
		   NULL },
	[MIN] = { "min", COLUMN_REAL, "", "Smallest value in the window.", NULL },
	[MAX] = { "max", COLUMN_REAL, "", "Largest value in the window.", NULL },
};

/* What the texts of a cell's rows are; metric NULL: not asked for yet. */
struct label {
	const char *metric, *instance, *unit, *kind;
};

/* The same of the cells that a layout lists, side by side, so that they are copied. */
struct side {
	uint32_t layout, cap;
	const char **metric, **instance, **unit, **kind;
	uint8_t *there; /* enum state of the instance */
};

struct tidy {
	struct series series;
	struct instant at;
	uint32_t next;          /* reading of `at` that has no row yet */
	struct column *metrics; /* of the schema */
	struct label *label;    /* [ncells] */
	struct side side;
};

/* What the metric column may say; and room for what the rows say. */
static int list_metrics(struct frame *f, struct tidy *t)
{
	const struct plan *p = &t->series.derive.plan;

	t->metrics = calloc(p->run->nmetrics, sizeof(*t->metrics));
	t->label = calloc(p->ncells, sizeof(*t->label));
	if (!t->metrics || !t->label)
		return -ENOMEM;
	f->schema.metrics = t->metrics;
	for (uint32_t i = 1; i < p->run->nmetrics; i++) {
		const struct quantity *q = &p->quantity[i];

		if (q->chosen)
			t->metrics[f->schema.nmetrics++] =
				(struct column){ q->name, COLUMN_REAL, unit_name(q->unit),
						 q->metric->help, quantity_kind(q) };
	}
	return 0;
}

static int tidy_open(struct frame *f, const struct selection *sel, struct err *e)
{
	struct tidy *t = f->state;
	size_t n = sel->every_s > 0 ? MAX + 1 : KIND + 1;
	int rc = series_open(&t->series, f->run, sel, e);

	if (!rc && (frame_columns(f, columns, n) || list_metrics(f, t)))
		rc = err_set(e, -ENOMEM, "out of memory for a table");
	return rc;
}

static int make_label(struct frame *f, struct tidy *t, uint32_t cell)
{
	const struct plan *p = &t->series.derive.plan;
	const struct quantity *q = &p->quantity[p->cell[cell].quantity];
	struct label *l = &t->label[cell];
	int rc = frame_key(f, p->holder[p->cell[cell].holder].instance, &l->instance);

	if (rc)
		return rc;
	l->metric = q->name;
	l->unit = unit_name(q->unit);
	l->kind = quantity_kind(q);
	return 0;
}

/* The texts of n rows, one for each of the cells. */
static int put_labels(struct frame *f, struct tidy *t, const uint32_t *cell, uint32_t n)
{
	const struct cells metric = frame_end(f, METRIC), instance = frame_end(f, INSTANCE);
	const struct cells unit = frame_end(f, UNIT), kind = frame_end(f, KIND);

	for (uint32_t i = 0; i < n; i++) {
		const struct label *l = &t->label[cell[i]];

		if (!l->metric && make_label(f, t, cell[i]))
			return -ENOMEM;
		metric.s[i] = l->metric;
		instance.s[i] = l->instance;
		instance.state[i] = frame_state(l->instance);
		unit.s[i] = l->unit;
		kind.s[i] = l->kind;
	}
	return 0;
}

static void free_side(struct side *s)
{
	free(s->metric);
	free(s->instance);
	free(s->unit);
	free(s->kind);
	free(s->there);
	*s = (struct side){ 0 };
}

static int reserve_side(struct side *s, uint32_t n)
{
	if (n <= s->cap)
		return 0;
	free_side(s);
	s->metric = calloc(n, sizeof(*s->metric));
	s->instance = calloc(n, sizeof(*s->instance));
	s->unit = calloc(n, sizeof(*s->unit));
	s->kind = calloc(n, sizeof(*s->kind));
	s->there = calloc(n, sizeof(*s->there));
	s->cap = n;
	return s->metric && s->instance && s->unit && s->kind && s->there ? 0 : -ENOMEM;
}

static int make_side(struct frame *f, struct tidy *t)
{
	struct side *s = &t->side;

	if (s->layout == t->at.layout)
		return 0;
	if (reserve_side(s, t->at.nlisted))
		return -ENOMEM;
	for (uint32_t i = 0; i < t->at.nlisted; i++) {
		const struct label *l = &t->label[t->at.listed[i]];

		if (!l->metric && make_label(f, t, t->at.listed[i]))
			return -ENOMEM;
		s->metric[i] = l->metric;
		s->instance[i] = l->instance;
		s->unit[i] = l->unit;
		s->kind[i] = l->kind;
		s->there[i] = frame_state(l->instance);
	}
	s->layout = t->at.layout;
	return 0;
}

/* What is listed between two gaps, into rows from `row` behind the last one on. */
static void copy_side(struct frame *f, const struct side *s, uint32_t row, uint32_t first,
		      uint32_t n)
{
	const struct cells instance = frame_end(f, INSTANCE);

	memcpy(frame_end(f, METRIC).s + row, s->metric + first, n * sizeof(*s->metric));
	memcpy(instance.s + row, s->instance + first, n * sizeof(*s->instance));
	memcpy(instance.state + row, s->there + first, n);
	memcpy(frame_end(f, UNIT).s + row, s->unit + first, n * sizeof(*s->unit));
	memcpy(frame_end(f, KIND).s + row, s->kind + first, n * sizeof(*s->kind));
}

static int put_side(struct frame *f, struct tidy *t)
{
	const struct instant *at = &t->at;
	uint32_t row = 0, first = 0;

	if (make_side(f, t))
		return -ENOMEM;
	for (uint32_t g = 0; g <= at->ngaps; g++) {
		uint32_t end = g < at->ngaps ? at->gap[g] : at->nlisted;

		copy_side(f, &t->side, row, first, end - first);
		row += end - first;
		first = end + 1;
	}
	return 0;
}

/* Rows for readings of the instant, from t->next on, as many as there is room for. */
static int put_rows(struct frame *f, struct tidy *t)
{
	const struct instant *at = &t->at;
	uint32_t first = t->next, n = frame_room(f);

	n = n < at->n - first ? n : at->n - first;
	if (at->layout && n == at->n ? put_side(f, t) : put_labels(f, t, at->cell + first, n))
		return -ENOMEM;
	memset(frame_end(f, METRIC).state, STATE_PRESENT, n);
	memset(frame_end(f, UNIT).state, STATE_PRESENT, n);
	memset(frame_end(f, KIND).state, STATE_PRESENT, n);
	frame_same_text(f, NODE, n, frame_host(f, at->node));
	frame_same_int(f, TIME, n, at->utc_ns);
	frame_same_real(f, SECONDS, n, at->seconds);
	if (t->series.windowed) {
		frame_reals(f, VALUE, n, at->value + first);
		frame_reals(f, MIN, n, at->min + first);
		frame_reals(f, MAX, n, at->max + first);
	} else {
		frame_finite(f, VALUE, n, at->value + first);
	}
	frame_rows(f, n);
	t->next += n;
	return 0;
}

static int tidy_fill(struct frame *f, struct err *e)
{
	struct tidy *t = f->state;
	int rc;

	while (!frame_full(f)) {
		if (t->next >= t->at.n) {
			t->next = 0;
			rc = series_next(&t->series, &t->at, e);
			if (rc <= 0) {
				t->at.n = 0;
				return rc;
			}
			continue;
		}
		if (f->nrows && t->at.n > frame_room(f)) /* the next batch has all of it */
			return 0;
		if (put_rows(f, t))
			return err_set(e, -ENOMEM, "out of memory for the names of processes");
	}
	return 0;
}

static int tidy_rewind(struct frame *f)
{
	struct tidy *t = f->state;

	t->at.n = t->next = 0;
	return series_rewind(&t->series);
}

static void tidy_close(struct frame *f)
{
	struct tidy *t = f->state;

	free(t->metrics);
	free(t->label);
	free_side(&t->side);
	series_close(&t->series);
}

const struct table table_tidy = {
	.name = "series",
	.size = sizeof(struct tidy),
	.keeps = true,
	.open = tidy_open,
	.fill = tidy_fill,
	.rewind = tidy_rewind,
	.close = tidy_close,
};
