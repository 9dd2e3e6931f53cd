/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phase_nest.c - how the phases of a node lie in each other, in O(n log n) however they do.
 *
 * In order of begin, the longer one first, a phase lies in those before it that end no earlier. It
 * crosses one before it that ends within it, and one behind it that begins within it and ends
 * later. Both are counts of ends, kept in a Fenwick tree over the order of ends.
 */
#include "core/phase/phase_nest.h"

#include "core/describe.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a phase may lie in: those of the thread or of the lane of handles that it is of, or of the
 * rest of the node. Threads run side by side, and what they do crosses by its nature. */
struct nested {
	struct phase *phase;
	uint32_t of; /* the track; 0: the node */
};

struct nesting {
	struct nested *of; /* phases side by side, by begin, the longer one first */
	double *end;       /* their ends, sorted */
	uint32_t *count;   /* Fenwick, from 1: how many seen phases have the end of this rank */
	uint32_t n;
};

static double end_of(const struct phase *p)
{
	return p->end_ns == INT64_MAX ? INFINITY : p->end_s;
}

static int by_node_and_begin(const void *a, const void *b)
{
	const struct nested *m = a, *n = b;
	const struct phase *x = m->phase, *y = n->phase;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (m->of != n->of)
		return m->of < n->of ? -1 : 1;
	if (x->begin_s != y->begin_s)
		return x->begin_s < y->begin_s ? -1 : 1;
	return (end_of(x) < end_of(y)) - (end_of(x) > end_of(y));
}

/* How many of the sorted ends are below v, or, with `same`, at most v. */
static uint32_t rank_of(const struct nesting *t, double v, bool same)
{
	uint32_t low = 0, high = t->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (t->end[mid] < v || (same && t->end[mid] == v))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void put(struct nesting *t, double end)
{
	for (uint32_t i = rank_of(t, end, true); i && i <= t->n; i += i & -i)
		t->count[i]++;
}

/* How many of those put have one of the first `rank` ends. */
static uint32_t put_before(const struct nesting *t, uint32_t rank)
{
	uint32_t n = 0;

	for (uint32_t i = rank; i; i -= i & -i)
		n += t->count[i];
	return n;
}

/* How many phases begin before this. */
static uint32_t begun_before(const struct nesting *t, double at)
{
	uint32_t low = 0, high = t->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (t->of[mid].phase->begin_s < at)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void nest_node(struct nesting *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		t->end[i] = end_of(t->of[i].phase);
	sort_values(t->end, t->n);
	memset(t->count, 0, (t->n + 1) * sizeof *t->count);
	for (uint32_t i = 0; i < t->n; i++) {
		struct phase *p = t->of[i].phase;
		double end = end_of(p);
		uint32_t sooner = put_before(t, rank_of(t, end, false));
		uint32_t over = put_before(t, rank_of(t, p->begin_s, true));
		uint32_t begun, within;

		p->depth = i - sooner;
		p->crosses = sooner > over;
		put(t, end);
		/* Of those behind it: how many begin before its end, and how many of these end by
		 * then, too. What ends by then has begun before. */
		begun = begun_before(t, end);
		within = rank_of(t, end, true) - put_before(t, rank_of(t, end, true));
		p->crosses |= begun > i + 1 && begun - (i + 1) > within;
	}
}

static bool are_side_by_side(const struct nested *a, const struct nested *b)
{
	return a->phase->node == b->phase->node && a->of == b->of;
}

static bool is_of_program(const struct run *r, uint32_t track)
{
	return track && (run_label(r, track, "tid") || run_label(r, track, "async"));
}

int phases_nest(struct phases *p, const struct run *r)
{
	struct nested *all = calloc((size_t)p->n + 1, sizeof *all);
	struct nesting t = { .end = calloc((size_t)p->n + 1, sizeof *t.end),
			     .count = calloc((size_t)p->n + 1, sizeof *t.count) };
	int rc = all && t.end && t.count ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < p->n && !rc; i++) {
		uint32_t track = p->phase[i].track;

		all[i] = (struct nested){ &p->phase[i], is_of_program(r, track) ? track : 0 };
	}
	if (!rc)
		qsort(all, p->n, sizeof *all, by_node_and_begin);
	for (uint32_t i = 0; i < p->n && !rc; i += t.n) {
		t.of = all + i;
		for (t.n = 1; i + t.n < p->n && are_side_by_side(&all[i], &all[i + t.n]);)
			t.n++;
		nest_node(&t);
	}
	free(all);
	free(t.end);
	free(t.count);
	return rc;
}

/* ---- the innermost at a time ---- */

/* Begins and ends of a node's phases in order of time; those that are open lie in a heap, the
 * innermost on top, where one that has ended stays until it comes to the top. */

/* From then on, until the next one. */
struct phase_step {
	double at_s;
	const struct phase *phase; /* NULL: none */
};

struct sweep {
	const struct phase **open; /* a heap */
	uint32_t nopen;
	double *end; /* of the node's phases, sorted */
};

static bool is_within(const struct phase *a, const struct phase *b)
{
	return a->depth != b->depth ? a->depth > b->depth : a > b;
}

static void push(struct sweep *w, const struct phase *p)
{
	uint32_t at = w->nopen++;

	for (; at && is_within(p, w->open[(at - 1) / 2]); at = (at - 1) / 2)
		w->open[at] = w->open[(at - 1) / 2];
	w->open[at] = p;
}

static void pop(struct sweep *w)
{
	const struct phase *last = w->open[--w->nopen];
	uint32_t at = 0, child;

	while ((child = 2 * at + 1) < w->nopen) {
		if (child + 1 < w->nopen && is_within(w->open[child + 1], w->open[child]))
			child++;
		if (!is_within(w->open[child], last))
			break;
		w->open[at] = w->open[child];
		at = child;
	}
	w->open[at] = last;
}

static bool has_ended(const struct phase *p, double at_s)
{
	return !isnan(p->end_s) && p->end_s <= at_s;
}

/* of: the n phases of a node, by begin. Returns the number of steps, at most 2 n. */
static uint32_t sweep_node(struct sweep *w, const struct phase *const *of, uint32_t n,
			   struct phase_step *step)
{
	uint32_t begun = 0, ended = 0, nends = 0, nsteps = 0;

	for (uint32_t i = 0; i < n; i++)
		if (!isnan(of[i]->end_s))
			w->end[nends++] = of[i]->end_s;
	sort_values(w->end, nends);
	w->nopen = 0;
	while (begun < n || ended < nends) {
		double at_s = fmin(begun < n ? of[begun]->begin_s : NAN,
				   ended < nends ? w->end[ended] : NAN);

		for (; begun < n && !(of[begun]->begin_s > at_s); begun++)
			push(w, of[begun]);
		while (ended < nends && w->end[ended] <= at_s)
			ended++;
		while (w->nopen && has_ended(w->open[0], at_s))
			pop(w);
		step[nsteps++] = (struct phase_step){ at_s, w->nopen ? w->open[0] : NULL };
	}
	return nsteps;
}

/* The phases, a node's side by side, in their order; n is counted. */
static void place(struct phase_inner *x, const struct phases *p, const struct phase **of)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < p->n; i++)
		x->n[p->phase[i].node]++;
	for (uint32_t node = 0; node < x->nnodes; node++) {
		x->first[node] = sum;
		sum += x->n[node];
		x->n[node] = 0;
	}
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t node = p->phase[i].node;

		of[x->first[node] + x->n[node]++] = &p->phase[i];
	}
}

int phase_inner_make(struct phase_inner *x, const struct phases *p, const struct run *r)
{
	const struct phase **of = calloc(2 * ((size_t)p->n + 1), sizeof(void *));
	struct sweep w = { .open = of ? of + p->n + 1 : NULL,
			   .end = calloc((size_t)p->n + 1, sizeof *w.end) };
	bool made;

	*x = (struct phase_inner){ .step = calloc(2 * (size_t)p->n + 1, sizeof *x->step),
				   .first = calloc(r->nnodes + 1u, sizeof *x->first),
				   .n = calloc(r->nnodes + 1u, sizeof *x->n),
				   .nnodes = r->nnodes };
	made = of && w.end && x->step && x->first && x->n;
	if (made)
		place(x, p, of);
	for (uint32_t node = 0; made && node < x->nnodes; node++) {
		uint32_t first = x->first[node];

		x->first[node] = 2 * first;
		x->n[node] = sweep_node(&w, of + first, x->n[node], x->step + 2 * (size_t)first);
	}
	free(of);
	free(w.end);
	return made ? 0 : -ENOMEM;
}

void phase_inner_free(struct phase_inner *x)
{
	free(x->step);
	free(x->first);
	free(x->n);
	*x = (struct phase_inner){ 0 };
}

const struct phase *phase_inner_at(const struct phase_inner *x, uint32_t node, double at_s)
{
	const struct phase_step *step;
	uint32_t low = 0, high;

	if (node >= x->nnodes)
		return NULL;
	step = x->step + x->first[node];
	high = x->n[node];
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (step[middle].at_s <= at_s)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? step[low - 1].phase : NULL;
}

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
