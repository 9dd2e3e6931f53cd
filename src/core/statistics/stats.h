/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats.h - running statistics of a series, weighted by the time each value stood.
 *
 * How long a value stood may be said with it, or later.
 */
#ifndef SONDE_CORE_STATISTICS_STATS_H
#define SONDE_CORE_STATISTICS_STATS_H

#include <stdbool.h>
#include <stdint.h>

struct stats {
	uint64_t n;
	double min, max, first, last;
	double sum, weighted_sum, weight; /* weight: seconds */
};

/* seconds: how long the value stood (for a rate: the interval it was computed over). */
void stats_add(struct stats *st, double value, double seconds);
/* A value that was added before stood for so long (more). */
void stats_stand(struct stats *st, double value, double seconds);
/* Add what came later than all of st. */
void stats_join(struct stats *st, const struct stats *later);
/* Of a difference of two that were read together, of which the first was the same all the time.
 * False: they do not seem to be such. */
bool stats_subtract(struct stats *out, const struct stats *from, const struct stats *part);
/* Time-weighted mean; plain mean when no weight is known. NAN when n == 0. */
double stats_mean(const struct stats *st);

/*
 * Student's t, the normal and the F distribution: what is needed of them for intervals
 * and tests.
 *
 * Equal to SciPy's to 1e-9, relatively, also far out in the tails. Degrees of freedom are positive
 * and need not be whole.
 */
/* P(T > t). */
double student_above(double t, double df);
/* P(|T| > |t|). */
double student_beyond(double t, double df);
/* The t with P(T > t) = p, 0 < p < 1. */
double student_quantile(double p, double df);

/* P(Z > z). */
double normal_above(double z);

/* P(F > f) of the F distribution; to 1e-9 for degrees of freedom up to 1e5. */
double f_above(double f, double df1, double df2);

/*
 * Weighted linear least squares with a few coefficients, and intervals of what follows from
 * them.
 *
 * y = c0 x0 + c1 x1 + ..., where the variance of y is s2 / weight and s2 is estimated from the
 * residuals. Intervals are those of Student's t. A ratio of two sums of coefficients has Fieller's
 * interval (E. C. Fieller, "Some Problems in Interval Estimation", J. R. Stat. Soc. B 16, 1954),
 * which needs no approximation.
 */
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

/*
 * Several questions asked at once, without more false answers than of one.
 */
/* Make each p what Holm 1979 corrects it to, so that it is compared with the level of all of them
 * together. NAN (no answer) stays and counts as asked: it corrects the others. 0 or -ENOMEM. */
int holm(double *p, uint32_t n);

/*
 * Values of equals side by side, as of nodes or of tasks: total, mean, least, most, and
 * how unequal they are.
 */
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
