/* SPDX-License-Identifier: Apache-2.0 */
#include "core/statistics/spread.h"

#include <math.h>

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
