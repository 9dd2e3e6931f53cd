/* SPDX-License-Identifier: Apache-2.0 */
#include "source/topology.h"

#include "source/sysfs.h"

#include <inttypes.h>
#include <stdio.h>

static void read_list(const struct root *sys, const char *path, struct cpulist *out)
{
	char text[CPULIST_TEXT];

	sysfs_line(sys, path, text, sizeof text);
	cpulist_parse(out, text);
}

static void read_numa(struct topology *t)
{
	struct cpulist nodes, cpus;
	char path[64];

	read_list(t->sys, "devices/system/node/online", &nodes);
	for (uint32_t node = cpulist_next(&nodes, 0); node < CPUS_MAX;
	     node = cpulist_next(&nodes, node + 1)) {
		snprintf(path, sizeof path, "devices/system/node/node%" PRIu32 "/cpulist", node);
		read_list(t->sys, path, &cpus);
		for (uint32_t cpu = cpulist_next(&cpus, 0); cpu < CPUS_MAX;
		     cpu = cpulist_next(&cpus, cpu + 1))
			t->numa[cpu] = (uint16_t)(node + 1);
	}
}

void topology_open(struct topology *t, const struct root *sys)
{
	t->sys = sys;
	read_list(sys, "devices/cpu_core/cpus", &t->performance);
	read_list(sys, "devices/cpu_atom/cpus", &t->efficiency);
	read_list(sys, "devices/cpu_lowpower/cpus", &t->low_power);
	read_numa(t);
}

static int64_t number_of(const struct topology *t, uint32_t cpu, const char *what)
{
	char path[96];
	int64_t v;

	snprintf(path, sizeof path, "devices/system/cpu/cpu%" PRIu32 "/topology/%s", cpu, what);
	return sysfs_read_number(t->sys, path, &v) == 0 && v >= 0 ? v : -1;
}

static int64_t thread_of(const struct topology *t, uint32_t cpu)
{
	struct cpulist siblings;
	char path[96];
	int64_t rank = 0;

	snprintf(path, sizeof path,
		 "devices/system/cpu/cpu%" PRIu32 "/topology/thread_siblings_list", cpu);
	read_list(t->sys, path, &siblings);
	if (!cpulist_has(&siblings, cpu))
		return -1;
	for (uint32_t i = cpulist_next(&siblings, 0); i < cpu; i = cpulist_next(&siblings, i + 1))
		rank++;
	return rank;
}

static const char *type_of(const struct topology *t, uint32_t cpu)
{
	if (cpulist_has(&t->low_power, cpu))
		return "low_power";
	if (cpulist_has(&t->efficiency, cpu))
		return "efficiency";
	return cpulist_has(&t->performance, cpu) ? "performance" : NULL;
}

struct place topology_of(const struct topology *t, uint32_t cpu)
{
	return (struct place){
		.package = number_of(t, cpu, "physical_package_id"),
		.core = number_of(t, cpu, "core_id"),
		.thread = thread_of(t, cpu),
		.numa = cpu < CPUS_MAX ? (int64_t)t->numa[cpu] - 1 : -1,
		.type = type_of(t, cpu),
	};
}
