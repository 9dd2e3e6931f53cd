/* SPDX-License-Identifier: Apache-2.0 */
/* suite_google.c - the JSON of Google Benchmark. Times are in the unit that each entry names. */
#include "bench/suite/suite.h"

#include "core/glob.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const names[][2] = {
	{ "machine.num_cpus", "host.cpus_count" },
};

/* Of an entry: all other numbers are counters of the benchmark. */
static const char own_members[] =
	"family_index,per_family_instance_index,repetitions,repetition_index,threads,iterations,"
	"real_time,cpu_time,aggregate_*,cpu_coefficient,real_coefficient,rms";

static const char *run_of(const struct jsontree *v)
{
	const char *run = jsontree_text(v, "run_name");

	return run ? run : jsontree_text(v, "name");
}

static double unit_of(const struct jsontree *v)
{
	static const struct {
		const char *name;
		double seconds;
	} units[] = { { "ns", 1e-9 }, { "us", 1e-6 }, { "ms", 1e-3 }, { "s", 1 } };
	const char *unit = jsontree_text(v, "time_unit");

	for (size_t i = 0; unit && i < sizeof units / sizeof units[0]; i++)
		if (!strcmp(units[i].name, unit))
			return units[i].seconds;
	return (double)NAN;
}

static const char *parameters_of(struct suite_results *r, const struct jsontree *v, const char *run)
{
	const char *slash = strchr(run, '/');
	double threads = jsontree_number(v, "threads");
	char *base = pool_text(&r->pool, run, slash ? (size_t)(slash - run) : strlen(run));
	struct suite_object o;

	r->failed |= !base;
	suite_object_begin(&o);
	json_put_text(&o.j, "benchmark", base);
	if (slash)
		json_put_text(&o.j, "arguments", slash + 1);
	if (threads >= 1 && threads < 1e9)
		json_put_int(&o.j, "threads", (int64_t)threads);
	return suite_object_end(r, &o);
}

/* Each name is looked for among all: repeats of several may be interleaved. */
static struct suite_benchmark *benchmark_of(struct suite_results *r, const struct jsontree *v)
{
	const char *run = run_of(v);
	struct suite_benchmark *b;

	for (uint32_t i = r->n; run && i-- > 0;)
		if (!strcmp(r->benchmark[i].name, run))
			return &r->benchmark[i];
	r->left_out += !run;
	b = run ? suite_add_benchmark(r, run) : NULL;
	if (b) {
		b->parameters = parameters_of(r, v, run);
		b->said = suite_said(r, v);
	}
	return b;
}

static void put_counter(struct json *j, const struct jsontree *v)
{
	char name[128];

	if (v->type != JSONDOC_NUMBER || glob_match(own_members, v->key))
		return;
	if (strcmp(v->key, "items_per_second") && strcmp(v->key, "bytes_per_second"))
		snprintf(name, sizeof name, "counter.%s", v->key);
	else
		snprintf(name, sizeof name, "%s", v->key);
	json_put_real(j, name, v->number);
}

static const char *result_of(struct suite_results *r, const struct jsontree *v)
{
	double unit = unit_of(v), seconds = jsontree_number(v, "real_time") * unit;
	struct suite_object o;

	if (!isfinite(seconds))
		return NULL;
	suite_object_begin(&o);
	json_put_real(&o.j, "seconds", seconds);
	json_put_real(&o.j, "cpu_seconds", jsontree_number(v, "cpu_time") * unit);
	for (const struct jsontree *i = v->first; i; i = i->next)
		put_counter(&o.j, i);
	return suite_object_end(r, &o);
}

static bool is_true(const struct jsontree *v, const char *key)
{
	const struct jsontree *found = jsontree_find(v, key);

	return found && found->type == JSONDOC_TRUE;
}

static const char *failure_of(const struct jsontree *v)
{
	const char *message = jsontree_text(v, "error_message");

	if (!is_true(v, "error_occurred"))
		return NULL;
	return message && *message ? message : "an error occurred";
}

static void take_entry(struct suite_results *r, const struct jsontree *v)
{
	const char *failed = failure_of(v), *result = failed ? NULL : result_of(r, v);
	struct suite_benchmark *b;
	struct suite_trial *t;

	if (is_true(v, "skipped") && !failed) {
		r->skipped++;
		return;
	}
	if (!result && !failed) {
		r->left_out++;
		return;
	}
	b = benchmark_of(r, v);
	t = b ? suite_add_trial(r, b) : NULL;
	if (t) {
		t->result = result;
		t->failed = failed;
	}
}

static bool is_aggregate(const struct jsontree *v)
{
	const char *type = jsontree_text(v, "run_type");

	return type && !strcmp(type, "aggregate");
}

/* Of one that has no single values: --benchmark_report_aggregates_only. */
static void take_median(struct suite_results *r, const struct jsontree *v)
{
	const char *aggregate = jsontree_text(v, "aggregate_name");
	struct suite_benchmark *b =
		aggregate && !strcmp(aggregate, "median") ? benchmark_of(r, v) : NULL;

	if (!b || b->n)
		return;
	r->medians++;
	take_entry(r, v);
}

static void take_context(struct suite_results *r, const struct jsontree *context)
{
	const struct jsontree *load = jsontree_find(context, "load_avg");
	char name[BENCH_FACT_NAME];

	r->host = jsontree_text(context, "host_name");
	r->origin = jsontree_text(context, "executable");
	r->start_ns = suite_time(jsontree_text(context, "date"));
	if (load && load->type == JSONDOC_ARRAY && load->first &&
	    load->first->type == JSONDOC_NUMBER)
		r->load_1m = load->first->number;
	for (const struct jsontree *v = context->first; v; v = v->next) {
		if (glob_match("host_name,executable,date,load_avg", v->key))
			continue;
		snprintf(name, sizeof name, "machine.%.250s", v->key);
		bench_facts_flatten(&r->facts, name, v);
	}
	suite_rename_facts(r, names, sizeof names / sizeof names[0]);
}

bool suite_google(struct suite_results *r, const struct suite_source *s);
bool suite_google(struct suite_results *r, const struct suite_source *s)
{
	const struct jsontree *all = jsontree_find(s->document, "benchmarks"),
			      *context = jsontree_find(s->document, "context");

	if (!all || all->type != JSONDOC_ARRAY || !context || context->type != JSONDOC_OBJECT)
		return false;
	take_context(r, context);
	for (const struct jsontree *v = all->first; v; v = v->next)
		if (!is_aggregate(v))
			take_entry(r, v);
	for (const struct jsontree *v = all->first; v; v = v->next)
		if (is_aggregate(v))
			take_median(r, v);
	return true;
}
