/* SPDX-License-Identifier: Apache-2.0 */
/* What recorders counted as lost: over all nodes, each one's last word, in words. */
#include "core/frame/losses.h"

#include "summary_made.h"

#include <math.h>
#include <string.h>

static void says(const struct synthetic *x, bool all, const char *wanted)
{
	struct bytes words = { 0 };
	struct losses l;

	assert_int_equal(losses_make(&l, &x->run), 0);
	losses_words(&l, all, &words);
	bytes_u8(&words, 0);
	assert_string_equal((const char *)words.data, wanted);
	bytes_free(&words);
}

static void test_nothing_is_lost(void **state)
{
	struct synthetic *x = synthetic_new(2);

	(void)state;
	says(x, true, "");
	meta_int(x, 1, "spans.left_out", 0);
	meta_int(x, 2, "monitor.samples", 10);
	meta_text(x, "marks.left_out_lines", "7");
	meta_int(x, 1, "marks.unread_bytes", -5);
	meta_int(x, 99, "spans.left_out", 5);
	says(x, true, "");
	free(x);
}

static void test_nodes_add_up_their_last_words(void **state)
{
	struct synthetic *x = synthetic_new(2);
	struct losses l;

	(void)state;
	meta_int(x, 1, "spans.left_out", 10);
	meta_int(x, 2, "spans.left_out", 40);
	meta_int(x, 1, "spans.left_out", 29);
	x->run.npacked = 31;
	says(x, false, "69 of 100 spans left out (69 %)");
	assert_int_equal(losses_make(&l, &x->run), 0);
	assert_int_equal(l.n, 1);
	assert_true(l.row[0].lost == 69 && l.row[0].of == 100 && l.row[0].matters);
	assert_string_equal(l.row[0].what, "spans");
	free(x);
}

static void test_each_kind_has_its_words(void **state)
{
	struct synthetic *x = synthetic_new(1);

	(void)state;
	meta_int(x, 1, "job.process_records_lost", 3);
	meta_int(x, 1, "marks.left_out_lines", 2);
	meta_int(x, 1, "marks.unread_bytes", 2048);
	meta_int(x, 1, "monitor.refused", 4);
	says(x, false,
	     "2 lines of marks left out; 2.0 KiB of marks not read; at least 3 records of process "
	     "starts and exits lost; 4 series, processes or events left out");
	free(x);
}

/* A sample or two of many change nothing. */
static void test_a_few_samples_do_not_matter(void **state)
{
	struct synthetic *x = synthetic_new(1);

	(void)state;
	meta_int(x, 1, "monitor.skipped_samples", 1);
	says(x, false, "");
	says(x, true, "1 of 22 samples skipped (4.5 %)");
	meta_int(x, 1, "monitor.skipped_samples", 20);
	meta_int(x, 1, "monitor.samples", ROWS + 20);
	says(x, false, "20 of 41 samples not recorded (49 %); 20 of 41 samples skipped (49 %)");
	x->run.ndamages = 1; /* how many were there is not known, and the damage is reported */
	says(x, false, "");
	says(x, true, "20 samples skipped");
	free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_lost),
		cmocka_unit_test(test_nodes_add_up_their_last_words),
		cmocka_unit_test(test_each_kind_has_its_words),
		cmocka_unit_test(test_a_few_samples_do_not_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
