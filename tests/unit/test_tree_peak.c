/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel's high-water marks and huge pages add to the peak of memory. */
#include "sampler/tree_state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const int64_t mib = 1 << 20;

/* Of one that began with the recording it is the least that the job had. */
static void a_high_water_mark_is_a_lower_bound(void **state)
{
	static struct tree t;
	struct process before = { .before_us = true }, p = { .peak_rss_bytes = 100 * mib };
	struct tree_totals totals = { .cpu_ns = 0 };

	(void)state;
	t.launched = true;
	t.peak_pss = t.peak_pss_at_most = 90 * mib;
	t.peak_rss = 100 * mib;
	t.samples_with_pss = t.samples_with_live = t.samples_sure = 1;
	peak_told(&t, &before, 900 * mib);
	peak_take(&t, &totals);
	assert_string_equal(totals.peak_memory_kind, "pss");
	assert_int_equal(totals.peak_memory_bytes, 90 * mib);
	assert_false(totals.peak_memory_is_bound);
	peak_told(&t, &p, 400 * mib);
	assert_int_equal(p.peak_rss_bytes, 400 * mib);
	peak_take(&t, &totals);
	assert_string_equal(totals.peak_memory_kind, "process");
	assert_int_equal(totals.peak_memory_bytes, 400 * mib);
	assert_true(totals.peak_memory_is_bound);
}

/* Two have the same 4 MiB, of which the machine has no more in use. */
static void shared_huge_pages_count_once(void **state)
{
	static struct tree t;
	struct process p = { .hugetlb_bytes = 4 * mib };

	(void)state;
	t.parts[PART_HUGETLB] = 8 * mib;
	t.memory.huge_used = 4 * mib;
	assert_int_equal(memory_hugetlb(&t), 4 * mib);
	assert_int_equal(memory_hugetlb_of(&t, &p), 2 * mib);
	t.memory.files_bytes = 10 * mib;
	t.parts[PART_SHARED_MEMORY] = 3 * mib;
	assert_int_equal(memory_unmapped(&t), 7 * mib);
	t.parts[PART_SHARED_MEMORY] = 30 * mib;
	assert_int_equal(memory_unmapped(&t), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_high_water_mark_is_a_lower_bound),
		cmocka_unit_test(shared_huge_pages_count_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
