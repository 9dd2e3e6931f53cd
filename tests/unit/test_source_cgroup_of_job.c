/* SPDX-License-Identifier: Apache-2.0 */
/* Attached to a batch job, the control group is the job's: not that of one of its steps, whichever
 * process was found first. And of a job that begins, its files are read once before. */
#include "base/clock.h"
#include "unit/node.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

extern const struct source source_cgroup;

static void reads(const char *name, pid_t pid, int64_t cpu_ns, int64_t memory, int64_t kills)
{
	struct node n = { .env = { .interval_ns = NS_PER_S, .followed = true } };
	const char *top = getenv("TOP");
	void *state = calloc(1, source_cgroup.size);
	char path[512];
	struct err e = { "" };

	snprintf(path, sizeof path, "%s/tests/fixtures/%s/proc", top ? top : ".", name);
	assert_int_equal(root_open(&n.env.proc, path), 0);
	snprintf(path, sizeof path, "%s/tests/fixtures/%s/sys", top ? top : ".", name);
	assert_int_equal(root_open(&n.env.sys, path), 0);
	assert_int_equal(sample_init(&n.sample, 16384, 4096), 0);
	n.env.roots = &pid;
	n.env.nroots = 1;
	sample_begin(&n.sample, NS_PER_S, NS_PER_S);
	assert_int_equal(source_cgroup.open(state, &n.env, &n.sample, &e), 0);
	sample_begin(&n.sample, 2 * NS_PER_S, 2 * NS_PER_S);
	n.sample.last = true;
	assert_int_equal(source_cgroup.read(state, &n.sample), 0);
	assert_int_equal(node_value(&n, "cgroup.cpu_seconds", "job"), cpu_ns);
	assert_int_equal(node_value(&n, "cgroup.memory_bytes", "job"), memory);
	assert_int_equal(node_value(&n, "cgroup.memory_oom_kills", "job"), kills);
	assert_int_equal(node_slot(&n, "cgroup.memory_bytes", "task"), 0);
	source_cgroup.close(state);
	free(state);
	sample_free(&n.sample);
	root_close(&n.env.proc);
	root_close(&n.env.sys);
}

static void the_jobs_group_is_read(void **state)
{
	(void)state;
	reads("cgroup-v1", 4100, 987654321012, 3100000000, -1);
	reads("cgroup-v2", 7100, 700000000000, 7000000000, 1);
}

struct scene {
	struct node n;
	void *state;
	pid_t root;
};

static void open_scene(struct scene *x, const char *name, pid_t root, bool rest_follows)
{
	const char *top = getenv("TOP");
	char proc[512], path[512];
	struct err e = { "" };

	*x = (struct scene){ .root = root, .state = calloc(1, source_cgroup.size) };
	snprintf(proc, sizeof proc, "%s/tests/fixtures/%s/proc", top ? top : ".", name);
	snprintf(path, sizeof path, "%s/tests/fixtures/%s/sys", top ? top : ".", name);
	assert_int_equal(root_open(&x->n.env.proc, proc), 0);
	if (root_open(&x->n.env.sys, path))
		assert_int_equal(root_open(&x->n.env.sys, proc), 0);
	assert_int_equal(sample_init(&x->n.sample, 16384, 4096), 0);
	x->n.env.interval_ns = NS_PER_S;
	x->n.env.roots = &x->root;
	x->n.env.nroots = root != 0;
	x->n.env.rest_follows = rest_follows;
	sample_begin(&x->n.sample, NS_PER_S, NS_PER_S);
	assert_int_equal(source_cgroup.open(x->state, &x->n.env, &x->n.sample, &e), 0);
}

static int read_scene(struct scene *x, int64_t ns)
{
	sample_begin(&x->n.sample, x->n.sample.utc_ns + ns, x->n.sample.mono_ns + ns);
	return source_cgroup.read(x->state, &x->n.sample);
}

static void close_scene(struct scene *x)
{
	source_cgroup.close(x->state);
	free(x->state);
	sample_free(&x->n.sample);
	root_close(&x->n.env.proc);
	root_close(&x->n.env.sys);
}

static const char *meta_text(const struct scene *x, const char *key)
{
	for (uint32_t i = 0; i < x->n.sample.nevents; i++)
		if (x->n.sample.event[i].kind == EVENT_META &&
		    !strcmp(x->n.sample.event[i].name, key))
			return x->n.sample.event[i].text;
	return "(none)";
}

static void same_values(const struct scene *a, const struct scene *b)
{
	assert_int_equal(a->n.sample.nslots, b->n.sample.nslots);
	for (uint32_t i = 1; i < a->n.sample.nslots; i++) {
		const struct slot *x = &a->n.sample.slot[i], *y = &b->n.sample.slot[i];

		assert_string_equal(x->metric->name, y->metric->name);
		assert_string_equal(node_instance_name(&a->n, x->instance),
				    node_instance_name(&b->n, y->instance));
		assert_int_equal(a->n.sample.state[i], b->n.sample.state[i]);
		if (a->n.sample.state[i] == STATE_PRESENT)
			assert_int_equal(a->n.sample.value[i], b->n.sample.value[i]);
	}
}

/* A recorder has of them what others have, who read them twice. */
static void it_may_be_told_of_by_the_first_reading(void **state)
{
	static const struct {
		const char *name;
		pid_t root;
	} fixtures[] = { { "cgroup-broken", 0 },     { "cgroup-container", 0 },
			 { "cgroup-hybrid", 0 },     { "cgroup-namespace", 0 },
			 { "cgroup-namespace", 77 }, { "cgroup-v1", 4100 },
			 { "cgroup-v2", 7100 } };

	(void)state;
	for (size_t i = 0; i < sizeof fixtures / sizeof *fixtures; i++) {
		struct scene a, b;

		open_scene(&a, fixtures[i].name, fixtures[i].root, false);
		open_scene(&b, fixtures[i].name, fixtures[i].root, true);
		assert_int_equal(b.n.sample.nslots, 1);
		assert_int_equal(read_scene(&a, 1000), 0);
		assert_int_equal(read_scene(&b, 1000), 0);
		same_values(&a, &b);
		assert_string_equal(meta_text(&a, "cgroup.owner"), meta_text(&b, "cgroup.owner"));
		assert_string_equal(meta_text(&a, "cgroup.path"), meta_text(&b, "cgroup.path"));
		for (int n = 0; n < 12; n++) {
			assert_int_equal(read_scene(&a, NS_PER_S), read_scene(&b, NS_PER_S));
			same_values(&a, &b);
		}
		close_scene(&a);
		close_scene(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_jobs_group_is_read),
		cmocka_unit_test(it_may_be_told_of_by_the_first_reading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
