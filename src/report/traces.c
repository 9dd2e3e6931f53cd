/* SPDX-License-Identifier: Apache-2.0 */
#include "report/traces.h"

#include "base/array.h"
#include "base/bytes.h"
#include "core/derive.h"
#include "report/page_metric.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Points of a trace: as many as a chart is wide; of very many traces fewer. */
enum { POINTS_MAX = 800, POINTS_MIN = 40, POINTS_OF_ALL = 4000000 };

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory while drawing the plots");
}

/* One way through the run: the wishes by instance, or those of whole nodes. */
struct pass {
	struct derive v;
	uint32_t *wish;  /* [quantities]: nwishes for none */
	uint32_t *trace; /* [cells]: which trace + 1 */
	bool open;
};

static int open_pass(struct pass *p, const struct traces *t, struct run *r, bool by_instance,
		     struct err *e)
{
	struct selection sel = { .table = FRAME_SERIES, .combine = !by_instance };
	struct bytes names = { 0 };
	int rc = 0;

	for (uint32_t i = 0; i < t->nwishes; i++)
		if (t->wish[i].by_instance == by_instance &&
		    page_metric(r, t->wish[i].metric, NULL))
			bytes_printf(&names, "%s%s", names.len ? "," : "", t->wish[i].metric);
	if (names.len) {
		bytes_u8(&names, 0);
		sel.metrics = (const char *)names.data;
		p->open = true;
		rc = names.failed ? no_memory(e) : derive_open(&p->v, r, &sel, e);
	}
	bytes_free(&names);
	return rc;
}

static int find_wishes(struct pass *p, const struct traces *t, uint32_t nmetrics, bool by_instance)
{
	const struct plan *plan = &p->v.plan;

	p->wish = calloc(nmetrics + 1u, sizeof *p->wish);
	p->trace = calloc(plan->ncells + 1u, sizeof *p->trace);
	if (!p->wish || !p->trace || !plan->quantity)
		return -ENOMEM;
	for (uint32_t q = 1; q < nmetrics; q++)
		while (p->wish[q] < t->nwishes &&
		       (t->wish[p->wish[q]].by_instance != by_instance ||
			strcmp(t->wish[p->wish[q]].metric, plan->quantity[q].name) != 0))
			p->wish[q]++;
	return 0;
}

static void close_pass(struct pass *p)
{
	if (p->open)
		derive_close(&p->v);
	free(p->wish);
	free(p->trace);
	*p = (struct pass){ 0 };
}

static uint32_t count_cells(const struct pass *p)
{
	uint32_t n = 0;

	for (uint32_t c = 1; p->open && c < p->v.plan.ncells; c++)
		n += p->v.plan.cell[c].emitted;
	return n;
}

static int thin(struct traces *t, const struct run *r, uint32_t cells)
{
	uint32_t limit = POINTS_OF_ALL / (cells ? cells : 1);

	limit = limit > POINTS_MAX ? POINTS_MAX : limit < POINTS_MIN ? POINTS_MIN : limit;
	for (uint32_t i = 1; i < t->nnodes; i++) {
		struct trace_node *n = &t->node[i];
		uint64_t rows = r->nodes[i].rows;

		n->thinned = rows ? (uint32_t)((rows + limit - 1) / limit) : 1;
		n->cap = (uint32_t)((rows + n->thinned - 1) / n->thinned);
		n->at = calloc(n->cap + 1u, sizeof *n->at);
		if (!n->at)
			return -ENOMEM;
	}
	return 0;
}

/* The node's next row; false when it has more than it had when the run was opened. */
static bool add_row(struct trace_node *n, double at)
{
	uint32_t point = n->thinned ? n->nrows / n->thinned : 0;

	if (point >= n->cap)
		return false;
	n->stood_s = n->nrows ? at - n->last_s : 0;
	if (!(n->stood_s > 0))
		n->stood_s = 1e-9;
	if (!n->nrows)
		n->first_s = at;
	n->last_s = n->at[point] = at;
	n->npoints = point + 1;
	n->nrows++;
	return true;
}

static struct trace *trace_of(struct traces *t, struct pass *p, uint32_t cell)
{
	const struct cell *c = &p->v.plan.cell[cell];
	const struct holder *h = &p->v.plan.holder[c->holder];
	struct trace *room;

	if (p->trace[cell])
		return &t->trace[p->trace[cell] - 1];
	room = array_room(t->trace, t->n, &t->cap, sizeof *t->trace);
	if (!room)
		return NULL;
	t->trace = room;
	room = &t->trace[t->n];
	*room = (struct trace){ h->node, h->instance, p->wish[c->quantity], NULL };
	room->point = calloc(t->node[h->node].cap + 1u, sizeof *room->point);
	if (!room->point)
		return NULL;
	p->trace[cell] = ++t->n;
	return room;
}

static void add_value(struct trace_point *p, double v, double seconds)
{
	float f = (float)v;

	p->min = p->weight > 0 ? fminf(p->min, f) : f;
	p->max = p->weight > 0 ? fmaxf(p->max, f) : f;
	p->sum += v * seconds;
	p->weight += (float)seconds;
}

static int add_instant(struct traces *t, struct pass *p, const struct instant *in)
{
	struct trace_node *n = &t->node[in->node];

	if (!add_row(n, in->seconds))
		return 0;
	for (uint32_t i = 0; i < in->n; i++) {
		uint32_t cell = in->cell[i];
		struct trace *x;

		if (p->wish[p->v.plan.cell[cell].quantity] >= t->nwishes)
			continue;
		x = trace_of(t, p, cell);
		if (!x)
			return -ENOMEM;
		add_value(&x->point[n->npoints - 1], in->value[i], n->stood_s);
	}
	return 0;
}

static int read_pass(struct traces *t, struct pass *p, struct err *e)
{
	struct instant in;
	int rc = derive_rewind(&p->v);

	for (uint32_t i = 0; i < t->nnodes; i++)
		t->node[i].nrows = 0;
	while (rc == 0 && (rc = derive_next(&p->v, &in, e)) > 0) {
		rc = add_instant(t, p, &in);
		if (rc)
			no_memory(e);
	}
	return rc;
}

/* By wish; those of one as they came. */
static int compare(const void *a, const void *b)
{
	const struct trace *x = a, *y = b;

	if (x->wish != y->wish)
		return x->wish < y->wish ? -1 : 1;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return (x->instance > y->instance) - (x->instance < y->instance);
}

int traces_read(struct traces *t, struct run *r, const struct trace_wish *wish, uint32_t nwishes,
		struct err *e)
{
	struct pass pass[2] = { { .open = false } };
	uint32_t cells = 0;
	int rc = 0;

	*t = (struct traces){ .wish = wish, .nwishes = nwishes, .nnodes = r->nnodes };
	t->node = calloc(r->nnodes + 1u, sizeof *t->node);
	if (!t->node)
		return no_memory(e);
	for (int i = 0; i < 2 && !rc; i++) {
		rc = open_pass(&pass[i], t, r, i == 1, e);
		if (!rc && pass[i].open && find_wishes(&pass[i], t, r->nmetrics, i == 1))
			rc = no_memory(e);
		cells += count_cells(&pass[i]);
	}
	if (!rc && thin(t, r, cells))
		rc = no_memory(e);
	for (int i = 0; i < 2; i++) {
		if (!rc && pass[i].open)
			rc = read_pass(t, &pass[i], e);
		close_pass(&pass[i]);
	}
	for (uint32_t i = 1; i < t->nnodes; i++)
		t->to_s = fmax(t->to_s, t->node[i].last_s);
	if (t->n)
		qsort(t->trace, t->n, sizeof *t->trace, compare);
	return rc;
}

void traces_free(struct traces *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		free(t->trace[i].point);
	for (uint32_t i = 0; t->node && i < t->nnodes; i++)
		free(t->node[i].at);
	free(t->trace);
	free(t->node);
	*t = (struct traces){ 0 };
}

double trace_mean(const struct trace_point *p)
{
	return p->weight > 0 ? p->sum / (double)p->weight : NAN;
}

const struct trace *traces_of_node(const struct traces *t, const char *metric, uint32_t node)
{
	for (uint32_t w = 0; w < t->nwishes; w++) {
		const struct trace key = { .wish = w, .node = node };
		const struct trace *x = NULL;

		if (!t->wish[w].by_instance && t->n && !strcmp(t->wish[w].metric, metric))
			x = bsearch(&key, t->trace, t->n, sizeof *t->trace, compare);
		if (x)
			return x;
	}
	return NULL;
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
