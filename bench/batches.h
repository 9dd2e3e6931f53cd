/* SPDX-License-Identifier: Apache-2.0 */
/* batches.h - the clock of batches of calls, and the median over them. */
#ifndef BENCH_BATCHES_H
#define BENCH_BATCHES_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static inline int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static inline double median(double *v, size_t n)
{
	qsort(v, n, sizeof *v, by_value);
	return v[n / 2];
}

#endif
