/* SPDX-License-Identifier: Apache-2.0 */
/* kept_rules.h - the built-in rules, read once for a test program: it makes hundreds of summaries,
 * and with sanitizers to read the rules takes most of the time of each. */
#ifndef TESTS_KEPT_RULES_H
#define TESTS_KEPT_RULES_H

#include "report/judging/rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static inline const struct rules *kept_rules(void)
{
	static struct rules *kept;

	if (!kept)
		assert_int_equal(rules_builtin(&kept, NULL), 0);
	return kept;
}

#endif
