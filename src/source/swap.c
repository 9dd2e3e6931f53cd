/* SPDX-License-Identifier: Apache-2.0 */
/* swap.c - pages that the node moved to swap and back: /proc/vmstat, fields found by name. */
#include "base/clock.h"
#include "base/text/number.h"
#include "source/kept.h"
#include "source/period.h"
#include "source/source.h"

#include <errno.h>
#include <string.h>

enum { PAGES_IN, PAGES_OUT, MAJOR_FAULTS, METRICS_NUMBER_OF, ROOM = 2048 };

#define COUNTER .unit = UNIT_COUNT, .kind = KIND_COUNTER, .over_nodes = COMBINE_SUM

static const struct metric metrics[] = {
	[PAGES_IN] = { "node.swap_in_pages", COUNTER, .label = "Pages from swap",
		       .help = "Pages of memory that were read back from swap, for all users." },
	[PAGES_OUT] = { "node.swap_out_pages", COUNTER, .label = "Pages to swap",
			.help = "Pages of memory that were written to swap, for all users." },
	[MAJOR_FAULTS] = { "node.major_faults", COUNTER, .label = "Major page faults",
			   .help = "Page faults that had to wait for storage, of all users." },
};
_Static_assert(sizeof metrics / sizeof metrics[0] == METRICS_NUMBER_OF, "a row for every index");

/* How vmstat calls them. */
static const char *const fields[METRICS_NUMBER_OF] = {
	[PAGES_IN] = "pswpin ",
	[PAGES_OUT] = "pswpout ",
	[MAJOR_FAULTS] = "pgmajfault ",
};

/* The kernel adds up the counters of all cores for each reading. */
static const int64_t period_ns = NS_PER_S;

struct swap {
	struct kept vmstat;
	struct period period;
	uint32_t slot;
};

static int scan(const struct swap *w, struct sample *s)
{
	int found = 0;

	for (uint32_t i = 0; i < METRICS_NUMBER_OF; i++) {
		const char *p = number_find_line(w->vmstat.text, fields[i]);
		int64_t v;

		if (!p || !number_i64(&p, &v) || v < 0)
			continue;
		found++;
		if (w->slot)
			sample_put(s, w->slot + i, v);
	}
	return found ? 0 : -EBADMSG;
}

static void swap_close(void *state)
{
	struct swap *w = state;

	kept_close(&w->vmstat);
}

static void refuse_missing(const struct swap *w, struct sample *s)
{
	for (uint32_t i = 0; w->slot && i < METRICS_NUMBER_OF; i++)
		if (!number_find_line(w->vmstat.text, fields[i]))
			sample_refuse(s, w->slot + i, STATE_UNSUPPORTED,
				      "this kernel does not report it");
}

static int swap_open(void *state, const struct source_env *env, struct sample *s, struct err *e)
{
	struct swap *w = state;
	int r = kept_open(&w->vmstat, &env->proc, "vmstat", ROOM, e);

	if (r < 0)
		return r;
	if (scan(w, s) < 0) {
		swap_close(w);
		return err_set(e, -EBADMSG, "%s/vmstat: it has no line \"pswpin 123\"",
			       env->proc.path);
	}
	w->slot = sample_series(s, metrics, METRICS_NUMBER_OF, 0);
	refuse_missing(w, s);
	return 0;
}

static int swap_read(void *state, struct sample *s)
{
	struct swap *w = state;
	int r;

	if (!period_is_due(&w->period, s, period_ns))
		return 0;
	r = kept_read_same(&w->vmstat);
	if (r == 1 && sample_stood(s, w->slot)) {
		sample_hold(s, w->slot, METRICS_NUMBER_OF);
		return 0;
	}
	return r < 0 ? r : scan(w, s);
}

const struct source source_swap = {
	.name = "swap",
	.what = "pages that the node moved to swap and back",
	.fix_admin = SOURCE_FIX_PROC,
	SOURCE_METRICS(metrics),
	.size = sizeof(struct swap),
	.open = swap_open,
	.read = swap_read,
	.close = swap_close,
};
