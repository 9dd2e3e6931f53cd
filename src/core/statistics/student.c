/* SPDX-License-Identifier: Apache-2.0 */
#include "core/statistics/student.h"

#include "core/statistics/holm.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* From here on the two distributions are one as far as doubles can tell. */
static const double df_normal = 1e15;

/* log B(a, 1/2), by Stirling's series of the ratio of the gammas where a is large: there the
 * logarithms are so alike that nothing would be left of their difference. */
static double log_beta_half(double a)
{
	const double half_log_pi = 0.57236494292470008707;
	double r = 1 / a, r2 = r * r;

	if (a < 15)
		return lgamma(a) + half_log_pi - lgamma(a + 0.5);
	return half_log_pi - 0.5 * log(a) +
	       r * (1.0 / 8 - r2 * (1.0 / 192 - r2 * (1.0 / 640 - r2 * (17.0 / 14336))));
}

static double away_from_0(double v)
{
	return fabs(v) < 1e-300 ? 1e-300 : v;
}

/* The continued fraction of the incomplete beta function (NIST DLMF 8.17.22), by Lentz's method.
 * Converges fast for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double x, double a, double b)
{
	double c = 1, d = 1 / away_from_0(1 - (a + b) * x / (a + 1)), f = d;

	for (int m = 1; m < 100000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 / away_from_0(1 + even * d);
		c = away_from_0(1 + even / c);
		f *= c * d;
		d = 1 / away_from_0(1 + odd * d);
		c = away_from_0(1 + odd / c);
		step = c * d;
		f *= step;
		if (fabs(step - 1) < 1e-16)
			break;
	}
	return f;
}

double student_beyond(double t, double df)
{
	double a = df / 2, t2 = t * t;
	/* Both shares are computed, for 1 - x has lost what makes x small. */
	double x = df / (df + t2), rest = t2 / (df + t2), front;

	if (isnan(t) || !(df > 0))
		return NAN;
	if (df >= df_normal)
		return 2 * normal_above(fabs(t));
	if (isinf(t2))
		return isinf(t) ? 0 : exp(a * (log(df) - 2 * log(fabs(t))) - log_beta_half(a)) / a;
	if (t == 0)
		return 1;
	front = exp(-a * log1p(t2 / df) + 0.5 * log(rest) - log_beta_half(a));
	if (x < (a + 1) / (a + 2.5))
		return front * beta_fraction(x, a, 0.5) / a;
	return 1 - 2 * front * beta_fraction(rest, 0.5, a);
}

double student_above(double t, double df)
{
	double tail = student_beyond(t, df) / 2;

	return t > 0 ? tail : 1 - tail;
}

double student_quantile(double p, double df)
{
	double tail = fmin(p, 1 - p), low = 0, high = 1, t;

	if (!(p > 0 && p < 1) || !(df > 0))
		return NAN;
	if (p == 0.5)
		return 0;
	while (student_beyond(high, df) / 2 > tail && high < 1e300) {
		low = high;
		high *= 2;
	}
	do {
		t = low + (high - low) / 2;
		if (student_beyond(t, df) / 2 > tail)
			low = t;
		else
			high = t;
	} while (high - low > 1e-14 * high && t > low - 1 && low + (high - low) / 2 != t);
	return p < 0.5 ? t : -t;
}

double f_above(double f, double df1, double df2)
{
	double a = df2 / 2, b = df1 / 2, x = df2 / (df2 + df1 * f),
	       rest = df1 * f / (df2 + df1 * f);
	double front;

	if (isnan(f) || !(df1 > 0) || !(df2 > 0))
		return NAN;
	if (f <= 0)
		return 1;
	front = exp(a * log(x) + b * log(rest) + lgamma(a + b) - lgamma(a) - lgamma(b));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(x, a, b) / a;
	return 1 - front * beta_fraction(rest, b, a) / b;
}

double normal_above(double z)
{
	return 0.5 * erfc(z / sqrt(2));
}

/* ---- several questions ---- */

static int by_p(const void *a, const void *b)
{
	double x = **(double *const *)a, y = **(double *const *)b;

	return (x > y) - (x < y);
}

int holm(double *p, uint32_t n)
{
	double **order = calloc(n + 1u, sizeof *order);
	double least = 0;
	uint32_t known = 0;

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		if (!isnan(p[i]))
			order[known++] = &p[i];
	if (known)
		qsort(order, known, sizeof(double *), by_p);
	for (uint32_t i = 0; i < known; i++)
		*order[i] = least = fmax(least, fmin(1, (n - i) * *order[i]));
	free(order);
	return 0;
}
