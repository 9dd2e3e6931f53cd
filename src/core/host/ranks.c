/* SPDX-License-Identifier: Apache-2.0 */
#include "core/host/ranks.h"

#include "core/statistics/student.h"

#include <math.h>
#include <stdbool.h>

enum { EXACT_MOST = 20 };

/* How many of C(na + nb, na) arrangements have each U, as the coefficients of the Gaussian
 * binomial: the product of (1 - q^(nb + i)) / (1 - q^i). All are whole and below 2^53. Returns P(U
 * >= u). */
static double exact_above(double u, uint32_t na, uint32_t nb)
{
	double ways[EXACT_MOST * EXACT_MOST + 1] = { 1 }, all = 0, above = 0;
	uint32_t most = na * nb;

	for (uint32_t i = 1; i <= na; i++) {
		for (uint32_t k = most; k >= nb + i; k--)
			ways[k] -= ways[k - nb - i];
		for (uint32_t k = i; k <= most; k++)
			ways[k] += ways[k - i];
	}
	for (uint32_t k = 0; k <= most; k++) {
		all += ways[k];
		above += k >= u ? ways[k] : 0;
	}
	return above / all;
}

/* The sum of t^3 - t over all values that occur t times, in two sorted groups. */
static double ties(const double *a, uint32_t na, const double *b, uint32_t nb)
{
	double sum = 0;

	for (uint32_t i = 0, k = 0; i < na || k < nb;) {
		double v = k == nb || (i < na && a[i] < b[k]) ? a[i] : b[k];
		double t = 0;

		for (; i < na && a[i] == v; i++)
			t++;
		for (; k < nb && b[k] == v; k++)
			t++;
		sum += t * t * t - t;
	}
	return sum;
}

struct ranks ranks_of(const double *a, uint32_t na, const double *b, uint32_t nb)
{
	struct ranks r = { 0, NAN, NAN };
	double pairs = (double)na * nb, n = (double)na + nb, tied = ties(a, na, b, nb), far, sd;

	if (!na || !nb)
		return (struct ranks){ NAN, NAN, NAN };
	for (uint32_t k = 0, below = 0, upto = 0; k < nb; k++) {
		while (below < na && a[below] < b[k])
			below++;
		while (upto < na && a[upto] <= b[k])
			upto++;
		r.u += (below + upto) / 2.0;
	}
	r.delta = 2 * r.u / pairs - 1;
	far = fmax(r.u, pairs - r.u);
	sd = sqrt(pairs / 12 * (n + 1 - tied / (n * (n - 1))));
	if (tied == 0 && na <= EXACT_MOST && nb <= EXACT_MOST)
		r.p = fmin(1, 2 * exact_above(far, na, nb));
	else if (sd > 0)
		r.p = fmin(1, 2 * normal_above((far - pairs / 2 - 0.5) / sd));
	else
		r.p = 1;
	return r;
}
