/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spread.h - values of equals side by side, as of nodes or of tasks: total, mean, least, most, and
 * how unequal they are.
 */
#ifndef SONDE_CORE_STATISTICS_SPREAD_H
#define SONDE_CORE_STATISTICS_SPREAD_H

#include <stdint.h>

struct spread {
	uint32_t n;                   /* values that are known */
	double total, mean, min, max; /* NAN: none is known */
	/* max / mean - 1: how much longer the most loaded takes than if the load were equal, the
	 * percent imbalance of Pearce et al., "Quantifying the Effectiveness of Load Balance
	 * Algorithms", ICS 2012. NAN: of fewer than two values, of nothing, of values below 0. */
	double imbalance;
	uint32_t least, most; /* which; of equal ones the first; valid when n > 0 */
};

/* Values that are NAN are not known and left out. */
struct spread spread_of(const double *value, uint32_t n);

#endif
