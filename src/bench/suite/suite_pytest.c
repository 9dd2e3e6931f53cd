/* SPDX-License-Identifier: Apache-2.0 */
/* suite_pytest.c - pytest-benchmark's JSON. Its times are in seconds, whatever unit it prints. */
#include "bench/suite/suite.h"

#include <string.h>

static const char *const names[][2] = {
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

static const char *parameters_of(struct suite_results *r, const struct jsontree *v,
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
	b->parameters = parameters_of(r, v, name);
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
	suite_rename_facts(r, names, sizeof names / sizeof names[0]);
	for (const struct jsontree *v = all->first; v; v = v->next)
		take_benchmark(r, v);
	return true;
}
