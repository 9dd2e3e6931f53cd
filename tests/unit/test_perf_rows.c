/* SPDX-License-Identifier: Apache-2.0 */
/* What is made of perf events: absent where they were not counted, scaled by the share of the time
 * in which they were, and sound rows for every CPU. */
#include "core/expr/expr.h"
#include "source/perf/perf_session.h"
#include "unit/metric_fault.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* A pipe stands for the kernel's descriptor: what a set of two events gives, read by read. */
struct script {
	struct perf_session p;
	struct sample s;
	int pipe[2], fd[2];
	bool again[1];
};

static const struct perf_event script_events[] = {
	{ .id = "one", .name = "ONE", .pmu = "cpu", .counters = 1 },
	{ .id = "two", .name = "TWO", .pmu = "cpu", .counters = 1 },
};
static const struct perf_group script_group = { .name = "script",
						.event = (struct perf_event *)script_events,
						.nevents = 2 };

static void script_begin(struct script *x)
{
	*x = (struct script){ .p.plan.n = 1 };
	assert_int_equal(pipe(x->pipe), 0);
	x->fd[0] = x->pipe[0];
	x->p.plan.set[0] =
		(struct perf_set){ .group = &script_group, .nth = 1, .n = 2, .event = { 0, 1 } };
	x->p.count[0] = (struct perf_count){
		.fd = x->fd, .again = x->again, .nseats = 1, .reads = 1, .n = 2, .together = true
	};
	assert_int_equal(sample_init(&x->s, 256, 256), 0);
	assert_int_equal(perf_rows_make(&x->p.rows, &x->p.plan, "Of a test."), 0);
	x->p.slot[0] = sample_series(&x->s, x->p.rows.row, 4, 0);
}

static int script_read(struct script *x, const uint64_t words[5])
{
	assert_int_equal(write(x->pipe[1], words, 5 * sizeof *words), 5 * sizeof *words);
	sample_begin(&x->s, 1, x->s.mono_ns + 1000000000);
	return perf_session_read(&x->p, &x->s);
}

static void not_counted_is_absent_never_0(void **state)
{
	struct script x;
	uint32_t slot;

	(void)state;
	script_begin(&x);
	slot = x.p.slot[0];
	assert_int_equal(script_read(&x, (const uint64_t[]){ 2, 0, 0, 0, 0 }), 0);
	assert_int_equal(x.s.state[slot + 2], STATE_PRESENT); /* nothing ran: 0 is true */
	assert_int_equal(script_read(&x, (const uint64_t[]){ 2, 100, 0, 0, 0 }), 0);
	assert_int_equal(x.s.state[slot], STATE_PRESENT);
	assert_int_equal(x.s.value[slot], 100);
	assert_int_equal(x.s.value[slot + 1], 0);
	assert_int_equal(x.s.state[slot + 2], STATE_ABSENT); /* it ran and was not counted */
	assert_int_equal(x.s.state[slot + 3], STATE_ABSENT);
	assert_int_equal(script_read(&x, (const uint64_t[]){ 2, 200, 40, 7, 9 }), 0);
	assert_int_equal(x.s.value[slot + 2], 7);
	assert_int_equal(x.s.value[slot + 3], 9);
	assert_int_equal(script_read(&x, (const uint64_t[]){ 2, 200, 40, 7, 9 }), 0);
	assert_int_equal(x.s.state[slot + 2], STATE_PRESENT);
	assert_true(script_read(&x, (const uint64_t[]){ 3, 300, 90, 7, 9 }) < 0);
	assert_int_equal(x.s.state[slot], STATE_ABSENT);
	close(x.pipe[0]);
	close(x.pipe[1]);
	perf_rows_free(&x.p.rows);
	sample_free(&x.s);
}

/* Formulas on known rates. */
struct given {
	const struct perf_rows *rows;
	double share, scale; /* of CPU time 2 cores; scale multiplies every rate */
};

static struct expr_value look_up(void *ctx, const char *function, const char *name)
{
	const struct given *g = ctx;
	static const struct {
		const char *name;
		double rate;
	} rates[] = {
		{ "perf.flops_dp.scalar_per_second", 10 },
		{ "perf.flops_dp.p128_per_second", 100 },
		{ "perf.flops_dp.p256_per_second", 1000 },
		{ "perf.flops_dp.p512_per_second", 1e9 },
		{ "perf.hardware.cycles_per_second", 6e9 },
		{ "perf.hardware.instructions_per_second", 3e9 },
		{ "perf.memory.rd_local_per_second", 1e6 },
		{ "perf.memory.rd_remote_per_second", 3e6 },
	};

	assert_null(function);
	if (strstr(name, ".enabled_cores"))
		return (struct expr_value){ true, g->scale > 0 ? 2 : 0 };
	if (strstr(name, ".running_cores"))
		return (struct expr_value){ true, g->scale > 0 ? 2 * g->share : 0 };
	for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
		if (!strcmp(name, rates[i].name))
			return (struct expr_value){ true, rates[i].rate * g->scale * g->share };
	for (uint32_t i = g->rows->derived; i < g->rows->n; i++) {
		struct expr_value v;
		struct expr *f;

		if (strcmp(name, g->rows->row[i].name) != 0)
			continue;
		assert_int_equal(expr_parse(&f, g->rows->row[i].formula, NULL), 0);
		v = expr_eval(f, look_up, ctx);
		expr_free(f);
		return v;
	}
	return (struct expr_value){ true, 0 };
}

static double evaluate(const struct perf_rows *r, const char *name, double share, double scale)
{
	struct given g = { r, share, scale };
	struct expr_value v = look_up(&g, NULL, name);

	return v.known ? v.v : -1;
}

static void near(double v, double wanted)
{
	if (v < wanted * 0.999999 || v > wanted * 1.000001)
		fail_msg("%g is not %g", v, wanted);
}

static void formulas_scale_by_the_share(void **state)
{
	const struct perf_budget b = { 4, false };
	static struct perf_table t;
	static struct perf_plan plan;
	struct perf_rows r;

	(void)state;
	perf_table_init(&t, NULL, "skylake_sp");
	assert_int_equal(perf_table_builtin(&t, NULL), 0);
	assert_int_equal(perf_plan_make(&plan, &t, "hardware,flops_dp,memory", &b), 0);
	assert_int_equal(perf_rows_make(&r, &plan, "Of a test."), 0);
	near(evaluate(&r, "perf.flops_dp.flops_per_second", 1, 1), 8e9 + 4210);
	near(evaluate(&r, "perf.flops_dp.flops_per_second", 0.25, 1), 8e9 + 4210);
	near(evaluate(&r, "perf.hardware.instructions_per_cycle", 0.5, 1), 0.5);
	near(evaluate(&r, "perf.hardware.frequency_hertz", 0.5, 1), 3e9);
	near(evaluate(&r, "perf.memory.read_bytes_per_second", 0.5, 1), 256e6);
	near(evaluate(&r, "perf.memory.remote_ratio", 1, 1), 0.75);
	/* never counted: absent; nothing ran: no work was done, and a ratio of nothing is none */
	assert_true(evaluate(&r, "perf.flops_dp.flops_per_second", 0, 1) == -1);
	assert_true(evaluate(&r, "perf.flops_dp.flops_per_second", 1, 0) == 0);
	assert_true(evaluate(&r, "perf.hardware.instructions_per_cycle", 1, 0) == -1);
	/* its other group was not asked for */
	for (uint32_t i = 0; i < r.n; i++) {
		assert_null(metric_fault(&r.row[i]));
		assert_string_not_equal(r.row[i].name, "perf.memory.flops_per_byte");
	}
	perf_rows_free(&r);
	perf_table_free(&t);
}

static const char *const archs[] = {
	"a64fx",
	"any",
	"broadwell_client",
	"broadwell_ep",
	"cascadelake_sp",
	"emeraldrapids",
	"graniterapids",
	"haswell_client",
	"haswell_ep",
	"icelake_client",
	"icelake_sp",
	"ivybridge_client",
	"ivybridge_ep",
	"neoverse_n1",
	"neoverse_n2",
	"neoverse_v1",
	"neoverse_v2",
	"power9",
	"sandybridge_client",
	"sandybridge_ep",
	"sapphirerapids",
	"skylake_client",
	"skylake_sp",
	"westmere",
	"zen",
	"zen2",
	"zen3",
	"zen4",
	"zen5",
};

static void check_row(const char *arch, const struct metric *m)
{
	struct expr *f = NULL;

	if (metric_fault(m))
		fail_msg("%s: %s: %s", arch, m->name, metric_fault(m));
	if (m->formula)
		assert_int_equal(expr_parse(&f, m->formula, NULL), 0);
	if (f && !strstr(m->name, ".set") && strstr(m->help, "A metric of"))
		fail_msg("%s is not in the catalogue", m->name);
	expr_free(f);
}

/* Every formula of every file finds its events, is in the catalogue's units and can be read. */
static void all_rows_are_sound(void **state)
{
	static struct perf_table t;
	static struct perf_plan plan;

	(void)state;
	for (size_t i = 0; i < sizeof archs / sizeof archs[0]; i++) {
		uint32_t formulas = 0, derived;
		struct perf_rows r;

		perf_table_init(&t, NULL, archs[i]);
		assert_int_equal(perf_table_builtin(&t, NULL), 0);
		assert_int_equal(
			perf_plan_make(&plan, &t, "all", &(struct perf_budget){ t.counters, true }),
			0);
		assert_int_equal(perf_rows_make(&r, &plan, "Of a test."), 0);
		for (uint32_t k = 0; k < t.ngroups; k++)
			formulas += t.group[k].nformulas;
		derived = r.n - r.derived - plan.n;
		if (derived != formulas)
			fail_msg("%s: %u of %u formulas", archs[i], derived, formulas);
		for (uint32_t k = 0; k < r.n; k++)
			check_row(archs[i], &r.row[k]);
		perf_rows_free(&r);
		perf_table_free(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(not_counted_is_absent_never_0),
		cmocka_unit_test(formulas_scale_by_the_share),
		cmocka_unit_test(all_rows_are_sound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
