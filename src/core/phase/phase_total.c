/* SPDX-License-Identifier: Apache-2.0 */
#include "core/phase/phase_total.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether two phases are of one total. */
static int compare_groups(const struct phase *x, const struct phase *y, unsigned level)
{
	int order = strcmp(x->name, y->name);

	if (!order && level & PHASE_BY_KEY)
		order = strcmp(x->key, y->key);
	if (!order && level & PHASE_BY_NODE)
		order = (x->node > y->node) - (x->node < y->node);
	return order;
}

static int by_group(const void *a, const void *b, void *ctx)
{
	const struct phase *x = *(const struct phase *const *)a;
	const struct phase *y = *(const struct phase *const *)b;
	int order = compare_groups(x, y, *(const unsigned *)ctx);

	if (!order)
		order = (x->node > y->node) - (x->node < y->node);
	if (!order)
		order = (x->begin_s > y->begin_s) - (x->begin_s < y->begin_s);
	return order ? order : (x > y) - (x < y);
}

static int by_first_begin(const void *a, const void *b)
{
	const struct phase_total *x = a, *y = b;

	if (x->first_begin_s != y->first_begin_s)
		return x->first_begin_s < y->first_begin_s ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

static double plus(double sum, double v)
{
	return isnan(v) ? sum : isnan(sum) ? v : sum + v;
}

static void add_ended(struct phase_total *t, const struct phase *p, double *sized_s)
{
	t->total_s = plus(t->total_s, p->duration_s);
	t->times_s += p->end_s - p->begin_s;
	t->uncertain_s = fmax(t->uncertain_s, p->uncertain_s);
	t->min_s = fmin(t->min_s, p->duration_s);
	t->max_s = fmax(t->max_s, p->duration_s);
	t->last_end_s = fmax(t->last_end_s, p->end_s);
	if (!isnan(p->size_bytes))
		*sized_s += p->duration_s;
	t->size_bytes = plus(t->size_bytes, p->size_bytes);
}

/* Members of one node, by begin. */
static void add_covered(struct phase_total *t, const struct phase *const *m, uint32_t n)
{
	double until = -INFINITY;

	for (uint32_t i = 0; i < n; i++) {
		if (isnan(m[i]->duration_s) || m[i]->end_s <= until)
			continue;
		t->covered_s = plus(t->covered_s, m[i]->end_s - fmax(m[i]->begin_s, until));
		until = m[i]->end_s;
	}
}

static struct phase_total total_of(const struct phase *const *m, uint32_t n, unsigned level)
{
	struct phase_total t = { .name = m[0]->name,
				 .key = level & PHASE_BY_KEY ? m[0]->key : NULL,
				 .node = level & PHASE_BY_NODE ? m[0]->node : 0,
				 .n = n,
				 .total_s = NAN,
				 .min_s = NAN,
				 .max_s = NAN,
				 .covered_s = NAN,
				 .first_begin_s = NAN,
				 .last_begin_s = NAN,
				 .last_end_s = NAN,
				 .size_bytes = NAN };
	double sized_s = 0, last_first = NAN;
	uint32_t same;

	for (uint32_t i = 0; i < n; i += same) {
		for (same = 0; i + same < n && m[i + same]->node == m[i]->node; same++) {
			const struct phase *p = m[i + same];

			t.last_begin_s = fmax(t.last_begin_s, p->begin_s);
			if (isnan(p->duration_s))
				t.unfinished++;
			else
				add_ended(&t, p, &sized_s);
		}
		add_covered(&t, m + i, same);
		t.first_begin_s = fmin(t.first_begin_s, m[i]->begin_s);
		last_first = fmax(last_first, m[i]->begin_s);
		t.nodes++;
	}
	t.mean_s = t.total_s / (n - t.unfinished);
	t.starts_apart_s = t.nodes > 1 ? last_first - t.first_begin_s : NAN;
	t.bytes_per_second = sized_s > 0 ? t.size_bytes / sized_s : NAN;
	return t;
}

static bool says_more(const struct phases *p, unsigned level)
{
	bool keys = false, nodes = false;

	for (uint32_t i = 0; i < p->n; i++) {
		keys |= *p->phase[i].key;
		nodes |= p->phase[i].node != p->phase[0].node;
	}
	return p->n && (keys || !(level & PHASE_BY_KEY)) && (nodes || !(level & PHASE_BY_NODE));
}

static void add_level(struct phase_totals *t, const struct phases *p, unsigned level)
{
	const struct phase **member = t->member + (size_t)level * p->n;
	uint32_t same;

	if (!says_more(p, level))
		return;
	for (uint32_t i = 0; i < p->n; i++)
		member[i] = &p->phase[i];
	qsort_r(member, p->n, sizeof(const struct phase *), by_group, &level);
	for (uint32_t i = 0; i < p->n; i += same) {
		for (same = 1; i + same < p->n; same++)
			if (compare_groups(member[i], member[i + same], level))
				break;
		t->total[t->n] = total_of(member + i, same, level);
		t->total[t->n].first = level * p->n + i;
		t->total[t->n++].nmembers = same;
	}
	qsort(t->total + t->first[level], t->n - t->first[level], sizeof *t->total, by_first_begin);
}

int phase_totals_make(struct phase_totals *t, const struct phases *p)
{
	*t = (struct phase_totals){
		.total = calloc((size_t)p->n * PHASE_LEVELS + 1, sizeof *t->total),
		.member = calloc((size_t)p->n * PHASE_LEVELS + 1, sizeof(const struct phase *)),
	};
	if (!t->total || !t->member) {
		phase_totals_free(t);
		return -ENOMEM;
	}
	for (unsigned level = 0; level < PHASE_LEVELS; level++) {
		t->first[level] = t->n;
		add_level(t, p, level);
	}
	t->first[PHASE_LEVELS] = t->n;
	return 0;
}

void phase_totals_free(struct phase_totals *t)
{
	free(t->total);
	free(t->member);
	*t = (struct phase_totals){ 0 };
}
