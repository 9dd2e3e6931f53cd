/* SPDX-License-Identifier: Apache-2.0 */
#include "report/phases/traces.h"
#include "base/array.h"
#include "base/bytes.h"
#include "core/frame/derive.h"
#include "core/metric.h"
#include "report/page/page_series.h"
#include "report/phases/timeline.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- wishes ---- */

void traces_wish(struct traces *t, const char *metric, bool by_instance)
{
	struct traces_wish *room;

	for (uint32_t i = 0; i < t->nwishes; i++)
		if (t->wish[i].by_instance == by_instance && !strcmp(t->wish[i].metric, metric))
			return;
	room = array_room(t->wish, t->nwishes, &t->wishes_cap, sizeof *t->wish);
	if (!room) {
		t->failed = true;
		return;
	}
	t->wish = room;
	t->wish[t->nwishes++] = (struct traces_wish){ metric, by_instance };
}

void traces_focus(struct traces *t, double from_s, double to_s)
{
	if (to_s > from_s && t->nfocuses < TRACE_FOCUSES)
		t->focus[t->nfocuses++] = (struct trace_focus){ from_s, to_s };
}

/* t->nwishes for none. */
static uint32_t wish_of(const struct traces *t, const char *metric, bool by_instance)
{
	uint32_t i = 0;

	while (i < t->nwishes &&
	       (t->wish[i].by_instance != by_instance || strcmp(t->wish[i].metric, metric) != 0))
		i++;
	return i;
}

/* By wish; those of one as they came. */
static int by_wish(const void *a, const void *b)
{
	const struct trace *x = a, *y = b;

	if (x->wish != y->wish)
		return x->wish < y->wish ? -1 : 1;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return (x->instance > y->instance) - (x->instance < y->instance);
}

static void sort_traces(struct traces *t)
{
	if (t->n)
		qsort(t->trace, t->n, sizeof *t->trace, by_wish);
}

void traces_free(struct traces *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		free(t->trace[i].point);
	for (uint32_t i = 0; t->node && i < t->nnodes; i++)
		free(t->node[i].at);
	free(t->trace);
	free(t->node);
	free(t->wish);
	*t = (struct traces){ 0 };
}

/* ---- what was read ---- */

double trace_mean(const struct trace_point *p)
{
	return p->weight > 0 ? p->sum / p->weight : NAN;
}

/* Those from the first that is not before key on, as far as they are alike in wish (and node). */
static const struct trace *alike(const struct traces *t, const struct trace *key, bool node,
				 uint32_t *n)
{
	uint32_t low = 0, high = t->n, end;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (by_wish(&t->trace[middle], key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < t->n && t->trace[end].wish == key->wish &&
			(!node || t->trace[end].node == key->node);)
		end++;
	*n = end - low;
	return *n ? &t->trace[low] : NULL;
}

const struct trace *traces_of(const struct traces *t, const char *metric, bool by_instance,
			      uint32_t *n)
{
	const struct trace key = { .wish = wish_of(t, metric, by_instance) };

	return alike(t, &key, false, n);
}

const struct trace *traces_of_node(const struct traces *t, const char *metric, bool by_instance,
				   uint32_t node, uint32_t *n)
{
	const struct trace key = { .wish = wish_of(t, metric, by_instance), .node = node };

	return alike(t, &key, true, n);
}

struct stretch {
	double from, to;
};

/* The time that point i is of. After a time that nobody looked at, no longer than the others. */
static struct stretch stretch_of(const struct trace_node *n, uint32_t i)
{
	double step = n->npoints > 1 ? (n->at[n->npoints - 1] - n->at[0]) / (n->npoints - 1) : 0;
	double from = i ? n->at[i - 1] : n->first_s - (n->thinned > 1 ? 0 : step);

	if (n->at[i] - from > 10 * step)
		from = n->at[i] - step;
	return (struct stretch){ fmax(from, 0), n->at[i] };
}

static void add_stretch(struct trace_columns *out, double *weight, double width,
			const struct trace_point *p, struct stretch s)
{
	uint32_t first = (uint32_t)fmin(s.from / width, out->n - 1.0);
	double mean = trace_mean(p);

	for (uint32_t c = first; c < out->n && (c == first || c * width < s.to); c++) {
		double overlap = fmin(s.to, (c + 1) * width) - fmax(s.from, c * width);
		bool is_first = !(weight[c] > 0);

		overlap = fmax(overlap, 1e-9);
		out->mean[c] = is_first ? mean * overlap : out->mean[c] + mean * overlap;
		out->min[c] = is_first ? (double)p->min : fmin(out->min[c], (double)p->min);
		out->max[c] = is_first ? (double)p->max : fmax(out->max[c], (double)p->max);
		weight[c] += overlap;
	}
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

uint32_t traces_reach(const struct traces *t, const struct trace *x)
{
	uint32_t n = t->node[x->node].npoints, nsteps = 0, last = UINT32_MAX, usual = 1;
	uint32_t *step = calloc(n + 1u, sizeof *step);

	for (uint32_t i = 0; step && i < n; i++) {
		if (!(x->point[i].weight > 0))
			continue;
		if (last != UINT32_MAX)
			step[nsteps++] = i - last;
		last = i;
	}
	if (nsteps) {
		qsort(step, nsteps, sizeof *step, by_number);
		usual = step[nsteps / 2];
	}
	free(step);
	return 2 * usual;
}

/* The time from the value at point `last` to the one at point i, but for what nobody looked at. */
static struct stretch stretch_since(const struct trace_node *n, uint32_t last, uint32_t i)
{
	struct stretch s = stretch_of(n, i);

	for (i--; i > last && s.from <= n->at[i]; i--)
		s.from = stretch_of(n, i).from;
	return s;
}

void traces_columns(const struct traces *t, const struct trace *x, struct trace_columns *out)
{
	const struct trace_node *n = &t->node[x->node];
	double width = (t->to_s > 0 ? t->to_s : 1) / out->n;
	double *weight = calloc(out->n, sizeof *weight);
	uint32_t reach = traces_reach(t, x), last = UINT32_MAX;

	for (uint32_t c = 0; c < out->n; c++)
		out->mean[c] = out->min[c] = out->max[c] = NAN;
	for (uint32_t i = 0; weight && i < n->npoints; i++) {
		bool joins = last != UINT32_MAX && i - last < reach;

		if (!(x->point[i].weight > 0))
			continue;
		add_stretch(out, weight, width, &x->point[i],
			    joins ? stretch_since(n, last, i) : stretch_of(n, i));
		last = i;
	}
	for (uint32_t c = 0; weight && c < out->n; c++)
		if (weight[c] > 0)
			out->mean[c] /= weight[c];
	free(weight);
}

/* ---- one way through the run, column by column ---- */

/* Points of a trace: as many as a plot is wide; of very many traces fewer. */
enum { POINTS_MAX = 800, POINTS_MIN = 10, POINTS_OF_ALL = 4000000, ENDING_ROWS = 2 };
#define CLOSING_PART    0.25 /* of the usual time between two samples */
#define CLOSING_LEAST_S 0.03 /* three ticks of the kernel's clock of 100 Hz */
#define CLOSING_MOST    0.75 /* a shorter usual time has such samples throughout */

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory while drawing the charts");
}

/* A cell whose values are a trace; it begins with its first value. */
struct feed {
	uint32_t cell, wish;
	uint32_t trace; /* index + 1 */
	bool of_job;    /* what the job has, and has no more once it ended */
	bool of_cpus;   /* a state of the node's CPUs, against the kernel's own clock */
};

struct reading_run {
	struct traces *t;
	struct derive v;
	struct feed *feed; /* those of a node are together */
	uint32_t nfeeds, cap;
	uint32_t *first;           /* [nnodes + 1] of the node's */
	struct trace_clock *clock; /* [nnodes] */
	double scale[SLICE_ROWS];
	/* Of the slice's rows: the point of each, and how long what was before it stood. */
	uint32_t point[SLICE_ROWS];
	double stood_s[SLICE_ROWS];
	uint32_t nrows, ending_row; /* from which on the node has two more at most */
};

static bool is_fed(const struct plan *p, uint32_t cell, bool by_instance)
{
	const struct cell *c = &p->cell[cell];

	if (!by_instance)
		return c->emitted;
	return c->role != CELL_COMBINED &&
	       (p->holder[c->holder].instance || c->role == CELL_MEASURED ||
		!p->quantity[c->quantity].metric->domain);
}

static int add_feed(struct reading_run *x, uint32_t cell, bool by_instance)
{
	const struct plan *p = &x->v.plan;
	uint32_t wish = wish_of(x->t, p->quantity[p->cell[cell].quantity].name, by_instance);
	const struct metric *m = p->quantity[p->cell[cell].quantity].metric;
	struct feed *room;

	if (wish == x->t->nwishes || !is_fed(p, cell, by_instance))
		return 0;
	room = array_room(x->feed, x->nfeeds, &x->cap, sizeof *x->feed);
	if (!room)
		return -ENOMEM;
	x->feed = room;
	x->feed[x->nfeeds++] = (struct feed){
		.cell = cell,
		.wish = wish,
		.of_job = strncmp(m->name, "job.", 4) == 0 && m->kind == KIND_GAUGE,
		.of_cpus = trace_clock_find(x->t->wish[wish].metric) < TRACE_CLOCK_STATES,
	};
	return 0;
}

static void take_clock(struct reading_run *x, uint32_t node, uint32_t cell)
{
	const struct plan *p = &x->v.plan;
	uint32_t which = trace_clock_find(p->quantity[p->cell[cell].quantity].name);

	if (which < TRACE_CLOCK_CELLS && is_fed(p, cell, false))
		x->clock[node].cell[which] = cell;
}

static int list_feeds(struct reading_run *x)
{
	const struct plan *p = &x->v.plan;
	int rc = 0;

	for (uint32_t node = 0; node < x->t->nnodes && !rc; node++) {
		const struct holder *last = &p->holder[p->node_holder[node]];

		x->first[node] = x->nfeeds;
		for (uint32_t c = p->node_cell[node]; c && c < last->first + last->ncells && !rc;
		     c++) {
			take_clock(x, node, c);
			rc = add_feed(x, c, false);
			rc = rc ? rc : add_feed(x, c, true);
		}
	}
	x->first[x->t->nnodes] = x->nfeeds;
	return rc;
}

static void list_name(struct bytes *names, const struct run *r, const char *metric)
{
	if (page_metric(r, metric, NULL))
		bytes_printf(names, "%s%s", names->len ? "," : "", metric);
}

/* The metrics that the run has, by commas; with a state of CPUs all of them. */
static void list_names(struct bytes *names, const struct traces *t, const struct run *r)
{
	bool of_cpus = false;

	for (uint32_t i = 0; i < t->nwishes; i++) {
		list_name(names, r, t->wish[i].metric);
		of_cpus |= trace_clock_find(t->wish[i].metric) < TRACE_CLOCK_STATES;
	}
	for (uint32_t i = 0; of_cpus && i < TRACE_CLOCK_CELLS; i++)
		list_name(names, r, trace_clock_name(i));
}

/* A run that has none of the metrics still has its times. */
static int open_run(struct reading_run *x, struct run *r, struct err *e)
{
	struct selection sel = { .table = FRAME_SERIES, .combine = true };
	struct bytes names = { 0 };
	int rc;

	list_names(&names, x->t, r);
	if (names.len) {
		bytes_u8(&names, 0);
		sel.metrics = (const char *)names.data;
	}
	rc = names.failed  ? no_memory(e)
	     : sel.metrics ? derive_open(&x->v, r, &sel, e)
			   : r->rewind(r);
	bytes_free(&names);
	x->first = calloc(x->t->nnodes + 1u, sizeof *x->first);
	x->clock = calloc(x->t->nnodes + 1u, sizeof *x->clock);
	if (!rc && (!x->first || !x->clock || (x->v.run && list_feeds(x))))
		rc = no_memory(e);
	return rc;
}

/* ---- how many points ---- */

/* Of the node's samples those that lie in a focus, as if they came evenly. */
static uint64_t rows_in_focus(const struct traces *t, const struct run *r, uint32_t node)
{
	double begin = run_seconds(r, node, r->nodes[node].first_ns);
	double end = run_seconds(r, node, r->nodes[node].last_ns), seconds = 0;

	for (uint32_t i = 0; i < t->nfocuses; i++)
		seconds += fmax(0, fmin(t->focus[i].to_s, end) - fmax(t->focus[i].from_s, begin));
	return end > begin
		       ? (uint64_t)((double)r->nodes[node].rows * fmin(1, seconds / (end - begin)))
		       : 0;
}

static uint32_t rows_a_point(uint64_t rows, uint32_t points)
{
	uint64_t each = points ? (rows + points - 1) / points : 0;

	return each > UINT32_MAX ? UINT32_MAX : each ? (uint32_t)each : 1;
}

static int thin(struct traces *t, const struct run *r, uint32_t nfeeds)
{
	uint32_t limit = t->points ? t->points : POINTS_MAX;

	if (limit > POINTS_OF_ALL / (nfeeds + 1))
		limit = POINTS_OF_ALL / (nfeeds + 1);
	limit = limit < POINTS_MIN ? POINTS_MIN : limit;
	for (uint32_t i = 1; i < t->nnodes; i++) {
		struct trace_node *n = &t->node[i];
		uint64_t rows = r->nodes[i].rows, cap = limit;

		if (t->nfocuses)
			cap += limit / 2 + 2 * TRACE_FOCUSES + 1;
		n->thinned = rows_a_point(rows, limit);
		n->fine = rows_a_point(rows_in_focus(t, r, i), limit / 2);
		n->cap = (uint32_t)(rows < cap ? rows : cap);
		n->at = calloc(n->cap + 1u, sizeof *n->at);
		if (!n->at)
			return -ENOMEM;
	}
	return 0;
}

static bool is_focused(const struct traces *t, double at)
{
	for (uint32_t i = 0; i < t->nfocuses; i++)
		if (at >= t->focus[i].from_s && at <= t->focus[i].to_s)
			return true;
	return false;
}

/* The sample at a job's end comes whenever that is. Soon after the one before, its rates are of
 * next to no time and its job has gone: drawn it would be a spike, or a fall. */
static bool is_closing(const struct trace_node *n, const struct run_node *of, double at)
{
	double usual = n->nrows > 1 ? (n->last_s - n->first_s) / (n->nrows - 1) : 0;

	double least = fmax(CLOSING_PART * usual, fmin(CLOSING_LEAST_S, CLOSING_MOST * usual));

	return n->nrows + UINT64_C(1) == of->rows && at - n->last_s < least;
}

/* The node's next row, in a point of its own or in the last one. */
static void add_row(const struct traces *t, struct trace_node *n, double at)
{
	bool focused = n->thinned > 1 && is_focused(t, at);
	uint32_t most = focused && n->fine < n->thinned ? n->fine : n->thinned;

	if (!n->npoints ||
	    ((n->in_point >= most || focused != n->focused) && n->npoints < n->cap)) {
		n->npoints++;
		n->in_point = 0;
	}
	n->focused = focused;
	n->stood_s = n->nrows ? at - n->last_s : 0;
	if (!(n->stood_s > 0))
		n->stood_s = 1e-9;
	if (!n->nrows)
		n->first_s = at;
	n->last_s = n->at[n->npoints - 1] = at;
	n->in_point++;
	n->nrows++;
}

/* ---- values ---- */

static struct trace *trace_of(struct reading_run *x, struct feed *f)
{
	struct traces *t = x->t;
	const struct holder *h = &x->v.plan.holder[x->v.plan.cell[f->cell].holder];
	struct trace *room;

	if (f->trace)
		return &t->trace[f->trace - 1];
	room = array_room(t->trace, t->n, &t->cap, sizeof *t->trace);
	if (!room)
		return NULL;
	t->trace = room;
	room = &t->trace[t->n];
	*room = (struct trace){ h->node, h->instance, f->wish, NULL };
	room->point = calloc(t->node[h->node].cap + 1u, sizeof *room->point);
	if (!room->point)
		return NULL;
	f->trace = ++t->n;
	return room;
}

static void add_value(struct trace_point *p, double v, double seconds)
{
	float f = (float)v;

	if (!(p->weight > 0)) {
		p->min = p->max = f;
	} else {
		p->min = f < p->min ? f : p->min;
		p->max = f > p->max ? f : p->max;
	}
	p->sum += v * seconds;
	p->weight += seconds;
}

/* After the job's end it has nothing: that is no fall of what it had. The last sample finds it so,
 * and the one before where that came between the end and the recorder's learning of it. */
static bool is_taken(const struct reading_run *x, const struct feed *f, const struct derived *c,
		     uint32_t row)
{
	return c->state[row] == STATE_PRESENT &&
	       !(f->of_job && row >= x->ending_row && !(fabs(c->value[row]) > 0));
}

static int add_column(struct reading_run *x, struct feed *f)
{
	struct trace_point *point;
	struct derived column;
	struct trace *trace;
	uint32_t r = 0;

	if (!derive_column(&x->v, f->cell, &column))
		return 0;
	while (r < x->nrows && !is_taken(x, f, &column, r))
		r++;
	if (r == x->nrows)
		return 0;
	trace = trace_of(x, f);
	if (!trace)
		return -ENOMEM;
	point = trace->point;
	for (; r < x->nrows; r++)
		if (is_taken(x, f, &column, r))
			add_value(&point[x->point[r]],
				  column.value[r] * (f->of_cpus ? x->scale[r] : 1), x->stood_s[r]);
	return 0;
}

/* n rows of the chunk from row `first` on. A growing run may have more by now than when it was
 * opened, but not more points. */
static void add_rows(struct reading_run *x, const struct run *r, const struct chunk *c,
		     uint32_t first, uint32_t n)
{
	struct trace_node *node = &x->t->node[c->node];

	x->nrows = node->cap ? n : 0;
	x->ending_row = UINT32_MAX;
	for (uint32_t i = 0; i < x->nrows; i++) {
		double at = run_seconds(r, c->node, c->mono_ns[first + i]);

		if (is_closing(node, &r->nodes[c->node], at)) {
			node->last_s = at;
			node->nrows++;
			x->nrows = i;
			break;
		}
		add_row(x->t, node, at);
		x->point[i] = node->npoints - 1;
		x->stood_s[i] = node->stood_s;
		if (node->nrows + ENDING_ROWS > r->nodes[c->node].rows && i < x->ending_row)
			x->ending_row = i;
	}
}

static int add_chunk(struct reading_run *x, struct run *r, const struct chunk *c, struct err *e)
{
	int rc;

	if (!x->v.run) {
		for (uint32_t i = 0; c->node < x->t->nnodes && i < c->nrows; i += SLICE_ROWS)
			add_rows(x, r, c, i, c->nrows - i < SLICE_ROWS ? c->nrows - i : SLICE_ROWS);
		return 0;
	}
	rc = derive_chunk(&x->v, c, e);
	while (!rc && derive_slice(&x->v)) {
		add_rows(x, r, c, x->v.slice.first, x->v.slice.nrows);
		trace_clock_scale(&x->clock[c->node], &x->v, x->nrows, x->scale);
		for (uint32_t i = x->first[c->node]; i < x->first[c->node + 1] && !rc; i++)
			if (add_column(x, &x->feed[i]))
				rc = no_memory(e);
	}
	return rc;
}

static int read_chunks(struct reading_run *x, struct run *r, struct err *e)
{
	uint8_t *none = calloc(r->nseries + 1u, 1);
	struct chunk c;
	int rc = none ? 0 : no_memory(e);

	while (!rc && (rc = r->next_chunk(r, x->v.run ? x->v.plan.wanted : none, &c, e)) > 0)
		rc = add_chunk(x, r, &c, e);
	free(none);
	return rc;
}

int traces_read(struct traces *t, struct run *r, struct err *e)
{
	struct reading_run x = { .t = t };
	int rc;

	t->nnodes = r->nnodes;
	t->node = calloc(r->nnodes + 1u, sizeof *t->node);
	if (!t->node || t->failed)
		return no_memory(e);
	rc = open_run(&x, r, e);
	if (!rc && thin(t, r, x.nfeeds))
		rc = no_memory(e);
	if (!rc)
		rc = read_chunks(&x, r, e);
	derive_close(&x.v);
	free(x.feed);
	free(x.first);
	free(x.clock);
	for (uint32_t i = 1; i < t->nnodes; i++)
		t->to_s = fmax(t->to_s, t->node[i].last_s);
	sort_traces(t);
	return rc;
}
