/* SPDX-License-Identifier: Apache-2.0 */
#include "report/judging/variables.h"
#include "summary_made.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

static json_t *json_of(struct synthetic *x)
{
	struct summary s = made(x);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	json_error_t fault;
	json_t *j;

	summary_json(&s, &x->run, out);
	fclose(out);
	j = json_loads(text, 0, &fault);
	if (!j)
		fail_msg("%s in: %s", fault.text, text);
	free(text);
	summary_free(&s);
	return j;
}

static void test_json_says_null_for_what_is_not_known(void **state)
{
	struct synthetic *x = with_work(1);
	json_t *j, *job, *row;
	uint32_t p = instance(x, 1, "process", "\033<script>\xff\"", true);

	(void)state;
	final(x, p, "process.cpu_seconds", 3);
	meta_text(x, "job.command", "a\nb");
	meta_int(x, 1, "job.signal", 9);
	meta_int(x, 1, "job.peak_memory_bytes", INT64_C(1) << 53);
	j = json_of(x);
	assert_string_equal(json_string_value(json_object_get(j, "schema")), "sonde/show/1");
	job = json_object_get(j, "job");
	assert_string_equal(json_string_value(json_object_get(job, "command")), "a\nb");
	assert_true(json_is_null(json_object_get(job, "exit_code")));
	assert_true(json_is_integer(json_object_get(job, "signal")));
	assert_true(json_is_null(json_object_get(job, "cores_asked")));
	assert_true(json_is_null(json_object_get(job, "id")));
	assert_int_equal(json_integer_value(json_object_get(job, "peak_memory_bytes")),
			 INT64_C(1) << 53);
	assert_string_equal(json_string_value(json_object_get(job, "start")),
			    "2023-11-14T22:13:20Z");
	row = json_array_get(json_object_get(json_object_get(j, "processes"), "by_cpu"), 0);
	assert_string_equal(json_string_value(json_object_get(row, "name")),
			    "\033<script>\xef\xbf\xbd\"");
	assert_string_equal(json_string_value(json_object_get(row, "host")), "n1");
	row = json_array_get(json_object_get(j, "metrics"), 0);
	assert_string_equal(json_string_value(json_object_get(row, "name")), "job.cpu_cores");
	assert_string_equal(json_string_value(json_object_get(row, "unit")), "cores");
	assert_int_equal(json_integer_value(json_object_get(row, "n")), 20);
	row = json_array_get(json_object_get(j, "verdicts"), 0);
	assert_string_equal(json_string_value(json_object_get(row, "rule")), "killed");
	assert_string_equal(json_string_value(json_object_get(row, "severity")), "bad");
	assert_string_equal(json_string_value(json_object_get(row, "metric")), "job.cpu_cores");
	assert_true(json_is_null(json_object_get(row, "instance")));
	json_decref(j);
	free(x);
}

/* What a recorder said of the n-th figure: a number of its own. */
static double said_of(size_t n)
{
	return 1e12 + (double)n * 1e9;
}

static double said_as_figure(const json_t *job, const struct summary *s, const char *name,
			     bool is_hidden)
{
	const json_t *v = json_object_get(job, name);
	struct expr_value of_rules = variable_lookup((void *)(uintptr_t)s, NULL, name);

	assert_non_null(variable_find(name));
	if (is_hidden)
		assert_null(v);
	else
		assert_non_null(v);
	if (!is_hidden && isfinite(of_rules.v))
		assert_true((json_is_boolean(v) ? json_is_true(v) : json_number_value(v)) ==
			    of_rules.v);
	return of_rules.v;
}

/* A literal or NULL. */
static bool is_there(const char *text)
{
	return text;
}

/* A row of figures.def is all that JSON and the rules need. */
static void test_a_figure_is_one_row(void **state)
{
	struct synthetic *x = with_work(1);
	struct summary s;
	json_t *j, *job;
	size_t n = 0, keys = 0;

	(void)state;
#define NODES(id, member, name, unit, where, help, meta, ...)                                      \
	n++;                                                                                       \
	if (is_there(meta))                                                                        \
		meta_int(x, 1, meta, (int64_t)said_of(n));
#include "report/summary/figures.def"
	s = made(x);
	j = json_of(x);
	job = json_object_get(j, "job");
	n = 0;
#define NODES(id, member, name, unit, where, help, meta, scale, ...)                               \
	n++, keys += strcmp(#where, "HIDDEN") != 0;                                                \
	if (said_as_figure(job, &s, name, !strcmp(#where, "HIDDEN")) != said_of(n) * (scale) &&    \
	    is_there(meta))                                                                        \
		fail_msg("%s is not what %s says", name, #meta);
#define MADE(member, name, ...) keys++, said_as_figure(job, &s, name, false);
#define FLAG(member, name, ...) keys++, said_as_figure(job, &s, name, false);
#define TEXT(...)               keys++;
#define PART(...)               keys++;
#include "report/summary/figures.def"
	assert_int_equal(json_object_size(job), keys);
	json_decref(j);
	summary_free(&s);
	free(x);
}

static void assert_mechanism(const json_t *row, const char *host, const char *name,
			     const char *state, const char *reason)
{
	assert_string_equal(json_string_value(json_object_get(row, "host")), host);
	assert_string_equal(json_string_value(json_object_get(row, "name")), name);
	assert_string_equal(json_string_value(json_object_get(row, "state")), state);
	if (reason)
		assert_string_equal(json_string_value(json_object_get(row, "reason")), reason);
	else
		assert_true(json_is_null(json_object_get(row, "reason")));
}

static void test_mechanisms_are_as_was_said_last(void **state)
{
	struct synthetic *x = with_work(2);
	json_t *j, *list;

	(void)state;
	meta_text(x, "mechanism.exit_records", "forbidden: perf_event_paranoid is 3: ask");
	meta_text(x, "mechanism.connector", "used");
	meta_int(x, 1, "mechanism.files_kept_at_most", 100);
	meta_text(x, "mechanism.pss", "used: within the budget");
	meta_text(x, "mechanism.connector", "failed: it fell silent");
	meta_text(x, "mechanism.connector", "failed: it fell silent");
	x->meta[x->run.nmetas - 1].node = 2;
	j = json_of(x);
	list = json_object_get(j, "mechanisms");
	assert_int_equal(json_array_size(list), 4);
	assert_mechanism(json_array_get(list, 0), "n1", "exit_records", "forbidden",
			 "perf_event_paranoid is 3: ask");
	assert_mechanism(json_array_get(list, 1), "n1", "connector", "failed", "it fell silent");
	assert_mechanism(json_array_get(list, 2), "n1", "pss", "used", "within the budget");
	assert_mechanism(json_array_get(list, 3), "n2", "connector", "failed", "it fell silent");
	json_decref(j);
	x->meta[2].text = "used";
	x->meta[5].text = "used";
	j = json_of(x);
	assert_mechanism(json_array_get(json_object_get(j, "mechanisms"), 1), "n1", "connector",
			 "used", NULL);
	json_decref(j);
	free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json_says_null_for_what_is_not_known),
		cmocka_unit_test(test_a_figure_is_one_row),
		cmocka_unit_test(test_mechanisms_are_as_was_said_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
