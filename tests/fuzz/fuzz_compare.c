/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions and floors of a gate, and groups of any finite numbers at any times. */
#include "report/comparison/comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { VALUES_MAX = 48 };

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check_text(const char *text)
{
	struct comparison x;
	struct err e = { "" };

	comparison_init(&x);
	require(!comparison_add_condition(&x, text, &e) || *e.text);
	require(!comparison_add_floor(&x, text, &e) || *e.text);
	for (uint32_t i = 0; i < x.nconditions; i++)
		require(x.condition[i].threshold >= 0 && x.condition[i].expression);
	comparison_free(&x);
}

static bool is_share(double p)
{
	return isnan(p) || (p >= 0 && p <= 1 + 1e-9);
}

static void check_groups(const uint8_t *data, size_t size)
{
	const struct compare_wish w = { .margin_ratio = 0.05, .level = 0.95 };
	double value[VALUES_MAX];
	int64_t at[VALUES_MAX];
	uint32_t n = 0, na;
	struct compared c;

	for (; n < VALUES_MAX && size > 9; data += 9, size -= 9) {
		memcpy(&value[n], data, sizeof value[n]);
		at[n] = data[8];
		n += isfinite(value[n]) ? 1 : 0;
	}
	na = n ? (uint32_t)at[0] % (n + 1) : 0;
	require(!compare_groups(&c, &(struct sample_group){ value, at, na },
				&(struct sample_group){ value + na, at + na, n - na }, &w));
	require(c.finding < COMPARE_NUMBER_OF &&
		(c.finding == COMPARE_UNKNOWN) == (!na || na == n));
	require(is_share(c.p) && is_share(c.p_same) && is_share(c.p_ranks) && is_share(c.p_drift));
	require(isnan(c.effect) || fabs(c.effect) <= 1);
	require(!(c.low > c.high));
	if (c.finding == COMPARE_MORE)
		require(c.difference > 0 && c.low > 0);
	if (c.finding == COMPARE_LESS)
		require(c.difference < 0 && c.high < 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	require(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	check_text(text);
	check_groups(data, size);
	free(text);
	return 0;
}
