/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "bench/suite/suite.h"
#include "core/glob.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* One result file of asv: a commit in an environment on a machine. What is measured
 * follows from a benchmark's name; names of parameters and units are in benchmarks.json only. */

static const char *const names[][2] = {
	{ "machine.cpu", "host.cpu_model" },
	{ "machine.num_cpu", "host.cpus_count" },
	{ "machine.arch", "host.architecture" },
};

/* By result_columns; a row ends where nothing more is known. */
static const struct jsontree *cell(const struct suite_source *s, const struct jsontree *row,
				   const char *column)
{
	const struct jsontree *name = jsontree_find(s->document, "result_columns")->first,
			      *v = row->first;

	for (; name && v; name = name->next, v = v->next)
		if (name->type == JSONDOC_STRING && !strcmp(name->text, column))
			return v;
	return NULL;
}

/* ms since 1970 */
static int64_t time_of(const struct jsontree *v)
{
	return v && v->type == JSONDOC_NUMBER && v->number > 0 && v->number < 9e12
		       ? (int64_t)v->number * NS_PER_MS
		       : 0;
}

/* time_, timeraw_, mem_, peakmem_, track_, of the last part of a name. */
static const char *column_of(const char *name)
{
	const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;

	if (!strncmp(last, "time", 4) || !strncmp(last, "Time", 4))
		return "seconds";
	return !strncmp(last, "mem", 3) || !strncmp(last, "peakmem", 7) ? "bytes" : "value";
}

static const struct jsontree *at(const struct jsontree *list, uint32_t i)
{
	const struct jsontree *v = list && list->type == JSONDOC_ARRAY ? list->first : NULL;

	for (; v && i; i--)
		v = v->next;
	return v;
}

static uint32_t length(const struct jsontree *list)
{
	uint32_t n = 0;

	for (const struct jsontree *v = list && list->type == JSONDOC_ARRAY ? list->first : NULL;
	     v && n < SUITE_BENCHMARKS; v = v->next)
		n++;
	return n;
}

/* Values are as Python writes them: 'a' is a. */
static void put_value(struct suite_results *r, struct suite_object *o, const char *name,
		      const struct jsontree *v)
{
	struct jsontree bare = *v;
	size_t n = v->type == JSONDOC_STRING ? strlen(v->text) : 0;

	if (n >= 2 && v->text[0] == '\'' && v->text[n - 1] == '\'') {
		bare.text = pool_text(&r->pool, v->text + 1, n - 2);
		r->failed |= !bare.text;
	}
	if (bare.text || v->type != JSONDOC_STRING)
		suite_put_parameter(o, name, &bare);
}

/* The number-th combination of all parameters' values; the last varies fastest. */
static void put_combination(struct suite_results *r, struct suite_object *o,
			    const struct jsontree *params, const struct jsontree *own_names,
			    uint64_t number)
{
	enum { PARAMETERS = 64 };
	uint64_t of[PARAMETERS], after = 1;
	uint32_t n = length(params);
	char otherwise[32];

	if (n > PARAMETERS)
		return;
	for (uint32_t i = n; i-- > 0;) {
		uint32_t values = length(at(params, i));

		of[i] = values ? number / after % values : 0;
		after = values && after < UINT32_MAX ? after * values : after;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct jsontree *v = at(at(params, i), (uint32_t)of[i]),
				      *name = at(own_names, i);

		snprintf(otherwise, sizeof otherwise, "param%u", i + 1);
		if (v)
			put_value(r, o,
				  name && name->type == JSONDOC_STRING ? name->text : otherwise, v);
	}
}

struct row {
	const char *name, *column;
	const struct jsontree *row, *params, *stated; /* stated: in benchmarks.json; or NULL */
	const char *unit;
};

static const char *parameters_of(struct suite_results *r, const struct row *x, uint64_t number)
{
	struct suite_object o;

	suite_object_begin(&o);
	json_put_text(&o.j, "benchmark", x->name);
	if (x->unit && !strcmp(x->column, "value"))
		json_put_text(&o.j, "unit", x->unit);
	put_combination(r, &o, x->params, jsontree_find(x->stated, "param_names"), number);
	return suite_object_end(r, &o);
}

static struct suite_benchmark *add(struct suite_results *r, const struct suite_source *s,
				   const struct row *x, uint64_t number)
{
	const struct jsontree *version = cell(s, x->row, "version");
	struct suite_benchmark *b = suite_add_benchmark(r, x->name);
	int64_t start_ns = time_of(cell(s, x->row, "started_at"));

	if (!b)
		return NULL;
	b->parameters = parameters_of(r, x, number);
	b->version = version && version->type == JSONDOC_STRING ? version->text : NULL;
	b->start_ns = start_ns ? start_ns : r->start_ns;
	return b;
}

/* null: it failed; NaN: it was skipped. */
static void take_value(struct suite_results *r, const struct suite_source *s, const struct row *x,
		       uint64_t number, const struct jsontree *v, const struct jsontree *samples)
{
	bool has_samples = samples && samples->type == JSONDOC_ARRAY && samples->first;
	struct suite_benchmark *b;
	struct suite_trial *t;

	if (v->type == JSONDOC_NULL && v->no_number) {
		r->skipped++;
		return;
	}
	b = add(r, s, x, number);
	if (!b)
		return;
	if (v->type == JSONDOC_NULL) {
		t = suite_add_trial(r, b);
		if (t)
			t->failed = "asv has no result of it: it failed";
	} else if (has_samples) {
		for (const struct jsontree *i = samples->first; i; i = i->next)
			suite_add_value(r, b, x->column, i);
	} else {
		t = suite_add_value(r, b, x->column, v);
		r->medians += t && !strcmp(x->column, "seconds");
	}
}

static void take_row(struct suite_results *r, const struct suite_source *s,
		     const struct jsontree *v)
{
	struct row x = { .name = v->key, .column = column_of(v->key), .row = v };
	const struct jsontree *result = cell(s, v, "result"), *all = cell(s, v, "samples"),
			      *samples = all && all->type == JSONDOC_ARRAY ? all->first : NULL;
	uint64_t number = 0;

	if (v->type != JSONDOC_ARRAY || !result) {
		r->left_out++;
		return;
	}
	x.params = cell(s, v, "params");
	x.stated = jsontree_find(s->benchmarks, x.name);
	x.unit = jsontree_text(x.stated, "unit");
	if (result->type != JSONDOC_ARRAY) {
		take_value(r, s, &x, 0, result, NULL);
		return;
	}
	for (const struct jsontree *i = result->first; i; i = i->next, number++) {
		take_value(r, s, &x, number, i, samples);
		samples = samples ? samples->next : NULL;
	}
}

static void take_facts(struct suite_results *r, const struct jsontree *d)
{
	const struct jsontree *needed = jsontree_find(d, "requirements"),
			      *python = jsontree_find(d, "python"),
			      *commit = jsontree_find(d, "commit_hash");

	bench_facts_flatten(&r->facts, "machine", jsontree_find(d, "params"));
	bench_facts_flatten(&r->facts, "env", jsontree_find(d, "env_vars"));
	bench_facts_flatten(&r->facts, "runtime.version", python);
	bench_facts_flatten(&r->facts, "script.git_commit", commit);
	if (needed && needed->type == JSONDOC_OBJECT)
		bench_facts_flatten(&r->facts, "package", needed);
	suite_rename_facts(r, names, sizeof names / sizeof names[0]);
}

bool suite_asv(struct suite_results *r, const struct suite_source *s);
bool suite_asv(struct suite_results *r, const struct suite_source *s)
{
	const struct jsontree *all = jsontree_find(s->document, "results"),
			      *columns = jsontree_find(s->document, "result_columns");

	if (!all || all->type != JSONDOC_OBJECT || !columns || columns->type != JSONDOC_ARRAY)
		return false;
	r->host = jsontree_text(jsontree_find(s->document, "params"), "machine");
	r->start_ns = time_of(jsontree_find(s->document, "date"));
	take_facts(r, s->document);
	for (const struct jsontree *v = all->first; v; v = v->next)
		take_row(r, s, v);
	return true;
}

/* The JSON of Google Benchmark. Times are in the unit that each entry google_names. */

static const char *const google_names[][2] = {
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

static const char *google_parameters_of(struct suite_results *r, const struct jsontree *v,
					const char *run)
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
		b->parameters = google_parameters_of(r, v, run);
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
	suite_rename_facts(r, google_names, sizeof google_names / sizeof google_names[0]);
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

/* The JSON of hyperfine, and of `sonde compare --export-json`. */

static const char *hyperfine_parameters_of(struct suite_results *r, const struct jsontree *v,
					   const char *command)
{
	const struct jsontree *own = jsontree_find(v, "parameters");
	struct suite_object o;

	suite_object_begin(&o);
	json_put_text(&o.j, "command", command);
	for (const struct jsontree *p = own && own->type == JSONDOC_OBJECT ? own->first : NULL; p;
	     p = p->next)
		suite_put_parameter(&o, p->key, p);
	return suite_object_end(r, &o);
}

/* The next one of a list that may be missing or shorter; a number, or NAN. */
static double next_of(const struct jsontree **list)
{
	const struct jsontree *v = *list;

	*list = v ? v->next : NULL;
	return v && v->type == JSONDOC_NUMBER && isfinite(v->number) ? v->number : (double)NAN;
}

static const struct jsontree *first_of(const struct jsontree *v, const char *key)
{
	const struct jsontree *list = jsontree_find(v, key);

	return list && list->type == JSONDOC_ARRAY ? list->first : NULL;
}

/* A null among the exit codes: a signal ended it. */
static void take_run(struct suite_results *r, struct suite_benchmark *b,
		     const struct jsontree *time, const struct jsontree **code,
		     const struct jsontree **memory)
{
	struct suite_trial *t = suite_add_value(r, b, "seconds", time);
	bool by_signal = *code && (*code)->type == JSONDOC_NULL;
	double exit_code = next_of(code), bytes = next_of(memory);

	if (!t)
		return;
	t->exit_code = exit_code;
	t->memory_bytes = bytes;
	if (by_signal)
		t->failed = "it did not exit: a signal ended it";
}

static void take_command(struct suite_results *r, const struct jsontree *v)
{
	const char *command = jsontree_text(v, "command");
	const struct jsontree *time = first_of(v, "times"), *code = first_of(v, "exit_codes"),
			      *memory = first_of(v, "memory_usage_byte");
	struct suite_benchmark *b = command ? suite_add_benchmark(r, command) : NULL;

	r->left_out += !command;
	if (!b)
		return;
	b->parameters = hyperfine_parameters_of(r, v, command);
	b->said = suite_said(r, v);
	if (!time) {
		r->medians += suite_add_value(r, b, "seconds", jsontree_find(v, "median")) != NULL;
	}
	for (; time; time = time->next)
		take_run(r, b, time, &code, &memory);
}

bool suite_hyperfine(struct suite_results *r, const struct suite_source *s);
bool suite_hyperfine(struct suite_results *r, const struct suite_source *s)
{
	const struct jsontree *all = jsontree_find(s->document, "results");

	if (!all || all->type != JSONDOC_ARRAY || !jsontree_text(all->first, "command"))
		return false;
	for (const struct jsontree *v = all->first; v; v = v->next)
		take_command(r, v);
	return true;
}

/* Pytest-benchmark's JSON. Its times are in seconds, whatever unit it prints. */

static const char *const pytest_names[][2] = {
	{ "machine.cpu.brand_raw", "host.cpu_model" },
	{ "machine.cpu.count", "host.cpus_count" },
	{ "machine.machine", "host.architecture" },
	{ "machine.python_version", "runtime.version" },
	{ "commit.id", "script.git_commit" },
	{ "commit.branch", "script.git_branch" },
	{ "commit.dirty", "script.git_dirty" },
};

/* test_fib[10] is test_fib: what is in brackets is in the parameters. */
static const char *without_parameters(struct suite_results *r, const char *name, bool has)
{
	const char *end = has ? strchr(name, '[') : NULL, *kept;

	if (!end)
		return name;
	kept = pool_text(&r->pool, name, (size_t)(end - name));
	r->failed |= !kept;
	return kept ? kept : name;
}

static const char *pytest_parameters_of(struct suite_results *r, const struct jsontree *v,
					const char *name)
{
	const struct jsontree *own = jsontree_find(v, "params");
	const char *group = jsontree_text(v, "group");
	bool has = own && own->type == JSONDOC_OBJECT;
	struct suite_object o;

	suite_object_begin(&o);
	json_put_text(&o.j, "benchmark", without_parameters(r, name, has));
	if (group)
		json_put_text(&o.j, "group", group);
	for (const struct jsontree *p = has ? own->first : NULL; p; p = p->next)
		suite_put_parameter(&o, p->key, p);
	return suite_object_end(r, &o);
}

static void take_benchmark(struct suite_results *r, const struct jsontree *v)
{
	const struct jsontree *stats = jsontree_find(v, "stats"),
			      *data = jsontree_find(stats, "data");
	const char *name = jsontree_text(v, "fullname");
	struct suite_benchmark *b;

	if (!name)
		name = jsontree_text(v, "name");
	if (!name || !stats) {
		r->left_out++;
		return;
	}
	b = suite_add_benchmark(r, name);
	if (!b)
		return;
	b->parameters = pytest_parameters_of(r, v, name);
	b->said = suite_said(r, v);
	if (data && data->type == JSONDOC_ARRAY && data->first) {
		for (const struct jsontree *i = data->first; i; i = i->next)
			suite_add_value(r, b, "seconds", i);
	} else {
		r->medians +=
			suite_add_value(r, b, "seconds", jsontree_find(stats, "median")) != NULL;
	}
}

bool suite_pytest(struct suite_results *r, const struct suite_source *s);
bool suite_pytest(struct suite_results *r, const struct suite_source *s)
{
	const struct jsontree *all = jsontree_find(s->document, "benchmarks"),
			      *machine = jsontree_find(s->document, "machine_info"),
			      *commit = jsontree_find(s->document, "commit_info");

	if (!all || all->type != JSONDOC_ARRAY || !machine)
		return false;
	r->host = jsontree_text(machine, "node");
	r->start_ns = suite_time(jsontree_text(s->document, "datetime"));
	bench_facts_flatten(&r->facts, "machine", machine);
	bench_facts_flatten(&r->facts, "commit", commit);
	suite_rename_facts(r, pytest_names, sizeof pytest_names / sizeof pytest_names[0]);
	for (const struct jsontree *v = all->first; v; v = v->next)
		take_benchmark(r, v);
	return true;
}
