/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel's high-water marks and huge pages add to the peak of memory. */
#include "sampler/tree/tree_state.h"

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
	t.peak_rss = t.largest_rss = 100 * mib;
	t.samples_with_pss = t.samples_with_live = 1;
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

/* Three of 50 MiB, of which each shares the same 20 with the others; and a fork of one of them. */
static void what_all_had_in_a_sample_is_a_lower_bound(void **state)
{
	static struct tree t;
	struct tree_totals totals = { .cpu_ns = 0 };

	(void)state;
	assert_int_equal(table_init(&t.table), 0);
	t.reading.page_bytes = 4096;
	t.reading.tick_ns = 10 * 1000 * 1000;
	t.pss = PSS_OFF;
	t.launched = true;
	for (int i = 0; i < 4; i++) {
		struct process *p = table_add(&t.table, 100 + i, i == 3 ? 100 : 1);

		p->stat.state = 'R';
		p->stat.rss_pages = 50 * mib / 4096;
		p->shared_bytes = 20 * mib;
		p->shared_known = true;
		p->executed = i < 3;
		p->pss_bytes = -1;
		process_changed(p);
	}
	sums_make(&t);
	t.alive_peak = 100; /* many more than in any sample */
	t.connector.fd = 1;
	peak_take(&t, &totals);
	assert_true(totals.peak_memory_is_bound);
	assert_string_equal(totals.peak_memory_kind, "private");
	assert_int_equal(totals.peak_memory_bytes, (3 * 30 + 20) * mib);
	/* In another one the sum of PSS was known, and more. */
	t.peak_pss = 115 * mib;
	peak_take(&t, &totals);
	assert_string_equal(totals.peak_memory_kind, "pss");
	assert_int_equal(totals.peak_memory_bytes, 115 * mib);
	/* The kernel says that one of them had more alone. */
	t.max_rss_reaped = 120 * mib;
	peak_take(&t, &totals);
	assert_string_equal(totals.peak_memory_kind, "process");
	assert_int_equal(totals.peak_memory_bytes, 120 * mib);
	table_free(&t.table);
}

/* Twenty grew until they ended, and had 10 MiB each when they were read: as they went on, 30. */
static void growth_that_no_sample_saw_is_a_lower_bound(void **state)
{
	static struct tree t;
	struct process p = { .grown_bytes = 10 * mib, .grown_ns = 50, .grown_at_ns = 1000 };
	struct tree_totals totals = { .cpu_ns = 0 };

	(void)state;
	t.reading.page_bytes = 4096;
	t.launched = true;
	p.stat.rss_pages = 10 * mib / 4096;
	t.samples_with_pss = t.samples_with_live = 1;
	t.peak_pss = t.peak_pss_at_most = 200 * mib;
	t.largest_rss = 10 * mib;
	t.max_rss_reaped = 12 * mib;
	peak_raise_rss(&t, 200 * mib);
	for (int i = 0; i < 20; i++)
		peak_ended(&t, &p, 1100);
	peak_raise_rss(&t, 0);
	peak_take(&t, &totals);
	assert_true(totals.peak_memory_is_bound); /* 200 + 20 * (12 - 10) */
	assert_int_equal(totals.peak_memory_at_most_bytes, 0);
	/* The kernel says that none had more. */
	t.max_rss_reaped = 10 * mib;
	peak_take(&t, &totals);
	assert_false(totals.peak_memory_is_bound);
	assert_int_equal(totals.peak_memory_bytes, 200 * mib);
	/* Nobody waited for them: they may have gone on as they did. */
	t.launched = false;
	peak_take(&t, &totals);
	assert_true(totals.peak_memory_is_bound);
}

/* One had 100 MiB of its own and 100 that it shares, and has 80 more by page faults, or less. */
static void what_a_sharer_touches_first_is_its_own(void **state)
{
	static const struct {
		int64_t private_mib, shared_mib, peak_mib;
	} cases[] = {
		{ 280, 0, 230 },
		{ 120, 0, 0 },  /* of what it gave back others may have a part */
		{ 200, 80, 0 }, /* a file, which others may have */
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		static struct tree t;
		struct process *p;

		t = (struct tree){ 0 };
		assert_int_equal(table_init(&t.table), 0);
		t.reading.page_bytes = 4096;
		t.reading.tick_ns = 10 * 1000 * 1000;
		p = table_add(&t.table, 7, 1);
		p->stat.state = 'R';
		p->has_forked = true;
		p->stat.rss_pages = 200 * mib / 4096;
		p->pss_bytes = 150 * mib;
		p->uss_bytes = 100 * mib;
		process_walked(&t.reading, p);
		p->shared_bytes = cases[i].shared_mib * mib;
		p->stat.rss_pages = (cases[i].private_mib + cases[i].shared_mib) * mib / 4096;
		p->stat.minflt += 80 * mib / 4096;
		sums_make(&t);
		assert_int_equal(t.peak_pss, cases[i].peak_mib * mib);
		table_free(&t.table);
	}
}

/* One had 100 MiB of its own and 100 that it shares, and has touched 30 MiB again since. */
static void pages_copied_since_the_walk_are_in_the_bound(void **state)
{
	static struct tree t;
	struct process *p;

	(void)state;
	assert_int_equal(table_init(&t.table), 0);
	t.reading.page_bytes = 4096;
	t.reading.tick_ns = 10 * 1000 * 1000;
	p = table_add(&t.table, 7, 1);
	p->stat.state = 'R';
	p->copies = 1;
	p->has_forked = true;
	p->stat.rss_pages = 200 * mib / 4096;
	p->pss_bytes = 150 * mib;
	p->uss_bytes = 100 * mib;
	process_walked(&t.reading, p);
	p->stat.minflt += 30 * mib / 4096;
	sums_make(&t);
	assert_int_equal(t.parts[PART_COPIED], 30 * mib);
	assert_int_equal(t.peak_pss, 0); /* not sure */
	assert_int_equal(t.unsure.most, 180 * mib);
	/* They were none: what it touches from now on are none, either. */
	process_walked(&t.reading, p);
	assert_true(p->copies <= 0.5);
	table_free(&t.table);
}

/* 150 MiB were sure; by now it has 280 MiB of its own, and a file came, which others may have. */
static void what_is_surely_its_own_raises_a_peak(void **state)
{
	static struct tree t;
	struct process *p;

	(void)state;
	assert_int_equal(table_init(&t.table), 0);
	t.reading.page_bytes = 4096;
	t.reading.tick_ns = 10 * 1000 * 1000;
	p = table_add(&t.table, 7, 1);
	p->stat.state = 'R';
	p->has_forked = true;
	p->stat.rss_pages = 200 * mib / 4096;
	p->pss_bytes = 150 * mib;
	p->uss_bytes = 100 * mib;
	process_walked(&t.reading, p);
	sums_make(&t);
	assert_int_equal(t.peak_pss, 150 * mib);
	p->shared_bytes = 100 * mib;
	p->stat.rss_pages = 480 * mib / 4096;
	process_changed(p);
	sums_make(&t);
	assert_int_equal(t.peak_pss, 280 * mib);
	assert_int_equal(t.unsure.most, 330 * mib);
	table_free(&t.table);
}

/* One had 100 MiB, and has a child that was not walked yet, with the same 100 or others. */
static void what_was_not_walked_is_in_the_bound(void **state)
{
	static const struct {
		int64_t child_pss_mib, ended_mib, less_mib, most_mib;
	} cases[] = {
		{ 50, 0, 0, 100 },   /* it had the same */
		{ 100, 0, 0, 200 },  /* it had none of them */
		{ 50, 0, 30, 100 },  /* both gave back what they had together, or one its own */
		{ 50, 40, 0, 140 },  /* another had 40 that ended */
		{ 50, 900, 0, 200 }, /* more than all had */
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		static struct tree t;
		struct tree_totals totals = { .cpu_ns = 0 };
		struct process *p[2], gone = { .part[PART_RESIDENT] = cases[i].ended_mib * mib };

		t = (struct tree){ .launched = true };
		assert_int_equal(table_init(&t.table), 0);
		t.reading.page_bytes = 4096;
		t.reading.tick_ns = 10 * 1000 * 1000;
		for (int k = 0; k < 2; k++) {
			p[k] = table_add(&t.table, 7 + k, k ? 7 : 1);
			p[k]->stat.state = 'R';
			p[k]->stat.stack = 4096;
			p[k]->stat.rss_pages = 100 * mib / 4096;
			p[k]->pss_bytes = -1;
			process_changed(p[k]);
		}
		p[0]->pss_bytes = p[0]->uss_bytes = 100 * mib;
		process_walked(&t.reading, p[0]);
		sums_make(&t);
		assert_int_equal(t.unsure.most, 200 * mib);
		peak_ended(&t, &gone, 0);
		for (int k = 0; k < 2; k++) {
			p[k]->stat.rss_pages -= cases[i].less_mib / 2 * mib / 4096;
			p[k]->pss_bytes = (k ? cases[i].child_pss_mib : 50) * mib -
					  cases[i].less_mib / 2 * mib;
			if (cases[i].child_pss_mib == 100)
				p[k]->pss_bytes = 100 * mib;
			process_walked(&t.reading, p[k]);
		}
		sums_make(&t);
		assert_int_equal(t.unsure.most, 0);
		peak_take(&t, &totals);
		assert_int_equal(t.peak_pss_at_most, cases[i].most_mib * mib);
		table_free(&t.table);
	}
}

/* The kernel says that one had 6 MiB, and samples saw 3 at most: so much is no peak. */
static void small_peaks_that_no_sample_saw_are_lower_bounds(void **state)
{
	static struct tree t;
	struct tree_totals totals = { .cpu_ns = 0 };

	(void)state;
	t.launched = true;
	t.samples_with_pss = t.samples_with_live = 1;
	t.peak_pss = t.peak_pss_at_most = mib;
	t.peak_rss = t.largest_rss = 3 * mib;
	t.max_rss_reaped = 3 * mib + mib / 4;
	peak_take(&t, &totals);
	assert_false(totals.peak_memory_is_bound);
	t.max_rss_reaped = 6 * mib;
	peak_take(&t, &totals);
	assert_true(totals.peak_memory_is_bound);
	assert_string_equal(totals.peak_memory_kind, "process");
	assert_int_equal(totals.peak_memory_bytes, 6 * mib);
	/* All had more than that in one sample. */
	t.peak_rss = 20 * mib;
	t.peak_pss = t.peak_pss_at_most = 9 * mib;
	peak_take(&t, &totals);
	assert_true(totals.peak_memory_is_bound);
	assert_int_equal(totals.peak_memory_bytes, 9 * mib);
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
		cmocka_unit_test(what_all_had_in_a_sample_is_a_lower_bound),
		cmocka_unit_test(growth_that_no_sample_saw_is_a_lower_bound),
		cmocka_unit_test(what_a_sharer_touches_first_is_its_own),
		cmocka_unit_test(what_is_surely_its_own_raises_a_peak),
		cmocka_unit_test(what_was_not_walked_is_in_the_bound),
		cmocka_unit_test(small_peaks_that_no_sample_saw_are_lower_bounds),
		cmocka_unit_test(pages_copied_since_the_walk_are_in_the_bound),
		cmocka_unit_test(shared_huge_pages_count_once),
		cmocka_unit_test(pss_is_at_most_rss),
		cmocka_unit_test(an_exit_record_is_bound_by_the_cpu_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
