/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/sweep/halving.h"

#include <stdlib.h>

static uint32_t kept_of(uint32_t n, int64_t eta)
{
	return (uint32_t)((n + eta - 1) / eta);
}

bool halving_plan(struct halving *h, const struct sweep_spec *spec, uint32_t n)
{
	uint32_t rounds = 1;
	int64_t budget = spec->budget, each = 0;

	for (uint32_t k = kept_of(n, spec->eta); k > 1; k = kept_of(k, spec->eta))
		rounds++;
	*h = (struct halving){ .needed = n * spec->minimum * rounds };
	if (!budget)
		budget = h->needed;
	if (budget < h->needed)
		return false;
	h->nrounds = rounds;
	for (uint32_t i = 0; i < rounds; i++, n = kept_of(n, spec->eta)) {
		int64_t more = budget / ((int64_t)n * rounds);

		each += more;
		h->round[i] = (struct halving_round){ n, each };
		h->trials += n * more;
	}
	return true;
}

/* What failed is the worst. */
static int by_score(const void *a, const void *b, void *scores)
{
	uint32_t m = *(const uint32_t *)a, n = *(const uint32_t *)b;
	const struct sweep_score *x = (const struct sweep_score *)scores + m;
	const struct sweep_score *y = (const struct sweep_score *)scores + n;
	bool known = x->state == SWEEP_KNOWN;

	if (known != (y->state == SWEEP_KNOWN))
		return known ? -1 : 1;
	if (known && x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return (m > n) - (m < n);
}

uint32_t halving_keep(uint32_t *chosen, uint32_t n, const struct sweep_score *score, int64_t eta)
{
	qsort_r(chosen, n, sizeof *chosen, by_score, (void *)score);
	return kept_of(n, eta);
}
