/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules_cases.h - every built-in rule: what just makes it speak, what it says then, and what is
 * just not enough. summary_fixture.h says how a summary is written.
 */
#ifndef TESTS_UNIT_RULES_CASES_H
#define TESTS_UNIT_RULES_CASES_H

#include "report/summary/summary.h"

/* Just enough for a rule that wants ten samples and two seconds. */
#define LONG "samples=10 wall_seconds=5 "

struct rules_case {
	const char *rule, *fires;
	enum severity severity;
	const char *says;
	const char *quiet[10];
};

static const struct rules_case cases[] = {
#include "rules_cases_code.def"
#include "rules_cases_rest.def"
#include "rules_cases_use.def"
#include "rules_cases_waits.def"
};

#endif
