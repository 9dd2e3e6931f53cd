/* SPDX-License-Identifier: Apache-2.0 */
/*
 * describe.h - repeated measurements in a few numbers.
 *
 * What takes two values (or three, for skew) and what would divide by 0 is NAN, never 0.
 */
#ifndef SONDE_CORE_DESCRIBE_H
#define SONDE_CORE_DESCRIBE_H

#include <stdint.h>

struct description {
	uint32_t n;
	double mean, median, min, max;
	double sd, sem;       /* of a sample: n - 1; sd / sqrt(n) */
	double q1, q3, iqr;   /* linear between values, Hyndman and Fan's type 7, as NumPy */
	double cv, cv_median; /* sd / mean, iqr / median */
	double skew; /* adjusted Fisher-Pearson, G1 of Joanes and Gill 1998, as pandas and Excel */
};

/* Sorts the values; all are finite. */
struct description describe(double *value, uint32_t n);
/* Ascending. */
void sort_values(double *value, uint32_t n);
/* Linear between values that are sorted; share 0..1. NAN of none. */
double quantile_of(const double *sorted, uint32_t n, double share);

#endif
