/* SPDX-License-Identifier: Apache-2.0 */
/* Cores that are shared between jobs: equally many each, and none twice. */
#include "sampler/tree/affinity.h"
#include "source/cpulist.h"
#include "unit/tree.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { JOBS = 8 };

/* siblings[cpu]; NULL: that machine does not tell. */
static struct root put_machine(const char *folder, const char *const *siblings, int ncpus)
{
	struct root sys;
	char path[96];

	tree_put(folder, "devices/system/cpu/online", "0-%d\n", ncpus - 1);
	for (int i = 0; i < ncpus && siblings; i++) {
		snprintf(path, sizeof path,
			 "devices/system/cpu/cpu%d/topology/thread_siblings_list", i);
		tree_put(folder, path, "%s\n", siblings[i]);
	}
	assert_int_equal(root_open(&sys, folder), 0);
	return sys;
}

static const char *const pairs[] = { "0,4", "1,5", "2,6", "3,7", "0,4", "1,5", "2,6", "3,7" };

static void check_shares(const struct root *sys, const char *allowed, uint32_t jobs, uint32_t cores,
			 const char *const *shares)
{
	struct cpulist set[JOBS], list;
	char text[CPULIST_TEXT];

	assert_true(cpulist_parse(&list, allowed));
	assert_int_equal(coreset_share(set, jobs, &list, sys), cores);
	for (uint32_t i = 0; i < jobs; i++) {
		affinity_text(&set[i], text, sizeof text);
		assert_string_equal(text, shares ? shares[i] : "");
	}
}

static void test_a_core_is_whole(void **state)
{
	struct root sys = put_machine("pairs", pairs, 8);

	(void)state;
	check_shares(&sys, "0-7", 2, 4, (const char *[]){ "0-1,4-5", "2-3,6-7" });
	check_shares(&sys, "0-7", 4, 4, (const char *[]){ "0,4", "1,5", "2,6", "3,7" });
	root_close(&sys);
}

static void test_all_have_as_many(void **state)
{
	struct root sys = put_machine("three", pairs, 8);

	(void)state;
	check_shares(&sys, "0-7", 3, 4, (const char *[]){ "0,4", "1,5", "2,6" });
	root_close(&sys);
}

static void test_what_is_not_allowed_is_left(void **state)
{
	struct root sys = put_machine("part", pairs, 8);

	(void)state;
	check_shares(&sys, "1,3-5", 3, 3, (const char *[]){ "1,5", "3", "4" });
	check_shares(&sys, "2,6", 1, 1, (const char *[]){ "2,6" });
	root_close(&sys);
}

static void test_too_few_cores(void **state)
{
	struct root sys = put_machine("few", pairs, 8);

	(void)state;
	check_shares(&sys, "0-7", 5, 4, NULL);
	check_shares(&sys, "0,4", 2, 1, NULL);
	root_close(&sys);
}

static void test_each_cpu_is_a_core_where_nothing_is_known(void **state)
{
	static const char *const wrong[] = { "none", "0-", "", "7" };
	struct root sys = put_machine("old", NULL, 4), hostile = put_machine("wrong", wrong, 4);

	(void)state;
	check_shares(&sys, "0-3", 2, 4, (const char *[]){ "0-1", "2-3" });
	check_shares(&hostile, "0-3", 4, 4, (const char *[]){ "0", "1", "2", "3" });
	root_close(&sys);
	root_close(&hostile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_core_is_whole),
		cmocka_unit_test(test_all_have_as_many),
		cmocka_unit_test(test_what_is_not_allowed_is_left),
		cmocka_unit_test(test_too_few_cores),
		cmocka_unit_test(test_each_cpu_is_a_core_where_nothing_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
