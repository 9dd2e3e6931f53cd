/* SPDX-License-Identifier: Apache-2.0 */
/* What perf events say of a run: formulas over all that was counted, on all nodes. */
#include "summary_made.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* A counter that is `from` at the first row and has risen to `to` at the last, 20 s later. */
static void counter(struct synthetic *x, uint32_t node, const char *name, int64_t from, int64_t to)
{
	uint32_t id = metric(x, name, NULL, KIND_COUNTER,
			     strstr(name, "seconds") ? UNIT_SECONDS : UNIT_COUNT);
	uint32_t s = series(x, node, id, 0);

	for (int row = 0; row < ROWS; row++)
		put(x, s, row, from + (to - from) * row / (ROWS - 1));
}

static void formula(struct synthetic *x, const char *name, enum unit unit, const char *text)
{
	x->metric[metric(x, name, NULL, KIND_GAUGE, unit)].row.formula = text;
}

static void formulas(struct synthetic *x)
{
	formula(x, "perf.hardware.share_ratio", UNIT_RATIO,
		"if(perf.hardware.enabled_cores > 0, perf.hardware.running_cores / "
		"perf.hardware.enabled_cores, 1)");
	formula(x, "perf.hardware.instructions_per_cycle", UNIT_ONE,
		"(perf.hardware.instructions_per_second/perf.hardware.share_ratio)/"
		"(perf.hardware.cycles_per_second/perf.hardware.share_ratio)");
	formula(x, "perf.hardware.frequency_hertz", UNIT_HERTZ,
		"(perf.hardware.cycles_per_second/perf.hardware.share_ratio)/"
		"perf.hardware.enabled_cores");
}

static void hardware(struct synthetic *x, uint32_t node, int64_t instructions, int64_t cycles,
		     int64_t enabled_s, int64_t running_s)
{
	counter(x, node, "perf.hardware.enabled_seconds", 0, enabled_s);
	counter(x, node, "perf.hardware.running_seconds", 0, running_s);
	counter(x, node, "perf.hardware.instructions", 0, instructions);
	counter(x, node, "perf.hardware.cycles", 0, cycles);
}

static const struct summary_counter *find(const struct summary *s, const char *name)
{
	for (uint32_t i = 0; i < s->ncounters; i++)
		if (strcmp(s->counters[i].metric, name) == 0)
			return &s->counters[i];
	return NULL;
}

/* In lines that are as long as it takes. */
static const char *printed(const struct summary *s, char *text, size_t size)
{
	static const char margin[] = "\n            ";
	FILE *out = fmemopen(text, size, "w");

	summary_print(s, out, false);
	fclose(out);
	for (char *at; (at = strstr(text, margin));) {
		*at = ' ';
		memmove(at + 1, at + sizeof margin - 1, strlen(at + sizeof margin - 1) + 1);
	}
	return text;
}

static void test_nodes_are_added_up(void **state)
{
	struct synthetic *x = synthetic_new(2);
	char text[4096] = "";
	struct summary s;

	(void)state;
	hardware(x, 1, 30000000000, 10000000000, 10, 10);
	hardware(x, 2, 10000000000, 30000000000, 30, 30);
	formulas(x);
	s = made(x);
	assert_int_equal(s.ncounters, 2);
	assert_float_equal(find(&s, "perf.hardware.instructions_per_cycle")->value, 1, 1e-9);
	assert_float_equal(find(&s, "perf.hardware.frequency_hertz")->value, 1e9, 1);
	assert_float_equal(s.counters[0].share, 1, 1e-9);
	printed(&s, text, sizeof text);
	assert_non_null(strstr(text, "counters    1.00 instructions per cycle, 1.0 GHz while "
				     "running\n"));
	done(&s, x);
}

static void test_groups_that_took_turns_are_scaled_and_say_so(void **state)
{
	struct synthetic *x = synthetic_new(1);
	char text[4096] = "";
	struct summary s;

	(void)state;
	hardware(x, 1, 10000000000, 10000000000, 20, 5);
	formulas(x);
	meta_int(x, 1, "perf.tasks_not_counted", 3);
	s = made(x);
	assert_float_equal(find(&s, "perf.hardware.frequency_hertz")->value, 2e9, 1);
	assert_float_equal(s.counters[0].share, 0.25, 1e-9);
	printed(&s, text, sizeof text);
	assert_non_null(strstr(text, "scaled: multiplexed, in 25 %"));
	assert_non_null(strstr(text, "3 tasks not counted"));
	done(&s, x);
}

/* What was counted in no time is not there; a formula that is not the only one is nobody's. */
static void test_what_was_not_counted_is_absent(void **state)
{
	struct synthetic *x = synthetic_new(1);
	char text[4096] = "";
	struct summary s;

	(void)state;
	hardware(x, 1, 0, 0, 20, 0);
	formulas(x);
	s = made(x);
	assert_int_equal(s.ncounters, 0);
	assert_null(strstr(printed(&s, text, sizeof text), "counters"));
	done(&s, x);
	x = synthetic_new(1);
	hardware(x, 1, 10, 10, 20, 20);
	formulas(x);
	x->metric[x->run.nmetrics++].row = (struct metric){
		.name = "perf.hardware.instructions_per_cycle", .formula = "2", .kind = KIND_GAUGE
	};
	s = made(x);
	assert_null(find(&s, "perf.hardware.instructions_per_cycle"));
	assert_non_null(find(&s, "perf.hardware.frequency_hertz"));
	done(&s, x);
}

/* A formula that asks for itself has no value, and there is an end to it. */
static void test_a_circle_has_no_value(void **state)
{
	struct synthetic *x = synthetic_new(1);
	struct summary s;

	(void)state;
	hardware(x, 1, 10, 10, 20, 20);
	formula(x, "perf.hardware.instructions_per_cycle", UNIT_ONE,
		"perf.hardware.instructions_per_cycle + perf.hardware.instructions_per_cycle");
	s = made(x);
	assert_int_equal(s.ncounters, 0);
	done(&s, x);
}

/* Two steps of a host both counted the node's memory: once. */
static void test_steps_of_a_host_share_its_memory(void **state)
{
	struct synthetic *x = synthetic_new(2);
	struct summary s;

	(void)state;
	x->node[2].host = x->node[1].host;
	for (uint32_t node = 1; node <= 2; node++)
		counter(x, node, "perf.memory_node.rd", 0, 2000);
	formula(x, "perf.memory_node.bandwidth_bytes_per_second", UNIT_BYTES_PER_SECOND,
		"64*perf.memory_node.rd_per_second");
	s = made(x);
	assert_float_equal(find(&s, "perf.memory_node.bandwidth_bytes_per_second")->value,
			   64.0 * 2000 / 20, 1e-9);
	done(&s, x);
}

/* Row by row; the last counts as it is read. */
static double peak_of(const int *cpu_s, int n, int cores)
{
	struct synthetic *x = synthetic_new(1);
	uint32_t sid =
		series(x, 1, metric(x, "job.cpu_seconds", NULL, KIND_COUNTER, UNIT_SECONDS), 0);
	struct summary s;
	double peak;

	meta_int(x, 1, "node.cores_present", cores);
	for (int row = 0; row < ROWS; row++)
		put(x, sid, row, cpu_s[row < n ? row : n - 1]);
	s = made(x);
	peak = s.cores_used_peak;
	done(&s, x);
	return peak;
}

static void test_no_peak_is_above_the_machine(void **state)
{
	const int late[] = { 0, 1, 1, 7, 7, 7, 8 }, early[] = { 0, 4, 4, 5 },
		  at_the_end[ROWS] = { [ROWS - 1] = 30 };

	(void)state;
	assert_float_equal(peak_of(late, 7, 8), 6, 1e-9);
	assert_float_equal(peak_of(late, 7, 2), 2, 1e-9); /* 6 s within three */
	assert_float_equal(peak_of(late, 7, 3), 3, 1e-9);
	assert_float_equal(peak_of(early, 4, 3), 2, 1e-9);
	assert_float_equal(peak_of(at_the_end, ROWS, 2), 2, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_peak_is_above_the_machine),
		cmocka_unit_test(test_nodes_are_added_up),
		cmocka_unit_test(test_groups_that_took_turns_are_scaled_and_say_so),
		cmocka_unit_test(test_what_was_not_counted_is_absent),
		cmocka_unit_test(test_a_circle_has_no_value),
		cmocka_unit_test(test_steps_of_a_host_share_its_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
