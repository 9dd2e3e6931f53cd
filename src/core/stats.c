/* SPDX-License-Identifier: Apache-2.0 */
#include "core/stats.h"

#include <math.h>

void stats_add(struct stats *st, double value, double seconds, double at_s)
{
	if (!st->n)
		st->first = value;
	if (!st->n || value < st->min) {
		st->min = value;
		st->min_at_s = at_s;
	}
	if (!st->n || value > st->max) {
		st->max = value;
		st->max_at_s = at_s;
	}
	st->last = value;
	st->n++;
	st->sum += value;
	if (seconds > 0) {
		st->weighted_sum += value * seconds;
		st->weight += seconds;
	}
}

double stats_mean(const struct stats *st)
{
	if (!st->n)
		return NAN;
	return st->weight > 0 ? st->weighted_sum / st->weight : st->sum / (double)st->n;
}
