/* SPDX-License-Identifier: Apache-2.0 */
/* tree_walk.c - PSS and USS within a budget: a walk of page tables costs the job, too, since it
 * holds the lock that mmap needs. A process is walked again only when its memory has changed. */
#include "sampler/tree/tree_state.h"

#include "base/clock.h"

#include <errno.h>

enum {
	LONG_WALK_MS = 5, /* longer ones only once a minute, from a half of the budget ... */
	LONG_WALK_AGAIN_S = 60,
	LONGEST_WALK_MS = 250, /* ... and never longer than this: the job waits for them */
};

static const int64_t budget_max_ns = 20 * NS_PER_MS, kept_for_new_ns = 2 * NS_PER_MS,
		     sharing_matters = 32 << 20,
		     debt_ns = 10 * NS_PER_MS; /* so that all soon are read that share much */

static int64_t predict_ns(const struct tree *t, const struct process *p)
{
	int64_t rss = p->stat.rss_pages * t->reading.page_bytes;

	if (!p->walk_ns || p->walk_rss_bytes <= 0)
		return 15000 + rss / 1048576 * 11000;
	return (int64_t)((double)p->walk_cost_ns * ((double)rss / (double)p->walk_rss_bytes));
}

bool walk_is_old(const struct tree *t, const struct process *p)
{
	int64_t private = p->stat.rss_pages * t->reading.page_bytes - p->shared_bytes;

	return p->walk_outdated || p->walk_private_bytes != private ||
	       p->walk_minflt != p->stat.minflt;
}

static bool can_walk(const struct process *p)
{
	return !p->ended && !p->walk_refused && p->read_ns && p->stat.rss_pages && !p->memory_of;
}

/* Only a reading can show that memory has changed. */
static bool wants_walk(const struct tree *t, struct process *p)
{
	p->walk_due = p->walk_due && can_walk(p) && (!p->walk_ns || walk_is_old(t, p));
	return p->walk_due;
}

/* Is it about to be read for the first time, or has it grown much, however many readings ago? */
static void note_more(struct tree *t, struct process *p)
{
	int64_t rss = p->stat.rss_pages * t->reading.page_bytes;
	struct process *parent = table_find(&t->table, p->ppid);

	if (parent && parent->stack && parent->stack == p->stack && !parent->has_forked) {
		parent->has_forked = true;
		process_changed(parent);
	}
	if (rss < p->noted_rss_bytes)
		p->noted_rss_bytes = rss;
	if (rss - p->noted_rss_bytes <= sharing_matters || !sums_may_share(t, p))
		return;
	p->noted_rss_bytes = rss;
	t->shared_since_ns = clock_mono_ns();
}

/* Returns what it cost. */
static int64_t walk(struct tree *t, struct process *p)
{
	int64_t before = clock_cpu_ns(), cost;
	int bad;

	note_more(t, p);
	bad = process_walk(&t->reading, p);
	cost = clock_cpu_ns() - before;
	p->walk_refused = bad == -EACCES || bad == -EPERM || bad == -ENOENT;
	p->walk_cost_ns = cost;
	t->walks_ns += cost;
	return cost;
}

static void long_walk(struct tree *t, struct process *p, int64_t cost)
{
	if (cost > LONGEST_WALK_MS * NS_PER_MS || t->now_ns < t->long_walk_ns ||
	    t->walks_share <= 0)
		return;
	if (p->walk_ns && t->now_ns - p->walk_ns < LONG_WALK_AGAIN_S * NS_PER_S)
		return;
	t->long_walk_ns = t->now_ns + (int64_t)((double)walk(t, p) / (t->walks_share / 2));
}

enum {
	ESTIMATE_MS = 1,
	FIRST_READS = 800, /* so that all of a short job are known soon */
	READS = 1500,
};

/* A walk divides a page by all that map it, an estimate by those that are estimated: who may share
 * memory with one of them is estimated, too. So is who was never read and shares memory, where the
 * budget has no room for a walk: until all are known, the sum is not. */
static bool is_for_pages(const struct tree *t, const struct process *p, int64_t cost)
{
	bool dear = !p->walk_ns && cost > ESTIMATE_MS * NS_PER_MS && cost > t->walk_budget_ns;

	if (p->pages_refused)
		return false;
	return p->paged || cost > LONG_WALK_MS * NS_PER_MS ||
	       ((t->paging || dear) &&
		p->stat.rss_pages * t->reading.page_bytes > sharing_matters &&
		sums_may_share(t, p));
}

/* Debts, so that all of a short job are known soon; who needs a long walk is not among many. */
static bool may_estimate(const struct tree *t, bool never, int64_t cost)
{
	if (!never)
		return t->walk_budget_ns >= -debt_ns;
	return cost > LONG_WALK_MS * NS_PER_MS || t->walk_budget_ns >= -2 * debt_ns;
}

/* Who came to share memory makes what is known of the others old: they have less of it now. */
static void relatives(struct tree *t)
{
	for (uint32_t i = 0; i < t->table.nlive; i++) {
		struct process *p = &t->table.row[t->table.live[i]];

		if (!walk_is_outdated(t, p))
			continue;
		p->walk_due = true;
		p->walk_outdated = true; /* its estimate goes on from what was walked */
		process_changed(p);
	}
}

/* Of pages that are estimated to be shared already, the estimates of all tell who has them. */
bool walk_is_outdated(const struct tree *t, const struct process *p)
{
	if (p->paged && p->uss_bytes <= sharing_matters)
		return false;
	return p->walk_ns && p->walk_ns < t->shared_since_ns && !p->ended &&
	       p->stat.rss_pages * t->reading.page_bytes > sharing_matters && sums_may_share(t, p);
}

/* 0, or -errno: some pages of it cannot be read. */
static int estimate(struct tree *t, struct process *p)
{
	const struct pages_of of = { .pid = p->pid,
				     .resident_bytes = p->stat.rss_pages * t->reading.page_bytes,
				     .family = (uint64_t)p->stat.stack,
				     .reads = p->paged ? READS : FIRST_READS };
	struct pages_estimate *x = &t->estimate[p - t->table.row];
	int64_t before = clock_cpu_ns();
	int bad = pages_take(&t->pages, t->reading.proc, &of, x);

	p->walk_cost_ns = clock_cpu_ns() - before;
	t->walks_ns += p->walk_cost_ns;
	t->walk_budget_ns -= p->walk_cost_ns;
	if (bad)
		return bad;
	t->paging = true;
	p->paged = true;
	note_more(t, p);
	p->pages_error_bytes = x->error_bytes;
	p->uss_bytes = x->exclusive_bytes;
	process_walked(&t->reading, p);
	t->shares_changed = true;
	return 0;
}

/* Those that are estimated share what several of them have. */
static void share_out(struct tree *t)
{
	pages_share_begin(&t->pages);
	for (int turn = 0; turn < 2; turn++)
		for (uint32_t i = 0; i < t->table.nlive; i++) {
			struct process *p = &t->table.row[t->table.live[i]];
			const struct pages_estimate *x = &t->estimate[p - t->table.row];

			if (!p->paged || p->ended)
				continue;
			if (turn == 0)
				pages_share_add(&t->pages, x);
			else
				p->pss_bytes = pages_proportional(&t->pages, x);
			process_changed(p);
		}
	t->shares_changed = false;
}

static void walk_all(struct tree *t)
{
	for (uint32_t i = 0; i < t->table.nlive; i++) {
		struct process *p = &t->table.row[t->table.live[i]];

		if (can_walk(p))
			walk(t, p);
	}
}

/* Those that were never walked, or the others: as far as the budget goes, of which a part is kept
 * for the former. Without one of them the job's sum is not known; the others' are estimated
 * meanwhile. */
static void walk_some(struct tree *t, bool never)
{
	int64_t kept_ns = never ? 0 : kept_for_new_ns;
	uint32_t n = t->table.nlive, from = never ? 0 : t->walk_cursor;

	for (uint32_t i = 0; i < n; i++) {
		struct process *p = &t->table.row[t->table.live[(from + i) % n]];
		int64_t cost;

		if (!p->walk_due || (p->walk_ns == 0) != never || !wants_walk(t, p))
			continue;
		cost = predict_ns(t, p);
		if (is_for_pages(t, p, cost)) {
			if (!may_estimate(t, never, cost))
				continue;
			p->pages_refused = estimate(t, p) != 0;
			continue;
		}
		if (cost > LONG_WALK_MS * NS_PER_MS) {
			long_walk(t, p, cost);
			continue;
		}
		if (cost > t->walk_budget_ns - kept_ns + (never ? debt_ns : 0)) {
			if (!never) /* its turn comes first next time */
				t->walk_cursor = (from + i) % n;
			return;
		}
		t->walk_budget_ns -= walk(t, p);
	}
}

void walk_step(struct tree *t)
{
	if (t->pss == PSS_OFF || !(t->due & READ_STAT))
		return;
	if (t->pss == PSS_ALWAYS) {
		walk_all(t);
		return;
	}
	t->walk_budget_ns += (int64_t)((double)(t->now_ns - t->walk_time_ns) * t->walks_share / 2);
	if (t->walk_budget_ns > budget_max_ns)
		t->walk_budget_ns = budget_max_ns;
	t->walk_time_ns = t->now_ns;
	walk_some(t, true);
	walk_some(t, false);
	if (t->shares_changed)
		share_out(t);
	if (t->shared_since_ns >= t->now_ns)
		relatives(t);
}
