/* SPDX-License-Identifier: Apache-2.0 */
#include "core/statistics/stats.h"

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
