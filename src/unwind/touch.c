/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/touch.h"

#include <math.h>

enum { WINDOW = 24, WINDOW_LEAST = 6, STEP = 4, GAP = 8 };
#define ENOUGH 1.02 /* of the pages of a range: until no more is claimed, the oldest go */

/* Samples by chance may claim more than there is, the more so the fewer they are. */
static double most(uint32_t n)
{
	return 1 + 2.5 / sqrt(n);
}

static bool counts(const struct touch *x)
{
	return x->here && !x->of_file && x->pages == 1 && !x->reused;
}

/* Pages claimed between the first and the last, by the pages that are there. */
static double claimed(struct touch *const *x, uint32_t n, uint64_t page_bytes)
{
	uint64_t pages = (x[n - 1]->address - x[0]->address) / page_bytes + 1;
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += x[i]->faults * (i && i < n - 1 ? 1.0 : 0.5);
	return sum / (double)pages;
}

/* A newer one is beside it, among the pages that it stands for. */
static bool is_overrun(struct touch *const *x, uint32_t n, uint32_t i, uint64_t page_bytes)
{
	uint64_t near = x[i]->faults * page_bytes / 5 * 3;

	return (i && x[i - 1]->at_ns > x[i]->at_ns && x[i]->address - x[i - 1]->address <= near) ||
	       (i + 1 < n && x[i + 1]->at_ns > x[i]->at_ns &&
		x[i + 1]->address - x[i]->address <= near);
}

/* How many are left; all of them if none is overrun. */
static uint32_t drop_oldest(struct touch **x, uint32_t n, uint64_t page_bytes)
{
	uint32_t oldest = n;

	for (uint32_t i = 0; i < n; i++)
		if ((oldest == n || x[i]->at_ns < x[oldest]->at_ns) &&
		    is_overrun(x, n, i, page_bytes))
			oldest = i;
	if (oldest == n)
		return n;
	x[oldest]->reused = true;
	for (uint32_t i = oldest; i + 1 < n; i++)
		x[i] = x[i + 1];
	return n - 1;
}

/* Leaves those that stay. */
static uint32_t check(struct touch **x, uint32_t n, uint64_t page_bytes)
{
	uint32_t left = n;

	if (n < WINDOW_LEAST || claimed(x, n, page_bytes) <= most(n))
		return n;
	do {
		n = left;
		left = drop_oldest(x, n, page_bytes);
	} while (left < n && left > 1 && claimed(x, left, page_bytes) > ENOUGH);
	return left;
}

/* No memory that samples know of is between them. */
static bool is_apart(const struct touch *x, const struct touch *next, uint64_t page_bytes)
{
	return (next->address - x->address) / page_bytes > (uint64_t)GAP * x->faults;
}

void touch_mark_reused(struct touch *x, uint32_t n, uint64_t page_bytes)
{
	struct touch *window[WINDOW];
	uint32_t held = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (!counts(&x[i]))
			continue;
		if (held && is_apart(window[held - 1], &x[i], page_bytes)) {
			(void)check(window, held, page_bytes);
			held = 0;
		}
		window[held++] = &x[i];
		if (held == WINDOW)
			held = check(window, held, page_bytes);
		if (held < WINDOW)
			continue;
		held -= STEP;
		for (uint32_t k = 0; k < held; k++)
			window[k] = window[k + STEP];
	}
	(void)check(window, held, page_bytes);
}
