/* SPDX-License-Identifier: Apache-2.0 */
/*
 * same_verdicts.h - that a run is judged the same whether all of its metrics are read or only those
 * that rules look at: what `show` says in words is what it says as JSON.
 *
 * Only the verdicts are compared; the metrics of the two are meant to differ.
 */
#ifndef TESTS_UNIT_SAME_VERDICTS_H
#define TESTS_UNIT_SAME_VERDICTS_H

#include "kept_rules.h"
#include "report/summary/summary.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static inline bool same_number(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static inline void assert_same_verdict(const struct summary_verdict *a,
				       const struct summary_verdict *b)
{
	assert_string_equal(a->rule, b->rule);
	assert_int_equal(a->severity, b->severity);
	assert_string_equal(a->sentence, b->sentence);
	assert_string_equal(a->metric, b->metric);
	assert_true(same_number(a->from_s, b->from_s) && same_number(a->to_s, b->to_s));
	assert_true(same_number(a->threshold, b->threshold));
}

/* all: made of the same run with all of its metrics. */
static inline void assert_same_when_judged(const struct summary *all, struct run *r)
{
	const struct summary_wish judged = { .builtin = kept_rules() };
	struct summary s;

	assert_int_equal(summary_make_as(&s, r, &judged, NULL), 0);
	assert_int_equal(s.nverdicts, all->nverdicts);
	for (uint32_t i = 0; i < s.nverdicts; i++)
		assert_same_verdict(&s.verdicts[i], &all->verdicts[i]);
	summary_free(&s);
}

static inline bool has_verdict(const struct summary *s, const char *rule)
{
	for (uint32_t i = 0; i < s->nverdicts; i++)
		if (!strcmp(s->verdicts[i].rule, rule))
			return true;
	return false;
}

#endif
