/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit.h - weighted linear least squares with a few coefficients, and intervals of what follows from
 * them.
 *
 * y = c0 x0 + c1 x1 + ..., where the variance of y is s2 / weight and s2 is estimated from the
 * residuals. Intervals are those of Student's t. A ratio of two sums of coefficients has Fieller's
 * interval (E. C. Fieller, "Some Problems in Interval Estimation", J. R. Stat. Soc. B 16, 1954),
 * which needs no approximation.
 */
#ifndef SONDE_CORE_STATISTICS_FIT_H
#define SONDE_CORE_STATISTICS_FIT_H

#include <stdint.h>

enum { FIT_MOST = 3 };

struct fit {
	uint32_t n, coefficients;
	double c[FIT_MOST];
	double covariance[FIT_MOST][FIT_MOST]; /* NAN: df is 0 */
	double s2;                             /* NAN: df is 0 */
	double df;                             /* n - coefficients */
};

/* The ends are NAN where they are not known, or not bounded. */
struct fitted {
	double value, low, high;
};

/* x: [n][FIT_MOST], of which `coefficients` are used; weights are positive. 0, or -EDOM: the rows
 * do not determine the coefficients. */
int fit_linear(struct fit *f, const double (*x)[FIT_MOST], const double *y, const double *weight,
	       uint32_t n, uint32_t coefficients);
/* The mean of y at x. level: as 0.95. */
struct fitted fit_at(const struct fit *f, const double x[FIT_MOST], double level);
/* (over . c) / (under . c). */
struct fitted fit_ratio(const struct fit *f, const double over[FIT_MOST],
			const double under[FIT_MOST], double level);

#endif
