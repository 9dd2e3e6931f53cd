/* SPDX-License-Identifier: Apache-2.0 */
/*
 * statistics - what core/ computes, for a check against another program: from standard input
 *
 *   student T DF          P(|T| > t)
 *   quantile P DF         t with P(T > t) = P
 *   describe N V...       mean median sd sem q1 q3 iqr cv cv_median skew
 *   compare N V... M W... difference low high p p_ranks u effect
 *
 * a line each, and a line of numbers for each on standard output.
 */
#include "core/describe.h"
#include "core/statistics/compare.h"
#include "core/statistics/stats.h"

#include <stdio.h>
#include <string.h>

enum { VALUES_MAX = 4096 };

static uint32_t read_values(double *value)
{
	uint32_t n = 0;

	if (scanf("%u", &n) != 1 || n > VALUES_MAX)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		if (scanf("%lf", &value[i]) != 1)
			return 0;
	return n;
}

static void two_numbers(double (*of)(double a, double b))
{
	double a, b;

	if (scanf("%lf %lf", &a, &b) == 2)
		printf("%.17g\n", of(a, b));
}

static void one_group(void)
{
	double value[VALUES_MAX];
	struct description d = describe(value, read_values(value));

	printf("%.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", d.mean, d.median,
	       d.sd, d.sem, d.q1, d.q3, d.iqr, d.cv, d.cv_median, d.skew);
}

static void two_groups(void)
{
	static double a[VALUES_MAX], b[VALUES_MAX];
	const struct compare_wish w = { .margin_ratio = 0.05, .level = 0.95 };
	uint32_t na = read_values(a), nb = read_values(b);
	struct compared c;

	if (compare_groups(&c, &(struct sample_group){ a, NULL, na },
			   &(struct sample_group){ b, NULL, nb }, &w))
		return;
	sort_values(a, na);
	sort_values(b, nb);
	printf("%.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", c.difference, c.low, c.high, c.p,
	       c.p_ranks, ranks_of(a, na, b, nb).u, c.effect);
}

int main(void)
{
	char what[16];

	while (scanf("%15s", what) == 1) {
		if (!strcmp(what, "student"))
			two_numbers(student_beyond);
		else if (!strcmp(what, "quantile"))
			two_numbers(student_quantile);
		else if (!strcmp(what, "describe"))
			one_group();
		else
			two_groups();
	}
	return 0;
}
