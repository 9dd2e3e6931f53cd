/* SPDX-License-Identifier: Apache-2.0 */
#include "core/statistics/stats.h"

#include "core/statistics/spread.h"

#include <math.h>

void stats_add(struct stats *st, double value, double seconds)
{
	if (!st->n)
		st->first = value;
	if (!st->n || value < st->min)
		st->min = value;
	if (!st->n || value > st->max)
		st->max = value;
	st->last = value;
	st->n++;
	st->sum += value;
	stats_stand(st, value, seconds);
}

void stats_stand(struct stats *st, double value, double seconds)
{
	if (!(seconds > 0))
		return;
	st->weighted_sum += value * seconds;
	st->weight += seconds;
}

void stats_join(struct stats *st, const struct stats *later)
{
	if (!later->n)
		return;
	if (!st->n)
		st->first = later->first;
	if (!st->n || later->min < st->min)
		st->min = later->min;
	if (!st->n || later->max > st->max)
		st->max = later->max;
	st->last = later->last;
	st->n += later->n;
	st->sum += later->sum;
	st->weighted_sum += later->weighted_sum;
	st->weight += later->weight;
}

double stats_mean(const struct stats *st)
{
	if (!st->n)
		return NAN;
	return st->weight > 0 ? st->weighted_sum / st->weight : st->sum / (double)st->n;
}

/* ---- values side by side ---- */

struct spread spread_of(const double *value, uint32_t n)
{
	struct spread s = { 0, NAN, NAN, NAN, NAN, NAN, 0, 0 };

	for (uint32_t i = 0; i < n; i++) {
		if (isnan(value[i]))
			continue;
		if (!s.n || value[i] < s.min) {
			s.min = value[i];
			s.least = i;
		}
		if (!s.n || value[i] > s.max) {
			s.max = value[i];
			s.most = i;
		}
		s.total = s.n++ ? s.total + value[i] : value[i];
	}
	s.mean = s.total / s.n;
	if (s.n > 1 && s.min >= 0 && s.mean > 0)
		s.imbalance = s.max / s.mean - 1;
	return s;
}
