/* SPDX-License-Identifier: Apache-2.0 */
#include "core/statistics/stats.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

bool stats_subtract(struct stats *out, const struct stats *from, const struct stats *part)
{
	*out = (struct stats){
		.n = from->n,
		.min = from->min - part->max,
		.max = from->max - part->min,
		.first = from->first - part->first,
		.last = from->last - part->last,
		.sum = from->sum - part->sum,
		.weighted_sum = from->weighted_sum - part->weighted_sum,
		.weight = from->weight,
	};
	return from->n == part->n && !(from->weight < part->weight) &&
	       !(from->weight > part->weight) && !(from->min < from->max);
}

double stats_mean(const struct stats *st)
{
	if (!st->n)
		return NAN;
	return st->weight > 0 ? st->weighted_sum / st->weight : st->sum / (double)st->n;
}

/* ---- values side by side ---- */

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

/* Columns are scaled to length 1 before: what is left of a pivot below this is rounding. */
static const double singular = 1e-13;

/* The inverse of a symmetric matrix by Gauss and Jordan, in place; false: it has none. */
static bool invert(double a[FIT_MOST][FIT_MOST], uint32_t k)
{
	for (uint32_t p = 0; p < k; p++) {
		double pivot = a[p][p];

		if (!(pivot > singular))
			return false;
		for (uint32_t j = 0; j < k; j++)
			a[p][j] /= pivot;
		a[p][p] = 1 / pivot;
		for (uint32_t i = 0; i < k; i++) {
			double share = a[i][p];

			if (i == p)
				continue;
			a[i][p] = 0;
			for (uint32_t j = 0; j < k; j++)
				a[i][j] -= share * a[p][j];
		}
	}
	return true;
}

static double dot(const double a[FIT_MOST], const double b[FIT_MOST], uint32_t k)
{
	double sum = 0;

	for (uint32_t i = 0; i < k; i++)
		sum += a[i] * b[i];
	return sum;
}

static double covariance_of(const struct fit *f, const double a[FIT_MOST], const double b[FIT_MOST])
{
	double sum = 0;

	for (uint32_t i = 0; i < f->coefficients; i++)
		sum += a[i] * dot(f->covariance[i], b, f->coefficients);
	return sum;
}

static void residuals(struct fit *f, const double (*x)[FIT_MOST], const double *y,
		      const double *weight)
{
	double sum = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		double off = y[i] - dot(x[i], f->c, f->coefficients);

		sum += weight[i] * off * off;
	}
	f->df = (double)f->n - f->coefficients;
	f->s2 = f->df > 0 ? sum / f->df : NAN;
	for (uint32_t i = 0; i < f->coefficients; i++)
		for (uint32_t j = 0; j < f->coefficients; j++)
			f->covariance[i][j] *= f->s2;
}

int fit_linear(struct fit *f, const double (*x)[FIT_MOST], const double *y, const double *weight,
	       uint32_t n, uint32_t coefficients)
{
	double length[FIT_MOST] = { 0 }, right[FIT_MOST] = { 0 };

	memset(f, 0, sizeof *f);
	f->n = n;
	f->coefficients = coefficients;
	if (n < coefficients)
		return -EDOM;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < coefficients; j++)
			length[j] += weight[i] * x[i][j] * x[i][j];
	for (uint32_t j = 0; j < coefficients; j++) {
		length[j] = sqrt(length[j]);
		if (!(length[j] > 0))
			return -EDOM;
	}
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < coefficients; j++) {
			right[j] += weight[i] * x[i][j] * y[i] / length[j];
			for (uint32_t k = 0; k < coefficients; k++)
				f->covariance[j][k] +=
					weight[i] * x[i][j] * x[i][k] / length[j] / length[k];
		}
	if (!invert(f->covariance, coefficients))
		return -EDOM;
	for (uint32_t j = 0; j < coefficients; j++) {
		f->c[j] = dot(f->covariance[j], right, coefficients) / length[j];
		for (uint32_t k = 0; k < coefficients; k++)
			f->covariance[j][k] /= length[j] * length[k];
	}
	residuals(f, x, y, weight);
	return 0;
}

struct fitted fit_at(const struct fit *f, const double x[FIT_MOST], double level)
{
	struct fitted at = { dot(x, f->c, f->coefficients), NAN, NAN };
	double half;

	if (!(f->df > 0))
		return at;
	half = student_quantile((1 - level) / 2, f->df) * sqrt(covariance_of(f, x, x));
	at.low = at.value - half;
	at.high = at.value + half;
	return at;
}

/* All r for which over - r x under may be 0: between the roots of a quadratic equation. */
struct fitted fit_ratio(const struct fit *f, const double over[FIT_MOST],
			const double under[FIT_MOST], double level)
{
	double a = dot(over, f->c, f->coefficients), b = dot(under, f->c, f->coefficients);
	struct fitted ratio = { a / b, NAN, NAN };
	double t2, square, half, root;

	if (!(f->df > 0))
		return ratio;
	t2 = pow(student_quantile((1 - level) / 2, f->df), 2);
	square = b * b - t2 * covariance_of(f, under, under);
	half = a * b - t2 * covariance_of(f, over, under);
	root = half * half - square * (a * a - t2 * covariance_of(f, over, over));
	if (!(square > 0) || !(root >= 0))
		return ratio;
	ratio.low = (half - sqrt(root)) / square;
	ratio.high = (half + sqrt(root)) / square;
	return ratio;
}
