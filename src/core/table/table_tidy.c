/* SPDX-License-Identifier: Apache-2.0 */
/* table_tidy.c - the series, a row for each value that was there. */
#include "core/table/table_series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NODE = 0, METRIC, INSTANCE, TIME, SECONDS, VALUE, UNIT, KIND, MIN, MAX };

static const struct column columns[] = {
	[NODE] = COLUMN_NODE,
	[METRIC] = { "metric", COLUMN_TEXT, "", "Name of the metric, or of its rate.", NULL },
	[INSTANCE] = COLUMN_INSTANCE,
	[TIME] = { "time", COLUMN_TIME, "",
		   "Wall time (UTC) of the reading, or of the window's begin.", NULL },
	[SECONDS] = COLUMN_SINCE("seconds"),
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

/* The texts of an instant's rows, side by side, so that they are pointed at or copied. */
struct side {
	uint32_t layout, n, cap; /* what is listed in a layout, but the gaps */
	uint32_t ngaps, *gap;
	const char **node, **metric, **instance, **unit, **kind;
	uint8_t *named, *there; /* enum state of the node and of the instance */
	uint8_t *present;       /* of what is always there */
};

/* So many rows are worth a batch of their own. */
enum { BATCH_LEAST = 128 };

struct tidy {
	struct series series;
	struct instant at;
	uint32_t next;            /* reading of `at` that has no row yet */
	struct column *metrics;   /* of the schema */
	struct label *label;      /* [ncells] */
	struct side whole, holey; /* of the last instants without and with gaps */
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

	f->schema.texts_stay = true;
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

/* The texts of n rows, from `first` of the instant on, one by one. */
static int put_labels(struct frame *f, struct tidy *t, uint32_t first, uint32_t n)
{
	const uint32_t *cell = t->at.cell + first;
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
	memset(metric.state, STATE_PRESENT, n);
	memset(unit.state, STATE_PRESENT, n);
	memset(kind.state, STATE_PRESENT, n);
	frame_same_text(f, NODE, n, frame_host(f, t->at.node));
	return 0;
}

static void free_side(struct side *s)
{
	free(s->gap);
	free(s->node);
	free(s->metric);
	free(s->instance);
	free(s->unit);
	free(s->kind);
	free(s->named);
	free(s->there);
	free(s->present);
	*s = (struct side){ 0 };
}

static int reserve_side(struct side *s, uint32_t n)
{
	if (n <= s->cap)
		return 0;
	free_side(s);
	s->gap = calloc(n, sizeof(*s->gap));
	s->node = calloc(n, sizeof(*s->node));
	s->metric = calloc(n, sizeof(*s->metric));
	s->instance = calloc(n, sizeof(*s->instance));
	s->unit = calloc(n, sizeof(*s->unit));
	s->kind = calloc(n, sizeof(*s->kind));
	s->named = calloc(n, sizeof(*s->named));
	s->there = calloc(n, sizeof(*s->there));
	s->present = calloc(n, sizeof(*s->present));
	if (!s->gap || !s->node || !s->metric || !s->instance || !s->unit || !s->kind ||
	    !s->named || !s->there || !s->present)
		return -ENOMEM;
	memset(s->present, STATE_PRESENT, n);
	s->cap = n;
	return 0;
}

static int make_whole(struct frame *f, struct tidy *t)
{
	const char *host = frame_host(f, t->at.node);
	struct side *s = &t->whole;

	if (s->layout == t->at.layout)
		return 0;
	s->layout = 0;
	if (reserve_side(s, t->at.nlisted))
		return -ENOMEM;
	for (uint32_t i = 0; i < t->at.nlisted; i++) {
		const struct label *l = &t->label[t->at.listed[i]];

		if (!l->metric && make_label(f, t, t->at.listed[i]))
			return -ENOMEM;
		s->node[i] = host;
		s->metric[i] = l->metric;
		s->instance[i] = l->instance;
		s->unit[i] = l->unit;
		s->kind[i] = l->kind;
		s->named[i] = frame_state(host);
		s->there[i] = frame_state(l->instance);
	}
	s->layout = t->at.layout;
	s->n = t->at.nlisted;
	return 0;
}

/* n of another side behind what there is. */
static void append_side(struct side *s, const struct side *other, uint32_t first, uint32_t n)
{
	memcpy(s->node + s->n, other->node + first, n * sizeof(*s->node));
	memcpy(s->metric + s->n, other->metric + first, n * sizeof(*s->metric));
	memcpy(s->instance + s->n, other->instance + first, n * sizeof(*s->instance));
	memcpy(s->unit + s->n, other->unit + first, n * sizeof(*s->unit));
	memcpy(s->kind + s->n, other->kind + first, n * sizeof(*s->kind));
	memcpy(s->named + s->n, other->named + first, n);
	memcpy(s->there + s->n, other->there + first, n);
	s->n += n;
}

/* What is listed between the gaps; often they are those of the instant before. */
static int make_holey(struct tidy *t)
{
	const struct instant *at = &t->at;
	struct side *s = &t->holey;
	uint32_t first = 0;

	if (s->layout == at->layout && s->ngaps == at->ngaps &&
	    !memcmp(s->gap, at->gap, at->ngaps * sizeof(*s->gap)))
		return 0;
	if (reserve_side(s, at->nlisted))
		return -ENOMEM;
	s->n = 0;
	for (uint32_t g = 0; g <= at->ngaps; g++) {
		uint32_t end = g < at->ngaps ? at->gap[g] : at->nlisted;

		append_side(s, &t->whole, first, end - first);
		first = end + 1;
	}
	memcpy(s->gap, at->gap, at->ngaps * sizeof(*s->gap));
	s->layout = at->layout;
	s->ngaps = at->ngaps;
	return 0;
}

/* The texts of the instant's rows; NULL when memory is short. */
static const struct side *make_side(struct frame *f, struct tidy *t)
{
	if (make_whole(f, t) || (t->at.ngaps && make_holey(t)))
		return NULL;
	return t->at.ngaps ? &t->holey : &t->whole;
}

static void put_texts(struct frame *f, uint32_t column, const char *const *text,
		      const uint8_t *state, uint32_t n)
{
	const struct cells to = frame_end(f, column);

	memcpy(to.s, text, n * sizeof(*text));
	memcpy(to.state, state, n);
}

static int put_side(struct frame *f, struct tidy *t)
{
	const struct side *s = make_side(f, t);

	if (!s)
		return -ENOMEM;
	put_texts(f, NODE, s->node, s->named, s->n);
	put_texts(f, METRIC, s->metric, s->present, s->n);
	put_texts(f, INSTANCE, s->instance, s->there, s->n);
	put_texts(f, UNIT, s->unit, s->present, s->n);
	put_texts(f, KIND, s->kind, s->present, s->n);
	return 0;
}

/* A batch of this instant alone, which is where it is: only its time is written. */
static int give(struct frame *f, struct tidy *t)
{
	const struct instant *at = &t->at;
	const struct side *s = make_side(f, t);

	if (!s)
		return -ENOMEM;
	f->given[NODE] = (struct cells){ { .s = s->node }, s->named };
	f->given[METRIC] = (struct cells){ { .s = s->metric }, s->present };
	f->given[INSTANCE] = (struct cells){ { .s = s->instance }, s->there };
	f->given[VALUE] = (struct cells){ { .d = (double *)at->value }, s->present };
	f->given[UNIT] = (struct cells){ { .s = s->unit }, s->present };
	f->given[KIND] = (struct cells){ { .s = s->kind }, s->present };
	frame_same_int(f, TIME, at->n, at->utc_ns);
	frame_same_real(f, SECONDS, at->n, at->seconds);
	frame_rows(f, at->n);
	t->next = at->n;
	return 0;
}

/* Rows for readings of the instant, from t->next on, as many as there is room for. */
static int put_rows(struct frame *f, struct tidy *t)
{
	const struct instant *at = &t->at;
	uint32_t first = t->next, n = frame_room(f);

	n = n < at->n - first ? n : at->n - first;
	if (at->layout && n == at->n ? put_side(f, t) : put_labels(f, t, first, n))
		return -ENOMEM;
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
	bool alone;
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
		alone = t->at.layout && !t->next && t->at.n >= BATCH_LEAST && t->at.n <= f->row_cap;
		if (f->nrows &&
		    (alone || t->at.n > frame_room(f))) /* the next batch has all of it */
			return 0;
		if (alone ? give(f, t) : put_rows(f, t))
			return err_set(e, -ENOMEM, "out of memory for the names of processes");
		if (alone)
			return 0;
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
	free_side(&t->whole);
	free_side(&t->holey);
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
