/* SPDX-License-Identifier: Apache-2.0 */
#include "core/statistics/trend.h"

#include <math.h>

/* Least squares. Neighbours are alike, so that there are fewer independent ones than there are
 * values: by (1 - r) / (1 + r), r the correlation of a residual with the next one
 * (Bayley and Hammersley, 1946; as used for trends of climate by Santer et al., 2000). */
struct trend trend_of(const double *v, uint32_t begin, uint32_t end, double width_s)
{
	double n = 0, x = 0, y = 0, xx = 0, xy = 0, rr = 0, next = 0, before = NAN, r;
	struct trend l = { NAN, NAN, NAN, NAN };

	for (uint32_t i = begin; i < end; i++) {
		if (isnan(v[i]))
			continue;
		n++;
		x += i;
		y += v[i];
	}
	x /= n;
	y /= n;
	for (uint32_t i = begin; i < end; i++) {
		if (isnan(v[i]))
			continue;
		xx += (i - x) * (i - x);
		xy += (i - x) * (v[i] - y);
	}
	if (!(n >= 4) || !(xx > 0))
		return l;
	l.slope = xy / xx;
	for (uint32_t i = begin; i < end; i++) {
		double rest = v[i] - y - l.slope * (i - x);

		if (isnan(rest))
			continue;
		rr += rest * rest;
		next += isnan(before) ? 0 : rest * before;
		before = rest;
	}
	r = rr > 0 ? fmin(fmax(next / rr, 0), 0.98) : 0;
	l.error = 2 * sqrt(rr / (n - 2) / xx * (1 + r) / (1 - r)) / width_s;
	l.from = y + l.slope * (begin - x);
	l.to = y + l.slope * (end - 1 - x);
	l.slope /= width_s;
	return l;
}
