/* SPDX-License-Identifier: Apache-2.0 */
#include "core/statistics/fit.h"

#include "core/statistics/student.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

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
