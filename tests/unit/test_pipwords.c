/* SPDX-License-Identifier: Apache-2.0 */
/* Of what pip prints when it fails, the line that says why. */
#include "sweep/known.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct {
	const char *text, *wanted;
} cases[] = {
	/* pip 23.2: which packages, it says on standard output. */
	{ "Processing ./part-0.2-py3-none-any.whl (from -r r.txt (line 2))\n\n"
	  "The conflict is caused by:\n    The user requested thing<2\n    part 0.2 depends on thing>=2\n\n"
	  "To fix this you could try to:\n1. loosen the range of package versions you've specified\n\n"
	  "ERROR: Cannot install -r r.txt (line 2) and thing<2 because these package versions have "
	  "conflicting dependencies.\n"
	  "ERROR: ResolutionImpossible: for help visit https://pip.pypa.io/\n",
	  "conflict: The user requested thing<2; part 0.2 depends on thing>=2" },
	/* The same with --quiet, and of pip 20.3. */
	{ "ERROR: Cannot install part==0.2 and thing<2 because these package versions have "
	  "conflicting dependencies.\nERROR: ResolutionImpossible: for help visit https://pip.pypa.io/\n",
	  "ERROR: Cannot install part==0.2 and thing<2 because these package versions have "
	  "conflicting dependencies." },
	/* What was ignored comes first. */
	{ "\nERROR: Ignored the following versions that require a different python version: 1.21.2 "
	  "Requires-Python >=3.7,<3.11; 1.21.3 Requires-Python >=3.7,<3.11\n"
	  "ERROR: Ignored the following yanked versions: 1.22.0\n"
	  "ERROR: Could not find a version that satisfies the requirement numpy==1.21.2 (from versions: "
	  "1.26.4)\nERROR: No matching distribution found for numpy==1.21.2\n",
	  "ERROR: Could not find a version that satisfies the requirement numpy==1.21.2 (from versions: "
	  "1.26.4)" },
	{ "WARNING: the file does not exist\nERROR: Package 'old' requires a different Python: 3.11.7 not "
	  "in '<3.5'\n",
	  "ERROR: Package 'old' requires a different Python: 3.11.7 not in '<3.5'" },
	{ "The conflict is caused by:\nERROR: ResolutionImpossible: x\r\nthe last\r\n\r\n",
	  "the last" },
	{ "ERROR: Ignored the following yanked versions: 1\n",
	  "ERROR: Ignored the following yanked versions: 1" },
	/* Other programs. */
	{ "\nfirst\nLmod has detected the following error:\n  no such module\n\n",
	  "  no such module" },
	{ "its Pipfile requires Python 2.1, which python3 is not",
	  "its Pipfile requires Python 2.1, which python3 is not" },
	{ "\n\r\n", "" },
	{ "", "" },
};

static void the_line_that_says_why(void **state)
{
	char out[600];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		pipwords_reason(cases[i].text, out, sizeof out);
		assert_string_equal(out, cases[i].wanted);
	}
}

static void a_long_conflict_is_cut(void **state)
{
	char out[20];

	(void)state;
	pipwords_reason(cases[0].text, out, sizeof out);
	assert_string_equal(out, "conflict: The user ");
	pipwords_reason(cases[1].text, out, sizeof out);
	assert_string_equal(out, "ERROR: Cannot insta");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_line_that_says_why),
		cmocka_unit_test(a_long_conflict_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
