/* SPDX-License-Identifier: Apache-2.0 */
/* Names by comma-separated globs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/glob.h"

static void test_names_by_globs(void **state)
{
	static const struct {
		const char *list, *name;
		bool matches;
	} cases[] = {
		{ NULL, "node.load", true },
		{ "", "node.load", false },
		{ ",", "node.load", false },
		{ "node.load", "node.load", true },
		{ "node.load", "node.load_1", false },
		{ "node.load_1", "node.load", false },
		{ "node", "node.load", false },
		{ "disk.busy,node.load", "node.load", true },
		{ "disk.busy,node.load,", "disk.busy", true },
		{ "node.*", "node.load", true },
		{ "node.*", "nodes.load", false },
		{ "disk.*,*", "node.load", true },
		{ "*load", "node.load", true },
		{ "node.lo?d", "node.load", true },
		{ "node.[kl]oad", "node.load", true },
		{ "node.[kl]oad", "node.road", false },
		{ "node\\.load", "node.load", true },
		{ "node.load*", "node.load", true },
		{ "a[,]b", "a,b", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (glob_match(cases[i].list, cases[i].name) != cases[i].matches)
			fail_msg("%s of %s", cases[i].name, cases[i].list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_by_globs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
