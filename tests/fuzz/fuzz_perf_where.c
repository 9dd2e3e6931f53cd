/* SPDX-License-Identifier: Apache-2.0 */
/* The files that say where perf events are counted: those of a control group, of the CPUs, of a
 * device, of what processes have started. Texts lie between form feeds. Nothing is opened. */
#include "source/perf/perf_where.h"
#include "tree_fuzz.h"

#define DEVICE "sys/bus/event_source/devices/uncore_imc_0/"

static const char *const paths[] = { "proc/self/mountinfo",
				     "proc/7/cgroup",
				     "proc/7/task/7/children",
				     "sys/devices/system/cpu/online",
				     "sys/bus/event_source/devices/cpu_core/type",
				     DEVICE "type",
				     DEVICE "cpumask",
				     NULL };

static void look(const struct perf_options *o)
{
	static const pid_t root = 7;
	struct perf_event events[] = { { .id = "a", .pmu = "uncore_imc_#" },
				       { .id = "b", .pmu = "msr" },
				       { .id = "c", .pmu = "cpu" } };
	struct perf_group g = { .name = "g", .event = events, .nevents = 3 };
	struct source_env env = { .perf = o, .roots = &root, .nroots = 1 };
	struct perf_places p;
	struct err e = { "" };

	if (root_open(&env.proc, "proc") < 0 || root_open(&env.sys, "sys") < 0)
		abort();
	if (perf_places_open(&p, &env, &e) == 0) {
		for (uint8_t i = 0; i < 3; i++) {
			struct perf_set set = { .group = &g, .event = { i }, .n = 1 };
			struct perf_where w;

			if (perf_places_of(&p, &set, &w, &e) == 0 &&
			    (w.n > PERF_SEATS_MAX || (w.n && !w.seat)))
				abort();
			free(w.seat);
		}
	}
	perf_places_close(&p);
	root_close(&env.proc);
	root_close(&env.sys);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum perf_scope scopes[] = { PERF_SCOPE_JOB, PERF_SCOPE_CGROUP,
						  PERF_SCOPE_NODE };

	for (const char *const *p = paths; *p; p++)
		tree_fuzz_make_directories(*p);
	tree_fuzz_fill(paths, &data, &size);
	for (size_t i = 0; i < sizeof scopes / sizeof scopes[0]; i++) {
		const struct perf_options o = { .scope = scopes[i] };

		look(&o);
	}
	return 0;
}
