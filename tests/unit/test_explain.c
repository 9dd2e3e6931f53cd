/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/jsontree.h"
#include "report/explain/explain.h"
#include "summary_made.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* A job with as many verdicts as there is room for, each as long as can be. */
static struct summary loud(struct synthetic *x)
{
	struct summary s = made(x);

	s.nverdicts = SUMMARY_VERDICTS;
	for (uint32_t i = 0; i < s.nverdicts; i++) {
		struct summary_verdict *v = &s.verdicts[i];

		*v = (struct summary_verdict){ .severity = SEVERITY_WARN,
					       .cost_s = i + 1.5,
					       .amount = NAN };
		snprintf(v->rule, sizeof v->rule, "rule-%u", i);
		memset(v->sentence, '\003', VERDICT_SENTENCE - 1);
		memcpy(v->sentence, "It was slow. Make it fast. ", 27);
	}
	return s;
}

static const struct jsontree *read_back(struct pool *pool, const struct explain *x, size_t *size)
{
	struct bytes out = { 0 };
	struct err e = { "" };
	const struct jsontree *document;

	explain_json(&out, x);
	assert_false(out.failed);
	*size = out.len;
	document = jsontree_read(pool, out.data, out.len, &e);
	bytes_free(&out);
	assert_non_null(document);
	return document;
}

static void test_what_does_not_fit_is_left_out_and_counted(void **state)
{
	struct synthetic *made_run = with_work(1);
	struct summary s = loud(made_run);
	struct pool pool = { 0 };
	const struct jsontree *document, *first;
	struct explain x;
	uint32_t shown = 0;
	size_t size;

	(void)state;
	assert_int_equal(explain_run(&x, &s, &made_run->run, EXPLAIN_ALL), 0);
	document = read_back(&pool, &x, &size);
	first = jsontree_find(document, "findings")->first;
	for (const struct jsontree *f = first; f; f = f->next)
		shown++;
	assert_true(size <= EXPLAIN_BYTES);
	assert_true(shown >= 1 && shown < x.n);
	assert_int_equal(shown + jsontree_number(document, "left_out"), x.n);
	assert_string_equal(jsontree_text(first, "about"), "rule-0");
	assert_string_equal(jsontree_text(first, "claim"), "It was slow.");
	pool_free(&pool);
	explain_free(&x);
	done(&s, made_run);
}

static void test_only_what_is_asked_is_kept(void **state)
{
	struct synthetic *made_run = with_work(1);
	struct summary s = loud(made_run);
	struct explain x;

	(void)state;
	snprintf(s.verdicts[3].theme, sizeof s.verdicts[3].theme, "memory");
	s.peak_memory_bytes = NAN;
	assert_int_equal(explain_run(&x, &s, &made_run->run, EXPLAIN_MEMORY), 0);
	assert_int_equal(x.n, 1);
	assert_string_equal(x.finding[0].about, "rule-3");
	assert_string_equal(x.finding[0].number[0].at, "show:/verdicts/3/cost_seconds");
	explain_free(&x);
	done(&s, made_run);
}

static void test_a_text_is_cut_at_a_whole_character(void **state)
{
	char cut[8];

	(void)state;
	explain_copy(cut, sizeof cut, "abcdefg");
	assert_string_equal(cut, "abcdefg");
	explain_copy(cut, sizeof cut, "abc\xc3\xa4\xc3\xa4");
	assert_string_equal(cut, "abc\xc3\xa4\xc3\xa4");
	explain_copy(cut, sizeof cut, "abc\xc3\xa4\xc3\xa4z");
	assert_string_equal(cut, "abc...");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_does_not_fit_is_left_out_and_counted),
		cmocka_unit_test(test_only_what_is_asked_is_kept),
		cmocka_unit_test(test_a_text_is_cut_at_a_whole_character),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
