/* SPDX-License-Identifier: Apache-2.0 */
/* tree_walk.c - PSS and USS within a budget: a walk of page tables costs the job, too, since it
 * holds the lock that mmap needs. A process is walked again only when its memory has changed. */
#include "sampler/tree_state.h"

#include "base/clock.h"

#include <errno.h>

enum {
	LONG_WALK_MS = 5, /* longer ones only once a minute, from a half of the budget ... */
	LONG_WALK_AGAIN_S = 60,
	LONGEST_WALK_MS = 250, /* ... and never longer than this: the job waits for them */
};

static const int64_t budget_max_ns = 20 * NS_PER_MS, kept_for_new_ns = 2 * NS_PER_MS;

static int64_t predict_ns(const struct tree *t, const struct process *p)
{
	int64_t rss = p->stat.rss_pages * t->reading.page_bytes;

	return p->walk_ns ? p->walk_cost_ns : 15000 + rss / 1048576 * 11000;
}

bool walk_is_old(const struct tree *t, const struct process *p)
{
	int64_t private = p->stat.rss_pages * t->reading.page_bytes - p->shared_bytes;

	return p->walk_private_bytes != private || p->walk_minflt != p->stat.minflt;
}

static bool can_walk(const struct process *p)
{
	return !p->ended && !p->walk_refused && p->read_ns && p->stat.rss_pages;
}

/* Only a reading can show that memory has changed. */
static bool wants_walk(const struct tree *t, struct process *p)
{
	p->walk_due = p->walk_due && can_walk(p) && (!p->walk_ns || walk_is_old(t, p));
	return p->walk_due;
}

/* Returns what it cost. */
static int64_t walk(struct tree *t, struct process *p)
{
	int64_t before = clock_cpu_ns();
	int bad = process_walk(&t->reading, p);
	int64_t cost = clock_cpu_ns() - before;

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
		if (cost > LONG_WALK_MS * NS_PER_MS) {
			long_walk(t, p, cost);
			continue;
		}
		if (cost > t->walk_budget_ns - kept_ns) {
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
}
