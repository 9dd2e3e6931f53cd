/* SPDX-License-Identifier: Apache-2.0 */
/* Wall time shared out among phases: nested, on several tracks, not ended, outside of all; the
 * parts add up. Recordings: tests/cli/compare-blames-phases.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka.h needs those three before it */
#include <cmocka.h>

#include "report/comparison/blame.h"
#include "report/summary/summary.h"
#include "unit/synthetic_run.h"

#define SPAN(of_track, from_s, to_s, called)                                                       \
	{                                                                                          \
		.node = 1, .track = (of_track), .begin_ns = (from_s)*INT64_C(1000000000),          \
		.end_ns = (to_s) < 0 ? INT64_MAX : (to_s)*INT64_C(1000000000), .name = (called),   \
		.detail = ""                                                                       \
	}

static void share(struct blame *b, struct run_span *spans, uint32_t n, double wall_s)
{
	struct synth *s = synth_new(4);
	const struct summary summary = { .start_utc_ns = 1, .wall_s = wall_s };

	for (int i = 0; i < 2; i++)
		synth_instance(s, "span", "track");
	s->nodes[1].last_ns = (int64_t)wall_s * INT64_C(1000000000);
	s->run.spans = spans;
	s->run.nspans = n;
	assert_true(s->run.ninstances > 2);
	assert_true(blame_add_phases(b, 0, &s->run, &summary));
	assert_false(b->failed);
	synth_free(s);
}

static void has(struct blame *b, enum blame_kind kind, const char *name, double seconds)
{
	const struct blame_part *p = blame_find(b, BLAME_PHASE, kind, name, "");

	assert_non_null(p);
	assert_float_equal(p->value[0], seconds, 1e-9);
}

static void a_moment_is_of_who_began_last_and_shared_by_tracks(void **state)
{
	struct run_span spans[] = { { 0 },
				    SPAN(1, 0, 10, "outer"),
				    SPAN(1, 2, 4, "inner"),
				    SPAN(2, 3, 5, "other"),
				    SPAN(2, 10, 11, "inner") };
	struct blame b = { .subject = BLAME_WALL };

	(void)state;
	share(&b, spans, 5, 12);
	has(&b, BLAME_NAMED, "outer", 2 + 0.5 + 5);
	has(&b, BLAME_NAMED, "inner", 1 + 0.5 + 1);
	has(&b, BLAME_NAMED, "other", 0.5 + 0.5);
	has(&b, BLAME_OUTSIDE, "outside of phases", 1);
	blame_free(&b);
}

static void who_ends_before_what_it_holds_has_nothing_more(void **state)
{
	struct run_span spans[] = {
		{ 0 }, SPAN(1, 0, 5, "a"), SPAN(1, 2, 8, "b"), SPAN(1, 3, 4, "c")
	};
	struct blame b = { .subject = BLAME_WALL };

	(void)state;
	share(&b, spans, 4, 8);
	has(&b, BLAME_NAMED, "a", 2);
	has(&b, BLAME_NAMED, "b", 1 + 4);
	has(&b, BLAME_NAMED, "c", 1);
	blame_free(&b);
}

static void what_is_beyond_the_end_is_cut(void **state)
{
	struct run_span spans[] = { { 0 }, SPAN(1, 1, 20, "long"), SPAN(1, 12, 13, "late") };
	struct blame b = { .subject = BLAME_WALL };

	(void)state;
	share(&b, spans, 3, 10);
	has(&b, BLAME_NAMED, "long", 9);
	has(&b, BLAME_NAMED, "late", 0);
	has(&b, BLAME_OUTSIDE, "outside of phases", 1);
	blame_free(&b);
}

static void without_spans_nothing_is_said(void **state)
{
	struct synth *s = synth_new(4);
	const struct summary summary = { .start_utc_ns = 1, .wall_s = 10 };
	struct blame b = { .subject = BLAME_WALL };

	(void)state;
	assert_false(blame_add_phases(&b, 0, &s->run, &summary));
	assert_true(blame_is_empty(&b));
	blame_free(&b);
	synth_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_moment_is_of_who_began_last_and_shared_by_tracks),
		cmocka_unit_test(who_ends_before_what_it_holds_has_nothing_more),
		cmocka_unit_test(what_is_beyond_the_end_is_cut),
		cmocka_unit_test(without_spans_nothing_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
