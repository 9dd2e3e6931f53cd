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

/* Of one that is about to end: rss was read before its memory went, and shared after. */
static void pss_is_at_most_rss(void **state)
{
	static struct tree t;
	struct process *p;

	(void)state;
	assert_int_equal(table_init(&t.table), 0);
	t.reading.page_bytes = 4096;
	t.reading.tick_ns = 10 * 1000 * 1000;
	p = table_add(&t.table, 7, 1);
	p->stat.state = 'R';
	p->stat.rss_pages = 100 * mib / 4096;
	p->shared_bytes = mib;
	p->shared_known = true;
	p->walk_private_bytes = 20 * mib;
	p->pss_bytes = 60 * mib;
	process_changed(p);
	sums_make(&t);
	assert_int_equal(t.parts[PART_RESIDENT], 100 * mib);
	assert_int_equal(t.parts[PART_PSS], 100 * mib);
	table_free(&t.table);
}

/* A hypervisor took half of what the exit record holds. */
static void an_exit_record_is_bound_by_the_cpu_clock(void **state)
{
	struct process p = { .cpu_ns = 500, .clock_ns = 1000, .counted_ns = 900 };

	(void)state;
	starts_bound(&p, 1100, 4);
	assert_int_equal(p.counted_ns, 600);
	p.counted_ns = 900;
	p.has_threads = true;
	starts_bound(&p, 1050, 4);
	assert_int_equal(p.counted_ns, 700);
	p = (struct process){ .birth_ns = 1000, .counted_ns = 900 };
	starts_bound(&p, 1300, 4);
	assert_int_equal(p.counted_ns, 300);
	p = (struct process){ .birth_ns = 1000, .found_ns = 1000, .counted_ns = 900 };
	starts_bound(&p, 1300, 4);
	assert_int_equal(p.counted_ns, 900);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_high_water_mark_is_a_lower_bound),
		cmocka_unit_test(shared_huge_pages_count_once),
		cmocka_unit_test(pss_is_at_most_rss),
		cmocka_unit_test(an_exit_record_is_bound_by_the_cpu_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
