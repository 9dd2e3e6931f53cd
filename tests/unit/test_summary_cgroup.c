/* SPDX-License-Identifier: Apache-2.0 */
/* What a summary takes from the job's control group. */
#include "summary_made.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* A job of 400 bytes by its PSS, in a control group of this owner and peak, `before` of which was
 * reached before the recording. */
static struct synthetic *job_in_a_cgroup(const char *owner, int64_t before, int64_t peak,
					 int64_t cache)
{
	struct synthetic *x = synthetic_new(1);
	uint32_t own = x->run.ninstances++, above = x->run.ninstances++;
	uint32_t peaks = metric(x, "cgroup.memory_peak_bytes", "cgroup", KIND_GAUGE, UNIT_BYTES);
	uint32_t kills = metric(x, "cgroup.memory_oom_kills", "cgroup", KIND_COUNTER, UNIT_COUNT),
		 id;

	x->instance[own] = (struct run_instance){ .node = 1, .domain = "cgroup", .name = "task" };
	x->instance[above] = (struct run_instance){
		.node = 1, .domain = "cgroup", .name = "job", .flags = INSTANCE_ASIDE
	};
	id = series(x, 1, peaks, own);
	put(x, id, 0, before);
	put(x, id, 9, peak);
	put(x, series(x, 1, peaks, above), 9, 99999);
	if (cache >= 0)
		put(x,
		    series(x, 1,
			   metric(x, "cgroup.memory_file_bytes", "cgroup", KIND_GAUGE, UNIT_BYTES),
			   own),
		    9, cache);
	meta_int(x, 1, "monitor.max_rss_bytes", 20);
	id = series(x, 1, kills, own);
	put(x, id, 0, 2);
	put(x, id, 9, 5);
	put(x, series(x, 1, kills, above), 9, 77);
	meta_text(x, "job.peak_memory_kind", "pss");
	meta_int(x, 1, "job.peak_memory_bytes", 400);
	meta_text(x, "cgroup.owner", "alone");
	if (owner)
		meta_text(x, "cgroup.owner", owner); /* what was said last stands */
	meta_int(x, 1, "cgroup.memory_oom_kills_before", 3);
	if (before)
		meta_int(x, 1, "cgroup.memory_peak_before_bytes", before);
	return x;
}

static void test_the_cgroups_peak_is_the_jobs_when_it_is_alone_and_new(void **state)
{
	static const struct {
		const char *owner;
		int64_t before, peak, cache, want;
	} cases[] = {
		{ "alone", 50, 1000, 0, 1000 },
		{ NULL, 50, 1000, 30, 1000 },
		{ "alone", 51, 1000, 0, 400 },
		{ "alone", 1000, 1000, 0, 400 },
		{ "alone", 0, 1000, 0, 400 }, /* what was there before is not known */
		{ "shared", 50, 1000, 0, 400 },
		{ "task", 50, 1000, 0, 400 },
		{ "unknown", 50, 1000, 0, 400 },
		{ "alone", 50, 1000, 31, 400 }, /* with Sonde's own more than a twentieth */
		{ "alone", 50, 1000, -1, 400 }, /* how much of it is cache is not known */
		{ "alone", 10, 399, 0, 400 },   /* the rest was charged to others */
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct synthetic *x = job_in_a_cgroup(cases[i].owner, cases[i].before,
						      cases[i].peak, cases[i].cache);
		struct summary s = made(x);

		assert_int_equal((int64_t)s.peak_memory_bytes, cases[i].want);
		assert_string_equal(s.peak_memory_kind, cases[i].want == 400 ? "pss" : "cgroup");
		assert_true(cases[i].want == 400 || isnan(s.peak_memory_age_s));
		done(&s, x);
	}
}

static void test_out_of_memory_kills_are_those_of_the_recording(void **state)
{
	struct synthetic *x = job_in_a_cgroup("shared", 50, 1000, 0);
	struct summary s = made(x);

	(void)state;
	assert_true(s.oom_kills == 2); /* 5, and 3 of them before */
	done(&s, x);
	x = synthetic_new(1);
	s = made(x);
	assert_true(isnan(s.oom_kills));
	done(&s, x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_cgroups_peak_is_the_jobs_when_it_is_alone_and_new),
		cmocka_unit_test(test_out_of_memory_kills_are_those_of_the_recording),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
