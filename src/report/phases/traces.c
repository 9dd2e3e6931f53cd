/* SPDX-License-Identifier: Apache-2.0 */
#include "report/phases/traces.h"

#include "base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- wishes ---- */

void traces_wish(struct traces *t, const char *metric, bool by_instance)
{
	struct trace_wish *room;

	for (uint32_t i = 0; i < t->nwishes; i++)
		if (t->wish[i].by_instance == by_instance && !strcmp(t->wish[i].metric, metric))
			return;
	room = array_room(t->wish, t->nwishes, &t->wishes_cap, sizeof *t->wish);
	if (!room) {
		t->failed = true;
		return;
	}
	t->wish = room;
	t->wish[t->nwishes++] = (struct trace_wish){ metric, by_instance };
}

void traces_focus(struct traces *t, double from_s, double to_s)
{
	if (to_s > from_s && t->nfocuses < TRACE_FOCUSES)
		t->focus[t->nfocuses++] = (struct trace_focus){ from_s, to_s };
}

uint32_t traces_wish_of(const struct traces *t, const char *metric, bool by_instance)
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

void traces_sort(struct traces *t)
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
	const struct trace key = { .wish = traces_wish_of(t, metric, by_instance) };

	return alike(t, &key, false, n);
}

const struct trace *traces_of_node(const struct traces *t, const char *metric, bool by_instance,
				   uint32_t node, uint32_t *n)
{
	const struct trace key = { .wish = traces_wish_of(t, metric, by_instance), .node = node };

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
