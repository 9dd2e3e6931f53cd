/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks.h - two groups by the order of their values alone: no outlier weighs more than one value.
 */
#ifndef SONDE_CORE_HOST_RANKS_H
#define SONDE_CORE_HOST_RANKS_H

#include <stdint.h>

struct ranks {
	double u; /* pairs in which b is more; those that are equal count half */
	double p; /* Mann and Whitney 1947, two-sided: exact up to 20 values each that all differ,
		   * else normal, with correction for ties and continuity */
	double delta; /* Cliff 1993: P(b > a) - P(b < a), -1..1 */
};

/* Of a copy of each group, sorted. NAN where a group is empty. */
struct ranks ranks_of(const double *a, uint32_t na, const double *b, uint32_t nb);

#endif
