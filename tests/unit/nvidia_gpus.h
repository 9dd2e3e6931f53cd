/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvidia_gpus.h - for tests: the source nvidia on the stand-in for NVIDIA's library.
 *
 * The job is the processes 4321 and 4322 of tests/fixtures/nvidia. What is waited for is waited for
 * at most 30 s.
 */
#ifndef SONDE_TESTS_UNIT_NVIDIA_GPUS_H
#define SONDE_TESTS_UNIT_NVIDIA_GPUS_H

#include "base/clock.h"
#include "unit/node.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

extern const struct source source_nvidia;

static const char *const settings[] = { "SONDE_NVML",          "SONDE_NVML_PATIENCE",
					"FAKE_NVML_GPUS",      "FAKE_NVML_FAIL",
					"FAKE_NVML_HANG",      "FAKE_NVML_CRASH",
					"FAKE_NVML_MIG",       "FAKE_NVML_ENTRY",
					"FAKE_NVML_PROCESSES", "FAKE_NVML_USES" };

/* The library that was built beside this program's folder. */
static inline const char *stub(const char *name)
{
	static char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 64);

	assert_true(n > 0);
	path[n] = '\0';
	*strrchr(path, '/') = '\0';
	snprintf(path + strlen(path), 64, "/../stubs/%s.so", name);
	return path;
}

static inline int fresh_environment(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
		unsetenv(settings[i]);
	setenv("SONDE_NVML", stub("fake_nvml"), 1);
	return 0;
}

static inline size_t two_pids(const void *tree, pid_t *out, size_t cap)
{
	(void)tree;
	assert_true(cap >= 2);
	out[0] = 4321;
	out[1] = 4322;
	return 2;
}

static inline bool is_one_of_two(const void *tree, pid_t pid)
{
	(void)tree;
	return pid == 4321 || pid == 4322;
}

struct gpus {
	struct node n;
	void *state;
};

static inline int gpus_open(struct gpus *g, int64_t patience_ns)
{
	char proc[PATH_MAX];

	*g = (struct gpus){ 0 };
	snprintf(proc, sizeof proc, "%s/tests/fixtures/nvidia/proc", getenv("TOP"));
	g->n.env =
		(struct source_env){ .interval_ns = NS_PER_S,
				     .patience_ns = patience_ns,
				     .job = { .tree = g, .pids = two_pids, .has = is_one_of_two } };
	assert_int_equal(sample_init(&g->n.sample, NODE_SLOTS, NODE_SLOTS), 0);
	assert_int_equal(root_open(&g->n.env.proc, proc), 0);
	g->state = calloc(1, source_nvidia.size);
	return source_nvidia.open(g->state, &g->n.env, &g->n.sample, &g->n.why[0]);
}

static inline void gpus_read(struct gpus *g)
{
	sample_begin(&g->n.sample, 1, clock_mono_ns());
	assert_int_equal(source_nvidia.read(g->state, &g->n.sample), 0);
}

static inline void gpus_close(struct gpus *g)
{
	source_nvidia.close(g->state);
	free(g->state);
	sample_free(&g->n.sample);
	root_close(&g->n.env.proc);
}

/* Read until the metric of the instance has a value, for at most 30 s. */
static inline int64_t value_of(struct gpus *g, const char *metric, const char *instance)
{
	for (int i = 0; i < 3000; i++) {
		gpus_read(g);
		if (node_value(&g->n, metric, instance) >= 0)
			return node_value(&g->n, metric, instance);
		nanosleep(&(struct timespec){ .tv_nsec = 10 * NS_PER_MS }, NULL);
	}
	return -1;
}

/* The last that was said of the state of a series; NULL: nothing. */
static inline const struct event *state_of_series(const struct gpus *g, const char *metric,
						  const char *instance)
{
	uint32_t slot = node_slot(&g->n, metric, instance);

	for (uint32_t i = g->n.sample.nevents; slot && i-- > 0;)
		if (g->n.sample.event[i].kind == EVENT_STATE &&
		    g->n.sample.event[i].id == g->n.sample.slot[slot].series)
			return &g->n.sample.event[i];
	return NULL;
}

static inline void assert_refused(const struct gpus *g, const char *metric, const char *instance,
				  enum state state, const char *reason)
{
	const struct event *e = state_of_series(g, metric, instance);

	assert_non_null(e);
	assert_int_equal(e->state, state);
	if (!strstr(e->text, reason))
		fail_msg("%s %s: '%s' does not say '%s'", metric, instance, e->text, reason);
	assert_int_equal(node_value(&g->n, metric, instance), -1);
}

static inline const char *meta(const struct gpus *g, const char *key)
{
	for (uint32_t i = g->n.sample.nevents; i-- > 0;)
		if (g->n.sample.event[i].kind == EVENT_META &&
		    strcmp(g->n.sample.event[i].name, key) == 0)
			return g->n.sample.event[i].text;
	return "";
}

static inline void read_until_said(struct gpus *g, const char *key)
{
	for (int i = 0; i < 3000 && !*meta(g, key); i++) {
		gpus_read(g);
		nanosleep(&(struct timespec){ .tv_nsec = 10 * NS_PER_MS }, NULL);
	}
}

static inline const char *label_of(const struct gpus *g, const char *instance, const char *key)
{
	for (uint32_t i = g->n.sample.nevents; i-- > 0;) {
		const struct event *e = &g->n.sample.event[i];

		if (e->kind == EVENT_LABEL && strcmp(e->name, key) == 0 &&
		    strcmp(node_instance_name(&g->n, e->id), instance) == 0)
			return e->text;
	}
	return "";
}

static inline bool has_children(void)
{
	return waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD;
}

static inline pid_t only_child(void)
{
	char path[64], text[256] = "";
	FILE *f;

	snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)gettid());
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(text, sizeof text, f));
	fclose(f);
	return (pid_t)strtol(text, NULL, 10);
}

#endif
