/* SPDX-License-Identifier: Apache-2.0 */
#include "source/wrap.h"

#include "base/clock.h"
#include "base/text/number.h"

/* Counters are brought up to date up to a second after the fact. */
static const double LATENESS_S = 1;

static double most_in(const struct wrap *w, int64_t elapsed_ns)
{
	return (double)w->most_per_s * ((double)elapsed_ns / (double)NS_PER_S + LATENESS_S);
}

bool wrap_is_lost(const struct wrap *w, int64_t elapsed_ns)
{
	return w->range && most_in(w, elapsed_ns) > (double)w->range;
}

static bool grow(struct wrap *w, int64_t value, int64_t elapsed_ns)
{
	int64_t growth = value - w->last;

	if (elapsed_ns < 0 || wrap_is_lost(w, elapsed_ns))
		return false;
	/* The round is range and one step of the counter, which the kernel does not tell; it is
	 * some 60 uJ, the 2^32nd part of the round. */
	if (growth < 0)
		number_add(&growth, w->range);
	return growth >= 0 && (double)growth <= most_in(w, elapsed_ns) &&
	       !__builtin_add_overflow(w->total, growth, &w->total);
}

enum wrap_step wrap_step(struct wrap *w, int64_t value, int64_t now_ns)
{
	enum wrap_step step = WRAP_BEGUN;

	if (w->begun)
		step = grow(w, value, now_ns - w->last_ns) ? WRAP_GREW : WRAP_BREAK;
	if (step != WRAP_GREW)
		w->total = value;
	w->begun = true;
	w->last = value;
	w->last_ns = now_ns;
	return step;
}
