/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that grows all the time is told from what a job takes once, and from what it gives back.
 */
#define SUMMARY_ROWS 61
#include "summary_made.h"

#include <math.h>
#include <string.h>

/* Of a job that grows for so many seconds, then keeps what it has, and at last gives back a
 * twentieth of it each second. */
static struct summary growth_of(int grows, int frees, const char *also)
{
	struct synthetic *x = synthetic_new(1);
	uint32_t rss = metric(x, "job.resident_bytes", NULL, KIND_GAUGE, UNIT_BYTES);
	uint32_t of_job = series(x, 1, rss, 0);
	uint32_t other = also ? metric(x, also, NULL, KIND_GAUGE, UNIT_BYTES) : 0;
	uint32_t grows_too = also ? series(x, 1, other, 0) : 0;
	int64_t bytes = 0, most = grows * INT64_C(50000000);
	struct summary s;

	meta_int(x, 1, "node.memory_bytes", INT64_C(32000000000));
	for (int row = 0; row < ROWS; row++) {
		if (row >= ROWS - frees)
			bytes -= most / 20;
		else if (row <= grows)
			bytes = row * INT64_C(50000000);
		put(x, of_job, row, bytes);
		if (also)
			put(x, grows_too, row, bytes);
	}
	s = made(x);
	free(x);
	return s;
}

static bool leaks(const struct summary *s)
{
	for (uint32_t i = 0; i < s->nverdicts; i++)
		if (strcmp(s->verdicts[i].rule, "leak") == 0)
			return true;
	return false;
}

static void test_growth_ends_where_a_job_begins_to_give_back(void **state)
{
	static const struct {
		int grows, frees;
		bool leaks;
	} cases[] = {
		{ 61, 0, true },   /* until the end */
		{ 51, 9, true },   /* it frees all before it exits */
		{ 30, 9, false },  /* what it loads it keeps */
		{ 10, 0, false },  /* the same, in a sixth of the time */
		{ 41, 19, false }, /* a third of the time is no exit */
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct summary s = growth_of(cases[i].grows, cases[i].frees, NULL);

		assert_int_equal(leaks(&s), cases[i].leaks);
		if (leaks(&s))
			assert_true(fabs(s.story.leak_bytes_per_s - 5e7) < 1e6);
		summary_free(&s);
	}
}

static void test_pages_of_mapped_files_are_no_growth(void **state)
{
	struct summary s = growth_of(61, 0, "job.shared_bytes");

	(void)state;
	assert_false(leaks(&s));
	summary_free(&s);
	s = growth_of(61, 0, "job.memory_files_bytes");
	assert_true(leaks(&s));
	summary_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_growth_ends_where_a_job_begins_to_give_back),
		cmocka_unit_test(test_pages_of_mapped_files_are_no_growth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
