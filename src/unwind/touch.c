/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/touch.h"

#include <math.h>
#include <stddef.h>

enum {
	WINDOW = 24,
	WINDOW_LEAST = 6,
	STEP = 4,
	GAP = 8,
	NEAR_BYTES = 2 << 20,
	GROUP = 8, /* samples, at least, that share the pages around them */
	REACH = 4, /* by which chance a sample has no other beside it: of the faults it stands for
		    */
};
#define ENOUGH 1.02 /* of the pages of a range: until no more is claimed, the oldest go */

/* Samples by chance may claim more than there is, the more so the fewer they are. */
static double most(uint32_t n)
{
	return 1 + 2.5 / sqrt(n);
}

static bool counts(const struct touch *x)
{
	return x->here && !x->of_file && x->pages == 1 && !x->reused;
}

/* Pages claimed between the first and the last, by the pages that are there. */
static double claimed(struct touch *const *x, uint32_t n, uint64_t page_bytes)
{
	uint64_t pages = (x[n - 1]->address - x[0]->address) / page_bytes + 1;
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += x[i]->faults * (i && i < n - 1 ? 1.0 : 0.5);
	return sum / (double)pages;
}

/* A newer one is beside it, among the pages that it stands for. */
static bool is_overrun(struct touch *const *x, uint32_t n, uint32_t i, uint64_t page_bytes)
{
	uint64_t near = x[i]->faults * page_bytes / 5 * 3;

	return (i && x[i - 1]->at_ns > x[i]->at_ns && x[i]->address - x[i - 1]->address <= near) ||
	       (i + 1 < n && x[i + 1]->at_ns > x[i]->at_ns &&
		x[i + 1]->address - x[i]->address <= near);
}

/* How many are left; all of them if none is overrun. */
static uint32_t drop_oldest(struct touch **x, uint32_t n, uint64_t page_bytes)
{
	uint32_t oldest = n;

	for (uint32_t i = 0; i < n; i++)
		if ((oldest == n || x[i]->at_ns < x[oldest]->at_ns) &&
		    is_overrun(x, n, i, page_bytes))
			oldest = i;
	if (oldest == n)
		return n;
	x[oldest]->reused = true;
	for (uint32_t i = oldest; i + 1 < n; i++)
		x[i] = x[i + 1];
	return n - 1;
}

/* Leaves those that stay. */
static uint32_t check(struct touch **x, uint32_t n, uint64_t page_bytes)
{
	uint32_t left = n;

	if (n < WINDOW_LEAST || claimed(x, n, page_bytes) <= most(n))
		return n;
	do {
		n = left;
		left = drop_oldest(x, n, page_bytes);
	} while (left < n && left > 1 && claimed(x, left, page_bytes) > ENOUGH);
	return left;
}

/* No memory that samples know of is between them. */
static bool is_apart(const struct touch *x, const struct touch *next, uint64_t page_bytes)
{
	return (next->address - x->address) / page_bytes > (uint64_t)GAP * x->faults;
}

void touch_mark_reused(struct touch *x, uint32_t n, uint64_t page_bytes)
{
	struct touch *window[WINDOW];
	uint32_t held = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (!counts(&x[i]))
			continue;
		if (held && is_apart(window[held - 1], &x[i], page_bytes)) {
			(void)check(window, held, page_bytes);
			held = 0;
		}
		window[held++] = &x[i];
		if (held == WINDOW)
			held = check(window, held, page_bytes);
		if (held < WINDOW)
			continue;
		held -= STEP;
		for (uint32_t k = 0; k < held; k++)
			window[k] = window[k + STEP];
	}
	(void)check(window, held, page_bytes);
}

/* ---- which pages they stand for ---- */

static bool is_there(const struct touch *x)
{
	return x->here && !x->of_file;
}

static bool is_near(const struct touch *x, const struct pagemap_range *r)
{
	return is_there(x) && x->address + NEAR_BYTES >= r->start &&
	       x->address < r->end + NEAR_BYTES;
}

/* The first at or behind an address. */
static uint32_t find(const struct touch_places *p, uint64_t address)
{
	uint32_t lo = 0, hi = p->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		*(p->x[mid].address < address ? &lo : &hi) =
			p->x[mid].address < address ? mid + 1 : mid;
	}
	return lo;
}

static void give_huge(struct touch_places *p, struct touch *x, uint64_t bytes)
{
	uint64_t pages = bytes / p->page_bytes;

	x->huge += (uint32_t)pages;
	p->huge += pages;
}

/* A huge page is one fault: too few to be sampled well. But around them, and where they begin, are
 * small ones. To the samples in the range, each as far as it is the nearest; else to the next ones
 * beside it. */
static void place_huge(struct touch_places *p, const struct pagemap_range *r)
{
	uint32_t lo = find(p, r->start), hi;
	struct touch *last = NULL, *beside[2];
	uint64_t from = r->start;

	for (hi = lo; hi < p->n && p->x[hi].address < r->end; hi++) {
		struct touch *x = &p->x[hi];
		uint64_t to;

		if (!is_near(x, r))
			continue;
		if (last) {
			to = last->address + (x->address - last->address) / 2;
			give_huge(p, last, to - from);
			from = to;
		}
		last = x;
	}
	if (last) {
		give_huge(p, last, r->end - from);
		return;
	}
	beside[0] = lo && is_near(&p->x[lo - 1], r) ? &p->x[lo - 1] : NULL;
	beside[1] = hi < p->n && is_near(&p->x[hi], r) ? &p->x[hi] : NULL;
	for (int i = 0; i < 2; i++)
		if (beside[i])
			give_huge(p, beside[i], (r->end - r->start) / (beside[!i] ? 2 : 1));
}

static uint64_t reach_of(const struct touch_places *p, const struct touch *x)
{
	uint64_t pages = (uint64_t)x->faults + x->lost;

	pages = REACH * (pages > p->usual ? pages : p->usual);
	return (pages > p->blind ? pages : p->blind) * p->page_bytes;
}

/* Samples next to each other, which share the pages around them. */
struct group {
	uint32_t first, last, n; /* last: the index of that */
	double sum;              /* of what they stand for */
	uint64_t from;           /* where their pages begin */
};

/* Each gets as much as it stands for: functions may alternate in those pages, and one may have been
 * sampled more often. */
static void share(struct touch_places *p, struct group *g, uint64_t to)
{
	double pages = (double)(to - g->from) / (double)p->page_bytes;

	for (uint32_t i = g->first; g->n && g->sum > 0 && i <= g->last; i++)
		if (is_there(&p->x[i]))
			p->x[i].held += (float)(pages * p->x[i].faults / g->sum);
	p->small += g->n && g->sum > 0 ? pages : 0;
	*g = (struct group){ .from = to };
}

/* With fewer it is chance how much each gets. As many pages whichever samples are in it: those that
 * stand for much would be missing among many that stand for little. */
static bool is_full(const struct touch_places *p, const struct group *g, uint64_t to)
{
	return g->n >= GROUP && (to - g->from) / p->page_bytes >= GROUP * p->most;
}

/* Where the pages of the last one end, if not at those of the next. */
static uint64_t end_of(const struct touch_places *p, const struct group *g)
{
	return p->x[g->last].address + reach_of(p, &p->x[g->last]);
}

static void join_group(const struct touch_places *p, struct group *g, uint32_t i)
{
	if (!g->n)
		g->first = i;
	g->last = i;
	g->n++;
	g->sum += p->x[i].faults;
}

static void add_to_group(struct touch_places *p, struct group *g, uint32_t i)
{
	uint64_t address = p->x[i].address, reach = reach_of(p, &p->x[i]);
	uint64_t from = address > reach ? address - reach : 0, middle;

	if (g->n && end_of(p, g) < from) {
		share(p, g, end_of(p, g));
		g->from = from;
	} else if (g->n) {
		middle = p->x[g->last].address + (address - p->x[g->last].address) / 2;
		if (is_full(p, g, middle))
			share(p, g, middle);
	} else if (g->from < from) {
		g->from = from;
	}
	join_group(p, g, i);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Of pages without any the nearest one beside them. */
static void place_beside(struct touch_places *p, const struct pagemap_range *r, uint32_t next)
{
	const struct touch *before = next ? &p->x[next - 1] : NULL;
	const struct touch *behind = next < p->n ? &p->x[next] : NULL;
	struct group g = { .from = r->start };
	uint32_t i = next;

	before = before && is_near(before, r) ? before : NULL;
	behind = behind && is_near(behind, r) ? behind : NULL;
	if (before && (!behind || r->start - before->address <= behind->address - r->end))
		i--;
	else if (!behind)
		return;
	join_group(p, &g, i);
	share(p, &g, r->start + least(r->end - r->start, reach_of(p, &p->x[i])));
}

static void place_small(struct touch_places *p, const struct pagemap_range *r)
{
	struct group g = { .from = r->start };
	uint32_t lo = find(p, r->start), hi;

	for (hi = lo; hi < p->n && p->x[hi].address < r->end; hi++)
		if (is_there(&p->x[hi]))
			add_to_group(p, &g, hi);
	if (g.n)
		share(p, &g, least(r->end, end_of(p, &g)));
	else if (hi == lo)
		place_beside(p, r, lo);
}

void touch_place_begin(struct touch_places *p)
{
	p->most = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		p->x[i].huge = 0;
		p->x[i].held = 0;
		if (is_there(&p->x[i]) && p->most < p->x[i].faults)
			p->most = p->x[i].faults;
	}
	p->huge = p->all = 0;
	p->small = 0;
}

void touch_place(struct touch_places *p, const struct pagemap_range *r)
{
	p->all += (r->end - r->start) / p->page_bytes;
	if (r->huge)
		place_huge(p, r);
	else
		place_small(p, r);
}

void touch_place_end(struct touch_places *p)
{
	double most = 0, n = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct touch *x = &p->x[i];

		if (!is_there(x))
			continue;
		most += (double)x->faults + x->lost;
		n++;
	}
	most += 3 * sqrt(n) * (double)p->usual + (double)p->blind;
	if (p->small <= most)
		return;
	for (uint32_t i = 0; i < p->n; i++)
		p->x[i].held = (float)(p->x[i].held * most / p->small);
	p->small = most;
}
