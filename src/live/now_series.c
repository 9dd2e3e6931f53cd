/* SPDX-License-Identifier: Apache-2.0 */
/* now_series.c - the rate of each counter between two looks at a recording. */
#include "base/clock.h"
#include "live/now_part.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* What is read rarely stands for so long, or for three samples. */
enum { STALE_S = 10 };

int64_t now_interval_ns(const struct now_node *n)
{
	const struct follow_meta *m = follow_meta(n->from, "run.interval_ns");

	return m && m->type == META_INT && m->value > 0 && m->value < 3600 * NS_PER_S * 24
		       ? m->value
		       : NS_PER_S;
}

static bool is_counter(const struct metric *m)
{
	return m->kind == KIND_COUNTER;
}

/* A counter that went back has no rate. */
static double rate_of(const struct follow_series *s, const struct now_series *before)
{
	double rise = metric_value(s->metric, s->value) - metric_value(s->metric, before->value);
	double seconds = (double)(s->seen_ns - before->seen_ns) / 1e9;
	int64_t exact;

	if (s->metric->storage == STORE_INT &&
	    !__builtin_sub_overflow(s->value, before->value, &exact))
		rise = metric_value(s->metric, exact);
	return rise >= 0 && isfinite(rise) && seconds > 0 ? rise / seconds : (double)NAN;
}

static void series_look(struct now_series *to, const struct follow_series *s)
{
	if (!s->seen_ns || (to->known && s->seen_ns == to->seen_ns))
		return;
	if (is_counter(s->metric) && to->known)
		to->rate = rate_of(s, to);
	to->known = true;
	to->value = s->value;
	to->seen_ns = s->seen_ns;
}

static void series_replay(struct now_series *to, const struct follow_series *s)
{
	const struct now_series before = { .value = s->before, .seen_ns = s->before_ns };

	to->known = s->seen_ns != 0;
	to->value = s->value;
	to->seen_ns = s->seen_ns;
	to->rate = s->before_ns && is_counter(s->metric) ? rate_of(s, &before) : (double)NAN;
}

int now_series_look(struct now_node *n, bool replays)
{
	const struct follow_node *from = n->from;
	struct now_series *to = calloc(from->nseries + 1, sizeof *to);
	uint32_t k = 0;

	if (!to)
		return -ENOMEM;
	for (uint32_t i = 0; i < from->nseries; i++) {
		const struct follow_series *s = &from->series[i];

		while (k < n->nseries && n->series[k].id < s->id)
			k++;
		if (k < n->nseries && n->series[k].id == s->id)
			to[i] = n->series[k];
		else
			to[i] = (struct now_series){ .id = s->id,
						     .role = now_role_of(s->metric),
						     .rate = NAN };
		if (replays)
			series_replay(&to[i], s);
		else
			series_look(&to[i], s);
	}
	free(n->series);
	n->series = to;
	n->nseries = from->nseries;
	return 0;
}

static bool is_told(const struct now_node *n)
{
	return n->state == NOW_RUNNING || n->state == NOW_LATE;
}

double now_value(const struct now_node *n, uint32_t i, enum unit *unit)
{
	const struct follow_series *s = &n->from->series[i];
	int64_t stale = 3 * now_interval_ns(n);
	double v = is_counter(s->metric) ? n->series[i].rate : metric_value(s->metric, s->value);

	*unit = is_counter(s->metric) ? unit_rate(s->metric->unit) : s->metric->unit;
	if (stale < STALE_S * NS_PER_S)
		stale = STALE_S * NS_PER_S;
	if (!is_told(n) || s->state != STATE_PRESENT || !s->seen_ns ||
	    n->from->mono_ns - s->seen_ns > stale || !isfinite(v))
		return NAN;
	return v;
}
