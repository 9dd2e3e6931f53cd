/* SPDX-License-Identifier: Apache-2.0 */
#include "core/statistics/holm.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

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
