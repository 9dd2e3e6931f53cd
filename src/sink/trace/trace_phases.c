/* SPDX-License-Identifier: Apache-2.0 */
/* trace_phases.c - phases that marks make: a group of a node's, with a track for each name. */
#include "core/phase/phase.h"

#include "base/clock.h"
#include "sink/trace/trace_lane.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What did not end is the longest. */
static double length_of(const struct phase *p)
{
	return isnan(p->duration_s) ? INFINITY : p->duration_s;
}

static int by_lane(const void *a, const void *b)
{
	const struct phase *x = *(const struct phase *const *)a;
	const struct phase *y = *(const struct phase *const *)b;
	int order = strcmp(x->name, y->name);

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (order || x->begin_ns != y->begin_ns)
		return order ? order : x->begin_ns < y->begin_ns ? -1 : 1;
	return (length_of(x) < length_of(y)) - (length_of(x) > length_of(y));
}

static bool same_lane(const struct phase *x, const struct phase *y)
{
	return x->node == y->node && !strcmp(x->name, y->name);
}

/* It is as long as it says it was, which need not be the time between its marks. */
static int64_t end_of(const struct trace *t, const struct phase *p, int64_t begin_ns,
		      struct notes *notes)
{
	int64_t end_ns;

	if (isnan(p->duration_s))
		return trace_end_of(t, p->node, INT64_MAX, notes);
	if (p->duration_s >= (double)INT64_MAX / NS_PER_S ||
	    __builtin_add_overflow(begin_ns, llround(p->duration_s * NS_PER_S), &end_ns))
		return INT64_MAX;
	return end_ns;
}

static int put_phase(struct trace *t, struct lane *l, const struct phase *p, struct err *e)
{
	char name[TITLE_MAX * 2];
	struct notes notes;
	struct trace_slice slice = { .group = trace_phase_group(t, p->node),
				     .begin_ns = trace_time(t, p->node, p->begin_ns),
				     .category = "phase",
				     .name = name };

	snprintf(name, sizeof name, "%s%s%s", p->name, *p->key ? " " : "", p->key);
	notes.n = 0;
	notes_text(&notes, "said", p->text);
	if (!isnan(p->size_bytes))
		notes_number(&notes, "size_bytes", p->size_bytes);
	slice.end_ns = end_of(t, p, slice.begin_ns, &notes);
	return lane_put(l, t, &slice, &notes, e);
}

int trace_phases(struct trace *t, struct err *e)
{
	const struct phases *p = t->phases;
	const struct phase **sorted;
	struct lane lane = { .nested = true };
	int rc = 0;

	if (!p || !p->n)
		return 0;
	sorted = calloc(p->n, sizeof(const struct phase *));
	if (!sorted)
		return trace_no_memory(e);
	for (uint32_t i = 0; i < p->n; i++)
		sorted[i] = &p->phase[i];
	qsort(sorted, p->n, sizeof(const struct phase *), by_lane);
	for (uint32_t i = 0; i < p->n && !rc; i++) {
		if (!i || !same_lane(sorted[i - 1], sorted[i]))
			lane_begin(&lane, sorted[i]->name);
		rc = put_phase(t, &lane, sorted[i], e);
	}
	lane_free(&lane);
	free(sorted);
	return rc;
}
