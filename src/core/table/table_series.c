/* SPDX-License-Identifier: Apache-2.0 */
#include "core/table/table_series.h"

#include "base/clock.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- windows ---- */

static void add(struct window *w, const struct instant *in)
{
	struct node_window *node = &w->node[in->node];

	for (uint32_t i = 0; i < in->n; i++) {
		const struct reading r = instant_reading(in, i);

		if (!w->stats[r.cell].n) {
			w->next[r.cell] = 0;
			if (node->first)
				w->next[node->last] = r.cell;
			else
				node->first = r.cell;
			node->last = r.cell;
		}
		stats_add(&w->stats[r.cell], r.value, r.seconds);
	}
}

static int reserve(struct window *w, uint32_t want)
{
	if (want <= w->cap)
		return 0;
	free(w->cell);
	free(w->value);
	w->cell = calloc(want, sizeof(*w->cell));
	w->value = calloc(want, 4 * sizeof(*w->value));
	w->cap = w->cell && w->value ? want : 0;
	return w->cap ? 0 : -ENOMEM;
}

/* Give the node's open window and empty it. */
static int close_window(struct window *w, uint32_t id, struct instant *out, struct err *e)
{
	struct node_window *node = &w->node[id];
	double *min, *max, *stands;
	uint32_t n = 0;

	for (uint32_t c = node->first; c; c = w->next[c])
		n++;
	if (reserve(w, n))
		return err_set(e, -ENOMEM, "out of memory for a window of %u values", n);
	min = w->value + n;
	max = min + n;
	stands = max + n;
	*out = (struct instant){ .node = id,
				 .cell = w->cell,
				 .value = w->value,
				 .min = min,
				 .max = max,
				 .stands = stands };
	out->seconds = w->derive->from_s + (double)node->index * w->every_s;
	out->utc_ns = w->derive->run->t0_utc_ns + llround(out->seconds * (double)NS_PER_S);
	for (uint32_t c = node->first; c; c = w->next[c]) {
		struct stats *st = &w->stats[c];

		w->cell[out->n] = c;
		w->value[out->n] = stats_mean(st);
		min[out->n] = st->min;
		max[out->n] = st->max;
		stands[out->n++] = st->weight;
		*st = (struct stats){ 0 };
	}
	*node = (struct node_window){ 0 };
	return 1;
}

static int64_t index_of(const struct window *w, double seconds)
{
	return (int64_t)floor((seconds - w->derive->from_s) / w->every_s);
}

/* As derive_next; the instant is the window's begin. */
static int window_next(struct window *w, struct instant *out, struct err *e)
{
	for (;;) {
		struct node_window *node;
		int rc = w->held ? 1 : derive_next(w->derive, &w->in, e);
		int64_t index;

		if (rc < 0)
			return rc;
		if (!rc)
			break;
		w->held = true;
		node = &w->node[w->in.node];
		index = index_of(w, w->in.seconds);
		if (node->first && index != node->index)
			return close_window(w, w->in.node, out, e);
		node->index = index;
		add(w, &w->in);
		w->held = false;
	}
	for (uint32_t i = 0; i < w->derive->run->nnodes; i++)
		if (w->node[i].first)
			return close_window(w, i, out, e);
	return 0;
}

static void window_rewind(struct window *w)
{
	memset(w->stats, 0, w->derive->plan.ncells * sizeof(*w->stats));
	memset(w->node, 0, w->derive->run->nnodes * sizeof(*w->node));
	w->held = false;
}

/* The derivation is borrowed. 0 or -errno; close in either case. */
static int window_open(struct window *w, struct derive *d, double every_s, struct err *e)
{
	*w = (struct window){ .derive = d, .every_s = every_s };
	w->stats = calloc(d->plan.ncells, sizeof(*w->stats));
	w->next = calloc(d->plan.ncells, sizeof(*w->next));
	w->node = calloc(d->run->nnodes + 1u, sizeof(*w->node));
	if (!w->stats || !w->next || !w->node)
		return err_set(e, -ENOMEM, "out of memory for windows of %u values",
			       d->plan.ncells);
	return 0;
}

static void window_close(struct window *w)
{
	free(w->stats);
	free(w->next);
	free(w->node);
	free(w->cell);
	free(w->value);
	*w = (struct window){ 0 };
}

/* ---- instants ---- */

int series_open(struct series *s, struct run *r, const struct selection *sel, struct err *e)
{
	int rc = derive_open(&s->derive, r, sel, e);

	s->windowed = sel->every_s > 0;
	s->derive.values_only = !s->windowed;
	if (!rc && s->windowed)
		rc = window_open(&s->window, &s->derive, sel->every_s, e);
	return rc;
}

int series_next(struct series *s, struct instant *out, struct err *e)
{
	return s->windowed ? window_next(&s->window, out, e) : derive_next(&s->derive, out, e);
}

int series_rewind(struct series *s)
{
	if (s->windowed)
		window_rewind(&s->window);
	return derive_rewind(&s->derive);
}

void series_close(struct series *s)
{
	window_close(&s->window);
	derive_close(&s->derive);
}

/* The series, a row for each node and instant and a column for each metric and
 * device. */

enum { NODE = 0, TIME, SECONDS, FIRST_VALUE };

static const struct column columns[] = {
	[NODE] = COLUMN_NODE,
	[TIME] = { "time", COLUMN_TIME, "",
		   "Wall time (UTC) of the readings, or of the window's begin.", NULL },
	[SECONDS] = COLUMN_SINCE("seconds"),
};

struct wide {
	struct series series;
	uint32_t *column; /* [ncells] of the emitted cells */
	char **name;      /* made here */
	uint32_t nnames;
};

/* An emitted cell and what its column is called after. */
struct heading {
	const struct quantity *quantity;
	const char *instance; /* NULL: the node itself */
	uint32_t cell;
};

/* cpu2 before cpu10. */
static int by_instance(const char *a, const char *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	return strverscmp(a, b);
}

static int by_heading(const void *a, const void *b)
{
	const struct heading *x = a, *y = b;

	if (!x->instance != !y->instance)
		return x->instance ? 1 : -1;
	if (x->quantity != y->quantity)
		return x->quantity < y->quantity ? -1 : 1;
	return by_instance(x->instance, y->instance);
}

static size_t collect_headings(const struct plan *p, struct heading *h)
{
	size_t n = 0;

	for (uint32_t c = 1; c < p->ncells; c++) {
		uint32_t instance = p->holder[p->cell[c].holder].instance;
		const char *name = instance ? p->run->instances[instance].name : NULL;

		if (p->cell[c].emitted)
			h[n++] = (struct heading){ &p->quantity[p->cell[c].quantity],
						   instance && !name ? "" : name, c };
	}
	qsort(h, n, sizeof(*h), by_heading);
	return n;
}

static int add_column(struct frame *f, struct wide *w, const struct heading *h)
{
	struct column c = { h->quantity->name, COLUMN_REAL, unit_name(h->quantity->unit),
			    h->quantity->metric->help, quantity_kind(h->quantity) };

	if (h->instance) {
		if (asprintf(&w->name[w->nnames], "%s[%s]", c.name, h->instance) < 0)
			return -ENOMEM;
		c.name = w->name[w->nnames++];
	}
	return frame_column(f, &c);
}

static int add_columns(struct frame *f, struct wide *w)
{
	const struct plan *p = &w->series.derive.plan;
	struct heading *h = calloc(p->ncells, sizeof(*h));
	size_t n = h ? collect_headings(p, h) : 0;
	int rc = -ENOMEM;

	w->column = calloc(p->ncells, sizeof(*w->column));
	w->name = calloc(n + 1, sizeof(*w->name));
	if (h && w->column && w->name)
		rc = frame_columns(f, columns, FIRST_VALUE);
	for (size_t i = 0; i < n && !rc; i++) {
		if (!i || by_heading(&h[i - 1], &h[i]))
			rc = add_column(f, w, &h[i]);
		w->column[h[i].cell] = f->ncolumns - 1;
	}
	free(h);
	return rc;
}

static int wide_open(struct frame *f, const struct selection *sel, struct err *e)
{
	struct wide *w = f->state;
	int rc = series_open(&w->series, f->run, sel, e);

	if (!rc && add_columns(f, w))
		rc = err_set(e, -ENOMEM, "out of memory for the columns of a wide table");
	return rc;
}

static int fill_by_instants(struct frame *f, struct err *e)
{
	struct wide *w = f->state;
	struct instant at;
	int rc = 0;

	while (!frame_full(f) && (rc = series_next(&w->series, &at, e)) > 0) {
		frame_row(f);
		frame_text(f, NODE, frame_host(f, at.node));
		frame_int(f, TIME, at.utc_ns);
		frame_real(f, SECONDS, at.seconds);
		for (uint32_t i = 0; i < at.n; i++)
			frame_real(f, w->column[at.cell[i]], at.value[i]);
	}
	return rc < 0 ? rc : 0;
}

/* A column of the slice, into one that another of its name may have values in: a device that went
 * and came back. */
static void put_column(const struct cells *to, const struct slice *s, uint32_t column,
		       const struct slice_rows *rows)
{
	size_t from = (size_t)column * s->rows + rows->first;

	if (s->there[column] == s->nrows) {
		memcpy(to->d, s->value + from, rows->n * sizeof(*to->d));
		memcpy(to->state, s->state + from, rows->n);
		return;
	}
	for (uint32_t r = 0; s->there[column] && r < rows->n; r++)
		if (s->state[from + r] == STATE_PRESENT) {
			to->d[r] = s->value[from + r];
			to->state[r] = STATE_PRESENT;
		}
}

/* What is in the slice in columns goes into columns. */
static void put_rows(struct frame *f, const struct wide *w, const struct slice_rows *rows)
{
	const struct derive *d = &w->series.derive;
	const struct slice *s = &d->slice;
	const struct cells time = frame_end(f, TIME), seconds = frame_end(f, SECONDS);

	frame_same_text(f, NODE, rows->n, frame_host(f, rows->node));
	for (uint32_t r = 0; r < rows->n; r++) {
		time.i[r] = derive_row_utc_ns(d, rows->first + r);
		seconds.d[r] = derive_row_seconds(d, rows->first + r);
	}
	memset(time.state, STATE_PRESENT, rows->n);
	memset(seconds.state, STATE_PRESENT, rows->n);
	for (uint32_t c = 1; c <= d->nshown; c++) {
		const struct cells to = frame_end(f, w->column[d->cell[c]]);

		put_column(&to, s, c, rows);
	}
	frame_rows(f, rows->n);
}

static int fill_by_columns(struct frame *f, struct err *e)
{
	struct wide *w = f->state;
	struct slice_rows rows;
	int rc = 0;

	while (!frame_full(f) &&
	       (rc = derive_next_rows(&w->series.derive, frame_room(f), &rows, e)) > 0)
		put_rows(f, w, &rows);
	return rc < 0 ? rc : 0;
}

static int wide_fill(struct frame *f, struct err *e)
{
	const struct wide *w = f->state;

	return w->series.windowed ? fill_by_instants(f, e) : fill_by_columns(f, e);
}

static int wide_rewind(struct frame *f)
{
	struct wide *w = f->state;

	return series_rewind(&w->series);
}

static void wide_close(struct frame *f)
{
	struct wide *w = f->state;

	for (uint32_t i = 0; i < w->nnames; i++)
		free(w->name[i]);
	free(w->name);
	free(w->column);
	series_close(&w->series);
}

const struct table table_wide = {
	.name = "series",
	.size = sizeof(struct wide),
	.open = wide_open,
	.fill = wide_fill,
	.rewind = wide_rewind,
	.close = wide_close,
};
