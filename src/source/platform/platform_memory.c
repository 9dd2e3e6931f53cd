/* SPDX-License-Identifier: Apache-2.0 */
/* platform_memory.c - the memory: how it is spread over NUMA nodes, huge pages, modules. */
#include "base/text/number.h"
#include "source/cpulist.h"
#include "source/platform/platform_part.h"

#include <stdio.h>
#include <string.h>

#define NODE "devices/system/node/"
#define EDAC "devices/system/edac/mc/"
enum { ENTRIES = 64 };

#define FACTS(array) array, sizeof(array) / sizeof((array)[0])

static const struct platform_fact facts[] = {
	{ "host.transparent_hugepages", IN_SYS, "kernel/mm/transparent_hugepage/enabled",
	  FORM_CHOSEN, 0 },
	{ "host.transparent_hugepages_defrag", IN_SYS, "kernel/mm/transparent_hugepage/defrag",
	  FORM_CHOSEN, 0 },
};

static const struct platform_fact node_facts[] = {
	{ "host.numa_node%s.cpus", IN_SYS, NODE "node%s/cpulist", FORM_CPUS, 0 },
	{ "host.numa_node%s.distances", IN_SYS, NODE "node%s/distance", FORM_TEXT, 0 },
};

/* "Node 0 MemTotal:       65536000 kB" */
static void say_node_memory(const struct platform *p, const char *node)
{
	char path[PLATFORM_PATH], key[PLATFORM_KEY], text[4096];
	const char *total;
	int64_t kib;

	snprintf(path, sizeof path, NODE "node%s/meminfo", node);
	if (root_read(p->sys, path, text, sizeof text) <= 0)
		return;
	total = strstr(text, "MemTotal:");
	total = total ? total + strlen("MemTotal:") : NULL;
	if (!total || !number_i64(&total, &kib) || kib < 0 || kib > INT64_MAX / 1024)
		return;
	snprintf(key, sizeof key, "host.numa_node%s.memory_bytes", node);
	sample_meta_int(p->sample, key, kib * 1024);
}

static void say_nodes(const struct platform *p)
{
	enum { NODES_SAID = 64 };
	char name[16];
	struct cpulist nodes;
	uint32_t said = 0;

	if (!platform_list(p->sys, NODE "online", &nodes))
		return;
	sample_meta_int(p->sample, "host.numa_nodes_count", cpulist_count(&nodes));
	for (uint32_t i = 0; (i = cpulist_next(&nodes, i)) < CPUS_MAX && said < NODES_SAID; i++) {
		snprintf(name, sizeof name, "%u", i);
		platform_facts_of(p, FACTS(node_facts), name);
		say_node_memory(p, name);
		said++;
	}
}

/* The modules of one controller that hold memory. */
static size_t modules_of(const struct platform *p, const char *controller, char type[PLATFORM_TEXT])
{
	char dimm[ENTRIES][PLATFORM_NAME], path[PLATFORM_PATH], size[PLATFORM_TEXT];
	size_t n, modules = 0;

	snprintf(path, sizeof path, EDAC "%s", controller);
	n = platform_names(p->sys, path, dimm, ENTRIES);
	for (size_t i = 0; i < n; i++) {
		snprintf(path, sizeof path, EDAC "%s/%s/size", controller, dimm[i]);
		if (!platform_line(p->sys, path, size) || *size < '1' || *size > '9')
			continue;
		snprintf(path, sizeof path, EDAC "%s/%s/dimm_mem_type", controller, dimm[i]);
		modules += platform_line(p->sys, path, type);
	}
	return modules;
}

/* As the memory controllers tell, where a driver for them is loaded; firmware tells root only. */
static void say_modules(const struct platform *p)
{
	char controller[ENTRIES][PLATFORM_NAME], type[PLATFORM_TEXT] = "";
	size_t n = platform_names(p->sys, EDAC, controller, ENTRIES), modules = 0;

	for (size_t i = 0; i < n; i++)
		modules += modules_of(p, controller[i], type);
	if (!modules)
		return;
	sample_meta_int(p->sample, "host.memory_modules_count", (int64_t)modules);
	sample_meta_text(p->sample, "host.memory_type", type);
}

void platform_memory(const struct platform *p)
{
	platform_facts(p, FACTS(facts));
	say_nodes(p);
	say_modules(p);
}
