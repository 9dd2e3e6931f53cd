/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page/page_event.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first level is finer than any screen; each that follows is half as fine. */
enum { FINEST = 8192 };

static double length_of(const struct page_event *e)
{
	if (!e->is_span)
		return 0;
	return isnan(e->to_s) ? (double)INFINITY : e->to_s - e->from_s;
}

static int compare_texts(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int compare_numbers(double a, double b)
{
	return (a > b) - (a < b);
}

int page_event_by_time(const void *a, const void *b)
{
	const struct page_event *x = a, *y = b;

	if (x->from_s != y->from_s)
		return x->from_s < y->from_s ? -1 : 1;
	if (x->is_span != y->is_span)
		return x->is_span ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static int compare_places(const struct page_event *x, const struct page_event *y)
{
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->is_span != y->is_span)
		return x->is_span ? -1 : 1;
	return compare_texts(x->track, y->track);
}

static int by_place(const void *a, const void *b)
{
	int d = compare_places(a, b);

	return d ? d : page_event_by_time(a, b);
}

static int by_name(const void *a, const void *b)
{
	const struct page_event *x = a, *y = b;
	int d = compare_places(x, y);

	d = d ? d : compare_texts(x->name, y->name);
	return d ? d : page_event_by_time(a, b);
}

static int longest_first(const void *a, const void *b)
{
	int d = compare_numbers(length_of(b), length_of(a));

	return d ? d : page_event_by_time(a, b);
}

static double end_of(const struct page_event *e)
{
	if (!e->is_span)
		return fmax(e->from_s, e->to_s);
	return isnan(e->to_s) ? (double)INFINITY : e->to_s;
}

/* Together no longer than a step: what is longer stays by itself. */
static bool joins(const struct page_event *a, const struct page_event *b, double step_s)
{
	return fmax(end_of(a), end_of(b)) - a->from_s <= step_s;
}

static void join(struct page_event *a, const struct page_event *b)
{
	if (a->count == 1)
		a->lasted_s = length_of(a);
	a->lasted_s += b->count == 1 ? length_of(b) : b->lasted_s;
	a->to_s = fmax(end_of(a), end_of(b));
	a->count += b->count;
	a->text = NULL;
	if (a->name && compare_texts(a->name, b->name) != 0)
		a->name = NULL;
}

/* Those that are in order, as far as they are alike. */
static uint32_t join_all(struct page_event *e, uint32_t n, double step_s, bool of_a_name)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct page_event *last = kept ? &e[kept - 1] : NULL;

		if (last && !compare_places(last, &e[i]) &&
		    (!of_a_name || !compare_texts(last->name, e[i].name)) &&
		    joins(last, &e[i], step_s))
			join(last, &e[i]);
		else
			e[kept++] = e[i];
	}
	return kept;
}

/* First those of a name, as finely as that is enough; then of all names; then those that are too
 * long for it, which only a run with very many nodes or tracks has. */
uint32_t page_events_merge(struct page_event *e, uint32_t n, uint32_t most, double length_s)
{
	double finest_s = length_s / FINEST;

	for (int of_a_name = 1; n > most && of_a_name >= 0; of_a_name--) {
		int coarsest = of_a_name ? FINEST / 64 : FINEST;

		qsort(e, n, sizeof *e, of_a_name ? by_name : by_place);
		for (int level = 1; n > most && level <= coarsest; level *= 2)
			n = join_all(e, n, level * finest_s, of_a_name);
	}
	if (n > most) {
		qsort(e, n, sizeof *e, longest_first);
		n = most;
	}
	if (n)
		qsort(e, n, sizeof *e, page_event_by_time);
	return n;
}
