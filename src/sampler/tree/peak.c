/* SPDX-License-Identifier: Apache-2.0 */
/* peak.c - the most memory that the job held at a time, as far as samples and the kernel's own
 * high-water marks tell; and whether that is a lower bound. */
#include "sampler/tree/tree_state.h"

#include "base/clock.h"
#include "base/text/number.h"

#include <math.h>

/* Errors of several processes are independent: they add up as squares do. */
static int64_t pages_error(const struct tree *t)
{
	double squares = 0;

	for (uint32_t i = 0; i < t->table.nlive; i++) {
		const struct process *p = &t->table.row[t->table.live[i]];

		if (p->paged && !p->ended && !p->vanished)
			squares += (double)p->pages_error_bytes * (double)p->pages_error_bytes;
	}
	return (int64_t)sqrt(squares);
}

static bool any_outdated(const struct tree *t)
{
	for (uint32_t i = 0; i < t->table.nlive && t->shared_since_ns; i++)
		if (walk_is_outdated(t, &t->table.row[t->table.live[i]]))
			return true;
	return false;
}

/* What nobody else had when each was walked, and what it got by itself since: a page that it shares
 * by now is in no other's part of this. */
static int64_t surely(const struct tree *t)
{
	int64_t sum = memory_hugetlb(t) + memory_unmapped(t);

	for (uint32_t i = 0; i < t->table.nlive; i++) {
		const struct process *p = &t->table.row[t->table.live[i]];
		int64_t rss = p->stat.rss_pages * t->reading.page_bytes;
		int64_t own = p->uss_bytes + rss - p->shared_bytes - p->walk_private_bytes;

		if (!p->ended && !p->vanished && !p->memory_of && p->uss_bytes >= 0 && own > 0)
			number_add(&sum, own < rss ? own : rss);
	}
	return sum - pages_error(t);
}

/* What all had at most in the last samples that were not sure. What they had more than by now they
 * gave back since, or those had it that are gone. */
static int64_t most_before(const struct tree *t, int64_t most)
{
	const struct unsure *u = &t->unsure;
	int64_t less = u->resident - t->parts[PART_RESIDENT];

	if (less > 0)
		number_add(&most, less);
	number_add(&most, t->left_resident - u->left_resident);
	return u->most < most ? u->most : most;
}

/* Who was never walked may have all of its memory alone. */
static void raise_most(struct tree *t, int64_t pss, bool sure)
{
	struct unsure *u = &t->unsure;
	int64_t most = pss + t->parts[PART_NO_PSS] + t->parts[PART_COPIED];
	int64_t resident = t->parts[PART_RESIDENT];

	if (sure)
		t->moved.due = 0;
	number_add(&most, t->moved.due + t->moved.fresh);

	if (sure) {
		int64_t before = most_before(t, most);

		most = most > before ? most : before;
		if (most > t->peak_pss_at_most)
			t->peak_pss_at_most = most;
		*u = (struct unsure){ 0 };
		return;
	}
	if (!u->most)
		u->left_resident = t->left_resident;
	u->most = most > u->most ? most : u->most;
	u->resident = resident > u->resident ? resident : u->resident;
}

/* Where processes that may share memory have much more of it since they were walked, or less, or
 * were never, the sum says only how much it is at most; what is surely nobody else's may be more
 * than they had before. */
void peak_raise(struct tree *t, int64_t age)
{
	const int64_t few = 8 << 20;
	int64_t pss = t->parts[PART_PSS] + memory_hugetlb(t) + memory_unmapped(t);
	bool known = !t->parts[PART_NO_PSS];
	bool sure = known && t->parts[PART_UNSURE] + t->moved.fresh <= pss / 20 + few &&
		    !any_outdated(t);

	if (t->parts[PART_LIVE])
		raise_most(t, pss, sure);
	if (!known)
		return;
	if (pss > t->peak_pss && !sure)
		pss = t->peak_pss ? surely(t) : 0; /* else that of RSS says more */
	if (pss <= t->peak_pss)
		return;
	t->peak_pss = pss;
	t->peak_pss_age_ns = age;
	t->peak_pages_error_bytes = pages_error(t);
}

void peak_ended(struct tree *t, const struct process *p, int64_t at_ns)
{
	double more = (double)p->grown_bytes * (double)(at_ns - p->grown_at_ns);

	number_add(&t->left_resident, p->part[PART_RESIDENT]);
	if (p->pss_bytes > p->uss_bytes && !p->paged && !p->memory_of && sums_may_share(t, p))
		walk_moved(t, p->pss_bytes - p->uss_bytes, at_ns);
	if (p->grown_bytes <= 0 || p->grown_ns <= 0 || more <= 0 || p->memory_of || p->before_us)
		return;
	t->left.processes++;
	number_add(&t->left.had, p->stat.rss_pages * t->reading.page_bytes);
	number_add(&t->left.more, (int64_t)fmin(more / (double)p->grown_ns, 1e18));
}

static void note_ended(struct tree *t, int64_t resident)
{
	t->left.before = t->resident;
	if (t->left.before + t->left.more > t->missed.before + t->missed.more)
		t->missed = t->left;
	t->left = (struct growth){ 0 };
	t->resident = resident;
}

/* Of private pages and those that one process has nobody counts twice. */
static void note_least(struct tree *t)
{
	int64_t shared = 0;

	for (uint32_t i = 0; i < t->table.nlive; i++) {
		const struct process *p = &t->table.row[t->table.live[i]];

		if (p->part[PART_PRIVATE] && p->part[PART_SHARED] > shared)
			shared = p->part[PART_SHARED];
	}
	t->most_private = t->parts[PART_PRIVATE];
	if (t->most_private + shared > t->least)
		t->least = t->most_private + shared;
}

void peak_raise_rss(struct tree *t, int64_t resident)
{
	int64_t all = resident + memory_unmapped(t);

	note_ended(t, resident);
	if (all > t->peak_rss)
		t->peak_rss = all;
	if (t->parts[PART_PRIVATE] > t->most_private)
		note_least(t);
	if (t->parts[PART_LIVE] > t->live_peak)
		t->live_peak = t->parts[PART_LIVE];
}

/* The kernel keeps a high-water mark while the process lives, which shows what was there between
 * two samples. What was before the recording, or before another program was executed, is not the
 * job's. */
void peak_told(struct tree *t, struct process *p, int64_t high_water)
{
	int64_t all = high_water + p->hugetlb_bytes;

	if (p->before_us || p->goes_on || all <= p->peak_rss_bytes)
		return;
	if (all > t->peak_of_one)
		t->peak_of_one = all;
	p->peak_rss_bytes = all;
}

/* Of one process, by the kernel: of those that were waited for, or as it was told while it lived.
 */
static int64_t of_one(const struct tree *t)
{
	return t->max_rss_reaped > t->peak_of_one ? t->max_rss_reaped : t->peak_of_one;
}

/* A process's own high-water mark is what no sampling can miss: one had more than in any sample. */
static bool one_was_missed(const struct tree *t)
{
	const int64_t few = 512 << 10;

	return of_one(t) > t->largest_rss + t->peak_rss / 50 + few;
}

/* It counts shared pages in full: only when it exceeds the sampled PSS by more than those usually
 * are, that is not what the job had. */
static bool pss_is_too_low(const struct tree *t)
{
	return of_one(t) > t->peak_pss + t->peak_pss / 10 + PEAK_MATTERS;
}

/* Many more were there at a time than in any sample: what they had together nobody has seen. */
static bool crowd_was_missed(const struct tree *t)
{
	const int64_t few = 8;

	return tree_has_events(t) && !t->lost_records && t->alive_peak > 2 * t->live_peak + few;
}

static bool all_were_waited_for(const struct tree *t)
{
	return t->launched && !tasks_lost(t) && !t->unwaited;
}

/* Some grew until they ended, between two samples: how much more all may have had then. Of those
 * that were waited for the kernel tells how much the largest had. */
static int64_t growth(const struct tree *t)
{
	int64_t more = t->missed.more;
	double most = (double)t->missed.processes * (double)of_one(t) - (double)t->missed.had;

	if (all_were_waited_for(t) && (double)more > most)
		more = most > 0 ? (int64_t)most : 0;
	return more;
}

static bool growth_was_missed(const struct tree *t)
{
	return t->missed.before + growth(t) > t->peak_rss + t->peak_rss / 16 + PEAK_MATTERS;
}

/* Of what is gone and was never read the kernel tells the peak to who waits for it. Where nobody
 * does that here, as much CPU time as this may have filled memory. */
static bool unread_was_missed(const struct tree *t)
{
	int64_t unread = t->unread_ns + t->unattributed_ns;

	if (all_were_waited_for(t))
		return false;
	return (t->unwaited && !t->exits) || (unread > 100 * NS_PER_MS && unread > t->cpu_ns / 20);
}

static void take_pss(const struct tree *t, struct tree_totals *out)
{
	out->peak_memory_bytes = t->peak_pss;
	out->peak_memory_kind = t->peak_pages_error_bytes ? "pages" : "pss";
	out->peak_memory_error_bytes = t->peak_pages_error_bytes;
	out->peak_memory_age_ns = t->peak_pss_age_ns;
	if (out->peak_memory_is_bound)
		return;
	out->peak_memory_at_most_bytes =
		t->unsure.most > t->peak_pss_at_most ? t->unsure.most : t->peak_pss_at_most;
	if (out->peak_memory_at_most_bytes > t->peak_pss)
		number_add(&out->peak_memory_at_most_bytes, growth(t));
}

/* So much at least, whichever is most: of one process alone, or of all in one sample. */
static void take_least(const struct tree *t, struct tree_totals *out)
{
	out->peak_memory_bytes = of_one(t) > t->largest_rss ? of_one(t) : t->largest_rss;
	out->peak_memory_kind = "process";
	out->peak_memory_is_bound = true;
	if (t->least > out->peak_memory_bytes) {
		out->peak_memory_bytes = t->least;
		out->peak_memory_kind = "private";
	}
	if (t->peak_pss > out->peak_memory_bytes)
		take_pss(t, out);
}

/* The sum of resident sets is an upper bound of what samples saw: not of what they missed. */
void peak_take(const struct tree *t, struct tree_totals *out)
{
	bool mostly_known = t->peak_pss && t->samples_with_pss * 10 >= t->samples_with_live * 9;

	out->peak_memory_is_bound = one_was_missed(t) || crowd_was_missed(t) ||
				    growth_was_missed(t) || unread_was_missed(t);
	if (mostly_known && !one_was_missed(t) && !pss_is_too_low(t)) {
		take_pss(t, out);
	} else if (of_one(t) > t->peak_rss || (out->peak_memory_is_bound && t->largest_rss)) {
		take_least(t, out);
	} else if (t->peak_rss) {
		out->peak_memory_bytes = t->peak_rss;
		out->peak_memory_kind = "rss";
	}
}
