/* SPDX-License-Identifier: Apache-2.0 */
/* The plots of a run that was made by hand. tests/golden/plot-NAME.svg are what they look like;
 * UPDATE_GOLDEN=1 writes these anew. */
#include "chart/charts.h"
#include "chart/svg.h"
#include "report/paper/plots.h"
#include "unit/synthetic_run.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static const struct metric used = { "job.cpu_seconds", .unit = UNIT_SECONDS, .kind = KIND_COUNTER,
				    .div = 1000, .over_nodes = COMBINE_SUM };
static const struct metric user = { "node.cpu_user_seconds", .unit = UNIT_SECONDS,
				    .kind = KIND_COUNTER, .div = 1000, .over_nodes = COMBINE_SUM };
static const struct metric system_time = { "node.cpu_system_seconds", .unit = UNIT_SECONDS,
					   .kind = KIND_COUNTER, .div = 1000,
					   .over_nodes = COMBINE_SUM };
static const struct metric pss = { "job.pss_bytes", .unit = UNIT_BYTES, .kind = KIND_GAUGE,
				   .over_nodes = COMBINE_SUM };
static const struct metric core = {
	"cpu.used_ratio",   "cpu",      .unit = UNIT_RATIO,
	.kind = KIND_GAUGE, .div = 100, .over_instances = COMBINE_MEAN
};
static const struct metric gpu = {
	"gpu.utilization_ratio", "gpu",      .unit = UNIT_RATIO,
	.kind = KIND_GAUGE,      .div = 100, .over_instances = COMBINE_MEAN
};
static const struct metric flops = { "perf.flops.flops_per_second", .unit = UNIT_PER_SECOND,
				     .kind = KIND_GAUGE };
static const struct metric traffic = { "perf.memory.read_bytes_per_second",
				       .unit = UNIT_BYTES_PER_SECOND, .kind = KIND_GAUGE };

/* A job on alpha: its own CPU and memory, two cores, two GPUs. Some values are absent. */
static struct synth *one_node(int rows)
{
	struct synth *s = synth_new(64);
	uint32_t x[8], job = synth_series(s, 1, synth_metric(s, used), 0);
	uint32_t by_user = synth_series(s, 1, synth_metric(s, user), 0);
	uint32_t by_system = synth_series(s, 1, synth_metric(s, system_time), 0);
	uint32_t memory = synth_series(s, 1, synth_metric(s, pss), 0);
	uint32_t cores = synth_metric(s, core), gpus = synth_metric(s, gpu);

	x[0] = synth_series(s, 1, cores, synth_instance(s, "cpu", "cpu0"));
	x[1] = synth_series(s, 1, cores, synth_instance(s, "cpu", "cpu1"));
	x[2] = synth_series(s, 1, gpus, synth_instance(s, "gpu", "GPU 0"));
	x[3] = synth_series(s, 1, gpus, synth_instance(s, "gpu", "GPU 1"));
	for (int i = 0; i < rows; i++) {
		synth_row(s, 1, i);
		synth_put(s, job, 1500 * i);
		synth_put(s, by_user, 1400 * i);
		synth_put(s, by_system, 300 * i);
		if (i < 10 || i > 14)
			synth_put(s, memory, (INT64_C(1) << 28) * (1 + i % 7));
		synth_put(s, x[0], 100 * (i % 10) / 10);
		if (i % 5)
			synth_put(s, x[1], 50);
		synth_put(s, x[2], i < rows / 2 ? 0 : 95);
		synth_put(s, x[3], i < rows / 2 ? 40 : 60);
	}
	s->run.nnodes = 2;
	return s;
}

/* What plots want of a summary. */
static struct summary summary_of(struct synth *s)
{
	static struct summary_node nodes[2];
	struct summary sum = { .wall_s = NAN, .nodes = nodes, .nnodes = s->run.nnodes - 1 };

	sum.nhosts = sum.nnodes;
	for (uint32_t i = 0; i < sum.nnodes; i++)
		nodes[i] = (struct summary_node){ .node = i + 1, .cores = 2, .memory_bytes = 8e9 };
	return sum;
}

static struct plots plots_of(struct synth *s, const struct summary *sum)
{
	struct plots p;
	struct err e = { "" };

	if (plots_make(&p, &s->run, sum, &plots_of_sonde, NULL, &e))
		fail_msg("plots_make: %s", e.text);
	return p;
}

static const struct plot *plot_named(const struct plots *p, const char *name)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (!strcmp(p->plot[i].name, name))
			return &p->plot[i];
	return NULL;
}

static struct bytes draw(const struct plots *p, const char *name)
{
	const struct box whole = { .w = PLOT_WIDTH, .h = PLOT_HEIGHT };
	const struct plot *x = plot_named(p, name);
	struct bytes drawing = { 0 }, svg = { 0 };

	assert_non_null(x);
	shape_page(&drawing, whole.w, whole.h);
	plots_draw(p, x, &drawing, &whole);
	shape_end(&drawing);
	assert_int_equal(svg_write(&svg, &drawing, x->title, NULL), 0);
	bytes_u8(&svg, 0);
	bytes_free(&drawing);
	return svg;
}

static void compare(const struct bytes *got, const char *name)
{
	const char *top = getenv("TOP");
	struct bytes want = { 0 };
	char path[512], line[16384];
	FILE *f;

	snprintf(path, sizeof path, "%s/tests/golden/plot-%s.svg", top ? top : ".", name);
	f = fopen(path, getenv("UPDATE_GOLDEN") ? "w" : "r");
	if (!f)
		fail_msg("%s cannot be opened", path);
	if (getenv("UPDATE_GOLDEN")) {
		fputs((const char *)got->data, f);
		fclose(f);
		return;
	}
	while (fgets(line, sizeof line, f))
		bytes_puts(&want, line);
	fclose(f);
	bytes_u8(&want, 0);
	assert_string_equal((const char *)got->data, (const char *)want.data);
	bytes_free(&want);
}

static void plots_are_as_they_were(void **state)
{
	static const char *const names[] = { "cpu", "job-memory", "cores", "gpus-utilization",
					     "roofline" };
	struct synth *s = one_node(40);
	struct summary sum = summary_of(s);
	struct plots p = plots_of(s, &sum);

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct bytes svg = draw(&p, names[i]);

		compare(&svg, names[i]);
		bytes_free(&svg);
	}
	assert_non_null(plot_named(&p, "memory")); /* for the job's part of it */
	assert_non_null(plot_named(&p, "gpu"));
	assert_int_equal(p.n, sizeof names / sizeof names[0] + 2);
	assert_null(plot_named(&p, "disk"));
	assert_true(p.nmissing > 3);
	plots_free(&p);
	synth_free(s);
}

/* Each is a file of its own. */
static void names_are_unlike(void **state)
{
	static const struct plot_set *const sets[] = { &plots_of_sonde, &plots_of_perfmon };

	(void)state;
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < sets[k]->n; i++) {
			const char *name = sets[k]->row[i].name;

			for (size_t j = 0; j < i; j++)
				assert_string_not_equal(name, sets[k]->row[j].name);
			for (size_t j = 0; sets[k]->charts && j < npage_charts; j++)
				assert_string_not_equal(name, page_charts[j].id);
		}
}

static const struct trace *trace_named(const struct plots *p, const char *metric)
{
	uint32_t n;
	const struct trace *x = traces_of_node(p->traces, metric, false, 1, &n);

	assert_non_null(x);
	return x;
}

/* Fewer points, but the least and the most of every sample are in them. */
static void thinning_keeps_least_and_most(void **state)
{
	struct synth *s = synth_new(300);
	uint32_t x = synth_series(s, 1, synth_metric(s, pss), 0);
	struct summary sum;
	struct plots p;
	const struct trace *t;

	(void)state;
	for (int i = 0; i < 15000; i++) {
		synth_row(s, 1, i);
		synth_put(s, x, i == 7777 ? 1 : i == 3333 ? 9000 : 100);
	}
	s->run.nnodes = 2;
	sum = summary_of(s);
	p = plots_of(s, &sum);
	t = trace_named(&p, "job.pss_bytes");
	assert_int_equal(p.traces->node[1].thinned, 19);
	assert_int_equal(p.traces->node[1].npoints, (15000 + 18) / 19);
	assert_float_equal(t->point[7777 / 19].min, 1, 0);
	assert_float_equal(t->point[3333 / 19].max, 9000, 0);
	assert_float_equal((float)trace_mean(&t->point[3333 / 19]), (18 * 100 + 9000) / 19.0F,
			   1e-2F);
	assert_float_equal(t->point[5].min, 100, 0);
	plots_free(&p);
	synth_free(s);
}

static void nodes_add_up_where_both_are_there(void **state)
{
	struct synth *s = synth_new(64);
	uint32_t metric = synth_metric(s, used);
	uint32_t a = synth_series(s, 1, metric, 0), b = synth_series(s, 2, metric, 0);
	struct plot_values v;
	struct summary sum;
	struct plots p;

	(void)state;
	for (int i = 0; i <= 100; i++) {
		synth_row(s, 1, i);
		synth_put(s, a, 2000 * i);
	}
	for (int i = 0; i <= 50; i++) {
		synth_row(s, 2, i);
		synth_put(s, b, 500 * i);
	}
	sum = summary_of(s);
	p = plots_of(s, &sum);
	assert_non_null(plot_named(&p, "nodes-job-cores"));
	assert_non_null(plot_named(&p, "nodes-job-cores-lines"));
	assert_true(plot_values_of(&p, "job.cpu_cores", &v));
	for (uint32_t i = 8; i < v.n; i++)
		if (fabs(v.at[i] - 50) > 1)
			assert_float_equal((float)v.mean[i], v.at[i] < 50 ? 2.5F : 2.0F, 1e-3F);
	free(v.at);
	plots_free(&p);
	synth_free(s);
}

/* Memory is read every fourth sample, on each node at another time, and once not for long. */
static void what_is_read_less_often_has_no_gaps(void **state)
{
	struct synth *s = synth_new(64);
	uint32_t metric = synth_metric(s, pss), often = synth_metric(s, used);
	struct plot_values v;
	struct summary sum;
	struct plots p;

	(void)state;
	for (uint32_t node = 1; node <= 2; node++) {
		uint32_t x = synth_series(s, node, metric, 0), y = synth_series(s, node, often, 0);

		for (int i = 0; i <= 100; i++) {
			synth_row(s, node, i);
			synth_put(s, y, i);
			if (i % 4 == (int)node && (i < 40 || i > 60))
				synth_put(s, x, 1000 * i);
		}
	}
	sum = summary_of(s);
	p = plots_of(s, &sum);
	assert_true(plot_values_of(&p, "job.pss_bytes", &v));
	for (uint32_t i = 0; i < v.n; i++) {
		if (v.at[i] > 3 && v.at[i] < 36)
			assert_in_range(v.mean[i], 2000 * v.at[i], 2000 * v.at[i] + 8000);
		if (v.at[i] > 40 && v.at[i] < 59)
			assert_true(isnan(v.mean[i]));
	}
	free(v.at);
	assert_true(plot_values_of_trace(&p, trace_named(&p, "job.pss_bytes"), &v));
	for (uint32_t i = 1; i <= 37; i++)
		assert_float_equal((float)v.mean[i], 1000.0F * (float)i, 0.1F);
	assert_true(isnan(v.mean[38]) && isnan(v.mean[60]) && !isnan(v.mean[61]));
	free(v.at);
	plots_free(&p);
	synth_free(s);
}

static void roofline_has_a_point_a_sample(void **state)
{
	struct synth *s = synth_new(64);
	uint32_t ops = synth_series(s, 1, synth_metric(s, flops), 0);
	uint32_t bytes = synth_series(s, 1, synth_metric(s, traffic), 0);
	struct summary sum;
	struct plots p;
	struct bytes svg;
	uint32_t n = 0;

	(void)state;
	for (int i = 0; i < 30; i++) {
		synth_row(s, 1, i);
		synth_put(s, ops, INT64_C(1000000000) * (i + 1));
		if (i != 9)
			synth_put(s, bytes, INT64_C(500000000) * (30 - i));
	}
	s->run.nnodes = 2;
	sum = summary_of(s);
	p = plots_of(s, &sum);
	svg = draw(&p, "roofline");
	for (const char *at = (char *)svg.data; (at = strstr(at, "width=\"1.6\"")); at++)
		n++;
	assert_int_equal(n, 29);
	assert_non_null(strstr((char *)svg.data, "read from memory"));
	bytes_free(&svg);
	plots_free(&p);
	synth_free(s);
}

/* As many samples as many nodes have, most of them alike: all that can be seen is drawn. */
static void roofline_of_many_samples_is_small(void **state)
{
	enum { MANY = 200000 };
	double *at = calloc(2 * (size_t)MANY, sizeof *at);
	const struct box box = { 0, 0, 600, 300 };
	struct roofline r = {
		.title = "", .bytes = "read", .operations = at, .traffic = at + MANY, .n = MANY
	};
	struct bytes drawing = { 0 };
	size_t of_alike;

	(void)state;
	assert_non_null(at);
	for (int i = 0; i < MANY; i++) {
		at[i] = 1e9;
		at[MANY + i] = 1e9;
	}
	at[0] = 1e6;
	assert_true(roofline_draw(&drawing, &box, &r));
	of_alike = drawing.len;
	at[MANY / 2] = 1e8; /* it stands out */
	bytes_free(&drawing);
	assert_true(roofline_draw(&drawing, &box, &r));
	assert_true(drawing.len > of_alike && drawing.len < 10000);
	bytes_free(&drawing);
	for (int i = 0; i < MANY; i++)
		at[i] = 1e6 * (1 + i % 997), at[MANY + i] = 1e6 * (1 + i % 1009);
	assert_true(roofline_draw(&drawing, &box, &r));
	assert_true(drawing.len < 4 << 20);
	bytes_free(&drawing);
	free(at);
}

/* Names of hosts go into names of files. */
static void hostile_hosts_make_plain_files(void **state)
{
	struct synth *s = synth_new(64);
	uint32_t metric = synth_metric(s, core);
	uint32_t a = synth_series(s, 1, metric, synth_instance(s, "cpu", "<cpu>"));
	uint32_t b = synth_series(s, 2, metric, synth_instance(s, "cpu", "cpu0"));
	struct summary sum;
	struct plots p;
	struct bytes svg;

	(void)state;
	s->instances[2].node = 2;
	s->nodes[1].host = "../x";
	s->nodes[2].host = ".. x";
	for (int i = 0; i < 5; i++) {
		synth_row(s, 1, i);
		synth_put(s, a, i);
		synth_row(s, 2, i);
		synth_put(s, b, i);
	}
	sum = summary_of(s);
	p = plots_of(s, &sum);
	assert_non_null(plot_named(&p, "cores-.._x"));
	assert_non_null(plot_named(&p, "cores-node2"));
	svg = draw(&p, "cores-.._x");
	assert_null(strstr((char *)svg.data, "<cpu>"));
	assert_non_null(strstr((char *)svg.data, "CPU of each core of ../x"));
	bytes_free(&svg);
	plots_free(&p);
	synth_free(s);
}

static void nothing_and_one_sample_are_drawn(void **state)
{
	(void)state;
	for (int rows = 0; rows < 2; rows++) {
		struct synth *s = one_node(rows);
		struct summary sum = summary_of(s);
		struct plots p = plots_of(s, &sum);

		for (uint32_t i = 0; i < p.n; i++) {
			struct bytes svg = draw(&p, p.plot[i].name);

			assert_null(strstr((char *)svg.data, "nan"));
			assert_null(strstr((char *)svg.data, "inf\""));
			bytes_free(&svg);
		}
		assert_non_null(plot_named(&p, "roofline"));
		plots_free(&p);
		synth_free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plots_are_as_they_were),
		cmocka_unit_test(names_are_unlike),
		cmocka_unit_test(thinning_keeps_least_and_most),
		cmocka_unit_test(nodes_add_up_where_both_are_there),
		cmocka_unit_test(what_is_read_less_often_has_no_gaps),
		cmocka_unit_test(roofline_has_a_point_a_sample),
		cmocka_unit_test(roofline_of_many_samples_is_small),
		cmocka_unit_test(hostile_hosts_make_plain_files),
		cmocka_unit_test(nothing_and_one_sample_are_drawn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
