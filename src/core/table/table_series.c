/* SPDX-License-Identifier: Apache-2.0 */
#include "core/table/table_series.h"

#include "base/clock.h"

#include <errno.h>
#include <math.h>
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
