/* SPDX-License-Identifier: Apache-2.0 */
/* tree_walk.c - PSS and USS within a budget: a walk of page tables costs the job, too, since it
 * holds the lock that mmap needs. A process is walked again only when its memory has changed. */
#include "sampler/tree_state.h"

#include "base/clock.h"

#include <errno.h>

enum {
	BUDGET_PER_MILLE = 5, /* of one core */
	LONG_WALK_MS = 5,     /* longer ones only once a minute */
	LONG_WALK_AGAIN_S = 60,
};

static const int64_t budget_max_ns = 20 * NS_PER_MS;

static int64_t predict_ns(const struct tree *t, const struct process *p)
{
	int64_t rss = p->stat.rss_pages * t->reading.page_bytes;

	return p->walk_ns ? p->walk_cost_ns : 15000 + rss / 1048576 * 11000;
}

static bool wants_walk(const struct tree *t, const struct process *p, int64_t cost)
{
	int64_t private = p->stat.rss_pages * t->reading.page_bytes - p->shared_bytes;

	if (p->ended || p->walk_refused || !p->read_ns || !p->stat.rss_pages)
		return false;
	if (p->walk_ns && p->walk_private_bytes == private && p->walk_minflt == p->stat.minflt)
		return false;
	return cost <= LONG_WALK_MS * NS_PER_MS ||
	       t->now_ns - p->walk_ns > LONG_WALK_AGAIN_S * NS_PER_S;
}

void walk_step(struct tree *t)
{
	uint32_t n = t->table.nlive;

	if (!t->use_walks)
		return;
	t->walk_budget_ns += (t->now_ns - t->walk_time_ns) * BUDGET_PER_MILLE / 1000;
	if (t->walk_budget_ns > budget_max_ns)
		t->walk_budget_ns = budget_max_ns;
	t->walk_time_ns = t->now_ns;
	for (uint32_t i = 0; i < n; i++) {
		struct process *p = &t->table.row[t->table.live[(t->walk_cursor + i) % n]];
		int64_t cost = predict_ns(t, p);
		int bad;

		if (!wants_walk(t, p, cost))
			continue;
		if (cost > t->walk_budget_ns) {
			t->walk_cursor =
				(t->walk_cursor + i) % n; /* its turn comes first next time */
			break;
		}
		bad = process_walk(&t->reading, p);
		p->walk_refused = bad == -EACCES || bad == -EPERM || bad == -ENOENT;
		t->walk_budget_ns -= bad ? cost : p->walk_cost_ns;
	}
}
