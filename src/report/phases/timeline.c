/* SPDX-License-Identifier: Apache-2.0 */
#include "report/phases/timeline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void timeline_init(struct timeline *t, const struct run *r)
{
	double from = NAN, to = NAN, interval = 0;

	*t = (struct timeline){ 0 };
	for (uint32_t i = 1; i < r->nnodes; i++) {
		const struct run_node *n = &r->nodes[i];
		double begin = run_seconds(r, i, n->first_ns), end = run_seconds(r, i, n->last_ns);

		if (!n->rows || !(end >= begin))
			continue;
		from = fmin(from, begin);
		to = fmax(to, end);
		if (n->rows > 1)
			interval = fmax(interval, (end - begin) / (double)(n->rows - 1));
	}
	if (!(to > from))
		return;
	t->from_s = from;
	t->width_s = fmax((to - from) / TIMELINE_WINDOWS, interval);
	t->nwindows = (uint32_t)fmin(ceil((to - from) / t->width_s), TIMELINE_WINDOWS);
}

void timeline_free(struct timeline *t)
{
	for (uint32_t i = 0; i < t->nrows; i++)
		free(t->row[i].value);
	*t = (struct timeline){ 0 };
}

const struct timeline_row *timeline_find(const struct timeline *t, const char *metric)
{
	for (uint32_t i = 0; i < t->nrows; i++)
		if (strcmp(t->row[i].metric, metric) == 0)
			return &t->row[i];
	return NULL;
}

struct timeline_row *timeline_add(struct timeline *t, const char *metric, bool sum)
{
	struct timeline_row *row = (struct timeline_row *)(uintptr_t)timeline_find(t, metric);

	if (row || t->nrows == TIMELINE_ROWS || !t->nwindows)
		return row;
	row = &t->row[t->nrows];
	row->value = malloc(t->nwindows * sizeof *row->value);
	if (!row->value)
		return NULL;
	for (uint32_t i = 0; i < t->nwindows; i++)
		row->value[i] = NAN;
	snprintf(row->metric, sizeof row->metric, "%s", metric);
	row->sum = sum;
	t->nrows++;
	return row;
}

void timeline_end(struct timeline_track *k)
{
	double mean = k->sum / k->seconds, *value;

	if (!(k->seconds > 0))
		return;
	value = &k->row->value[k->window];
	*value = isnan(*value) ? mean : k->row->sum ? *value + mean : fmax(*value, mean);
	k->sum = k->seconds = 0;
}

static void open_window(const struct timeline *t, struct timeline_track *k, uint32_t w)
{
	timeline_end(k);
	k->window = w;
	k->begin_s = t->from_s + w * t->width_s;
	/* What is beyond the end counts with the last. */
	k->end_s = w + 1 == t->nwindows ? INFINITY : k->begin_s + t->width_s;
}

static uint32_t window_of(const struct timeline *t, double s)
{
	double i = floor((s - t->from_s) / t->width_s);

	return i > 0 ? (uint32_t)fmin(i, t->nwindows - 1) : 0;
}

void timeline_spread(struct timeline *t, struct timeline_track *k, double from_s, double to_s,
		     double value)
{
	uint32_t last = window_of(t, to_s);

	for (uint32_t w = window_of(t, from_s); w <= last; w++) {
		double part;

		if (k->window != w || !(k->end_s > k->begin_s))
			open_window(t, k, w);
		part = fmin(to_s, k->end_s) - fmax(from_s, k->begin_s);
		if (!(part > 0))
			continue;
		k->sum += value * part;
		k->seconds += part;
	}
}

bool timeline_beyond(const struct timeline *t, const char *metric, double threshold, bool below,
		     double *from_s, double *to_s)
{
	const struct timeline_row *row = timeline_find(t, metric);
	uint32_t first = UINT32_MAX, last = 0;

	for (uint32_t i = 0; row && i < t->nwindows; i++) {
		if (below ? !(row->value[i] < threshold) : !(row->value[i] > threshold))
			continue;
		first = first < i ? first : i;
		last = i;
	}
	if (first == UINT32_MAX)
		return false;
	*from_s = fmax(0, t->from_s + first * t->width_s);
	*to_s = t->from_s + (last + 1) * t->width_s;
	return true;
}

/* Guests are inside user and nice. */
static const char *const names[TRACE_CLOCK_CELLS] = {
	"node.cpu_user_cores",    "node.cpu_nice_cores",   "node.cpu_system_cores",
	"node.cpu_idle_cores",    "node.cpu_iowait_cores", "node.cpu_irq_cores",
	"node.cpu_softirq_cores", "node.cpu_steal_cores",  "node.cores_online_count",
};

/* Further away it is not the clocks that differ: cores came or went, or the kernel lost time. */
static const double most_apart = 2;

uint32_t trace_clock_find(const char *metric)
{
	uint32_t i = 0;

	while (i < TRACE_CLOCK_CELLS && strcmp(names[i], metric) != 0)
		i++;
	return i;
}

const char *trace_clock_name(uint32_t which)
{
	return names[which];
}

/* Adds what is known. */
static void clock_add(struct derive *d, uint32_t cell, uint32_t n, double *sum)
{
	struct derived c;

	if (!derive_column(d, cell, &c))
		return;
	for (uint32_t r = 0; r < n; r++)
		sum[r] += c.state[r] == STATE_PRESENT ? c.value[r] : 0;
}

void trace_clock_scale(const struct trace_clock *c, struct derive *d, uint32_t n, double *scale)
{
	double cores[SLICE_ROWS] = { 0 };

	for (uint32_t r = 0; r < n; r++)
		scale[r] = 0;
	for (uint32_t i = 0; i < TRACE_CLOCK_STATES; i++)
		if (c->cell[i])
			clock_add(d, c->cell[i], n, scale);
	if (c->cell[TRACE_CLOCK_STATES])
		clock_add(d, c->cell[TRACE_CLOCK_STATES], n, cores);
	for (uint32_t r = 0; r < n; r++) {
		double by = scale[r] > 0 ? cores[r] / scale[r] : 1;

		scale[r] = by > 1 / most_apart && by < most_apart ? by : 1;
	}
}
