/* SPDX-License-Identifier: Apache-2.0 */
#include "core/describe.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void sort_values(double *value, uint32_t n)
{
	if (n)
		qsort(value, n, sizeof *value, ascending);
}

double quantile_of(const double *sorted, uint32_t n, double share)
{
	double at = share * (n - 1.0);
	uint32_t low = (uint32_t)at;

	if (!n)
		return NAN;
	if (low + 1 >= n)
		return sorted[n - 1];
	return sorted[low] + (at - low) * (sorted[low + 1] - sorted[low]);
}

/* Of the largest of these. */
static int exponent_of(double a, double b)
{
	int exponent;

	(void)frexp(fmax(fabs(a), fabs(b)), &exponent);
	return exponent;
}

/* Square and cube of the deviations, summed; the mean is computed first, so that large values
 * that hardly differ keep their digits. A power of two is taken out, so that neither squares of
 * huge values nor cubes of tiny ones leave what doubles can hold. */
static void moments(struct description *d, const double *value)
{
	double n = d->n, squares = 0, cubes = 0;
	int scale = exponent_of(d->max - d->mean, d->mean - d->min);

	for (uint32_t i = 0; i < d->n; i++) {
		double e = ldexp(value[i] - d->mean, -scale);

		squares += e * e;
		cubes += e * e * e;
	}
	if (d->n < 2)
		return;
	/* Values that are all the same differ from their mean by what rounding makes of it. */
	if (value[0] == value[d->n - 1])
		squares = 0;
	d->sd = ldexp(sqrt(squares / (n - 1)), scale);
	d->sem = d->sd / sqrt(n);
	if (d->mean != 0)
		d->cv = d->sd / d->mean;
	if (d->n > 2 && squares > 0)
		d->skew = sqrt(n * (n - 1)) / (n - 2) * (cubes / n) / pow(squares / n, 1.5);
}

struct description describe(double *value, uint32_t n)
{
	struct description d = {
		.n = n, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN
	};
	double sum = 0;
	int scale;

	if (!n)
		return d;
	sort_values(value, n);
	d.min = value[0];
	d.max = value[n - 1];
	scale = exponent_of(d.min, d.max);
	for (uint32_t i = 0; i < n; i++)
		sum += ldexp(value[i], -scale);
	d.mean = ldexp(sum / n, scale);
	d.q1 = quantile_of(value, n, 0.25);
	d.median = quantile_of(value, n, 0.5);
	d.q3 = quantile_of(value, n, 0.75);
	d.iqr = d.q3 - d.q1;
	if (d.median != 0)
		d.cv_median = d.iqr / d.median;
	moments(&d, value);
	return d;
}
