/* SPDX-License-Identifier: Apache-2.0 */
/* cycle_pattern.c - how well a pattern fits each place of a series. */
#include "core/statistics/cycle_part.h"

#include <math.h>

/* Of a pattern's place that hardly changes: the variance that it counts as. */
static const double still = 0.05;

/* Mean 0, length 1. */
void cycle_normalise(struct cycle_pattern *p)
{
	int n = 2 * p->half + 1;
	struct cycle_moments m = cycle_moments(p->x, (uint32_t)n);
	double length = m.sd * sqrt(n);

	for (int i = 0; i < n; i++)
		p->x[i] = length > 0 ? (p->x[i] - m.mean) / length : 0;
}

double cycle_scatter(const double *x, int n, double *mean)
{
	struct cycle_moments m = cycle_moments(x, (uint32_t)n);

	*mean = m.mean;
	return sqrt((m.sd * m.sd + still) * n);
}

static double one_product(const double *x, const struct cycle_pattern *p)
{
	double sum = 0;

	for (int k = 0; k <= 2 * p->half; k++)
		sum += p->x[k] * x[k];
	return sum;
}

/* Four places next to each other at once: their sums do not wait for each other. */
static void products(const double *x, const struct cycle_pattern *p, double sum[4])
{
	double a = 0, b = 0, c = 0, d = 0;

	for (int k = 0; k <= 2 * p->half; k++) {
		a += p->x[k] * x[k];
		b += p->x[k] * x[k + 1];
		c += p->x[k] * x[k + 2];
		d += p->x[k] * x[k + 3];
	}
	sum[0] = a;
	sum[1] = b;
	sum[2] = c;
	sum[3] = d;
}

/* The correlation of the pattern with what is around each value; what hardly changes has none. */
void cycle_fit(double *fit, const struct cycle_scale *s, const struct cycle_pattern *p)
{
	uint32_t half = (uint32_t)p->half, n = 2 * half + 1;
	double sum = 0, squares = 0, product[4];

	for (uint32_t i = 0; i < s->n; i++)
		fit[i] = -1;
	for (uint32_t k = 0; k + 1 < n && k < s->n; k++) {
		sum += s->x[k];
		squares += s->x[k] * s->x[k];
	}
	for (uint32_t i = 0; i + n <= s->n; i++) {
		double last = s->x[i + n - 1];

		sum += last;
		squares += last * last;
		if (i / 4 * 4 + n + 3 > s->n)
			product[i % 4] = one_product(s->x + i, p);
		else if (i % 4 == 0)
			products(s->x + i, p, product);
		fit[i + half] = product[i % 4] / sqrt(fmax(0, squares - sum * sum / n) + still * n);
		sum -= s->x[i];
		squares -= s->x[i] * s->x[i];
	}
}
