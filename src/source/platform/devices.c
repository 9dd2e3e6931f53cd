/* SPDX-License-Identifier: Apache-2.0 */
/* devices.c - disks, network interfaces, InfiniBand adapters: those with hardware behind
 * them. */
#include "base/reserve.h"
#include "base/text/number.h"
#include "source/cpulist.h"
#include "source/kept.h"
#include "source/platform/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MAX = 64 }; /* of each class; the others are counted */

static const struct platform_fact disk_facts[] = {
	{ "host.disk.%s.model", IN_SYS, "block/%s/device/model", FORM_TEXT, 0 },
	{ "host.disk.%s.size_bytes", IN_SYS, "block/%s/size", FORM_NUMBER, 512 },
	{ "host.disk.%s.rotational", IN_SYS, "block/%s/queue/rotational", FORM_NUMBER, 0 },
	{ "host.disk.%s.scheduler", IN_SYS, "block/%s/queue/scheduler", FORM_CHOSEN, 0 },
	{ "host.disk.%s.numa_node", IN_SYS, "block/%s/device/numa_node", FORM_NUMBER, 0 },
};

static const struct platform_fact nic_facts[] = {
	{ "host.nic.%s.state", IN_SYS, "class/net/%s/operstate", FORM_TEXT, 0 },
	{ "host.nic.%s.mtu_bytes", IN_SYS, "class/net/%s/mtu", FORM_NUMBER, 0 },
	{ "host.nic.%s.vendor_id", IN_SYS, "class/net/%s/device/vendor", FORM_TEXT, 0 },
	{ "host.nic.%s.device_id", IN_SYS, "class/net/%s/device/device", FORM_TEXT, 0 },
	{ "host.nic.%s.numa_node", IN_SYS, "class/net/%s/device/numa_node", FORM_NUMBER, 0 },
};

static const struct platform_fact infiniband_facts[] = {
	{ "host.infiniband.%s.model", IN_SYS, "class/infiniband/%s/hca_type", FORM_TEXT, 0 },
	{ "host.infiniband.%s.board", IN_SYS, "class/infiniband/%s/board_id", FORM_TEXT, 0 },
	{ "host.infiniband.%s.firmware", IN_SYS, "class/infiniband/%s/fw_ver", FORM_TEXT, 0 },
	{ "host.infiniband.%s.rate", IN_SYS, "class/infiniband/%s/ports/1/rate", FORM_TEXT, 0 },
	{ "host.infiniband.%s.link_layer", IN_SYS, "class/infiniband/%s/ports/1/link_layer",
	  FORM_TEXT, 0 },
};

static void say_driver(const struct platform *p, const char *class, const char *name,
		       const char *what)
{
	char path[PLATFORM_PATH], key[PLATFORM_KEY], driver[PLATFORM_NAME];

	snprintf(path, sizeof path, "class/%s/%s/device/driver", class, name);
	if (!platform_link(p->sys, path, driver))
		return;
	snprintf(key, sizeof key, "host.%s.%s.driver", what, name);
	sample_meta_text(p->sample, key, driver);
}

/* The kernel says -1, or nothing, when the link is down. */
static void say_speed(const struct platform *p, const char *name)
{
	char path[PLATFORM_PATH], key[PLATFORM_KEY];
	int64_t megabits;

	snprintf(path, sizeof path, "class/net/%s/speed", name);
	if (sysfs_read_number(p->sys, path, &megabits) < 0 || megabits <= 0 || megabits > INT32_MAX)
		return;
	snprintf(key, sizeof key, "host.nic.%s.speed_bytes_per_second", name);
	sample_meta_int(p->sample, key, megabits * (1000000 / 8));
}

static void say_nic(const struct platform *p, const char *name)
{
	platform_facts_of(p, FACTS(nic_facts), name);
	say_speed(p, name);
	say_driver(p, "net", name, "nic");
}

static void say_disk(const struct platform *p, const char *name)
{
	platform_facts_of(p, FACTS(disk_facts), name);
}

static void say_infiniband(const struct platform *p, const char *name)
{
	platform_facts_of(p, FACTS(infiniband_facts), name);
	say_driver(p, "infiniband", name, "infiniband");
}

/* Those of a directory that are more than software: they have a `device`. */
static void say_all(const struct platform *p, const char *directory, const char *count_key,
		    void (*say)(const struct platform *p, const char *name))
{
	enum { NAMES_MAX = 512 };
	char(*names)[PLATFORM_NAME] = reserve(NAMES_MAX * sizeof *names), path[PLATFORM_PATH];
	size_t n = names ? platform_names(p->sys, directory, names, NAMES_MAX) : 0, real = 0;

	for (size_t i = 0; i < n; i++) {
		snprintf(path, sizeof path, "%s/%s/device", directory, names[i]);
		if (sysfs_exists(p->sys, path) && real++ < DEVICES_MAX)
			say(p, names[i]);
	}
	reserve_free(names, NAMES_MAX * sizeof *names);
	if (real)
		sample_meta_int(p->sample, count_key, (int64_t)real);
}

void platform_devices(const struct platform *p)
{
	say_all(p, "block", "host.disks_count", say_disk);
	say_all(p, "class/net", "host.nics_count", say_nic);
	say_all(p, "class/infiniband", "host.infiniband_count", say_infiniband);
}

/* ---- GPUs ---- */

/* The GPUs and accelerators on the PCI bus, whether or not a library for them is there. */

enum { PCI_MAX = 2048, GPUS_MAX = 64 };

/* Of one PCI device: what stands for %s in a path is its address, in a key gpu0, gpu1 ... */
static const struct {
	const char *key, *name;
	enum platform_form form;
} gpu_facts[] = {
	{ "vendor_id", "vendor", FORM_TEXT },
	{ "device_id", "device", FORM_TEXT },
	{ "model", "product_name", FORM_TEXT }, /* of amdgpu */
	{ "numa_node", "numa_node", FORM_NUMBER },
	{ "link_speed", "current_link_speed", FORM_TEXT },
	{ "link_width", "current_link_width", FORM_NUMBER },
};

static const struct platform_fact driver_facts[] = {
	{ "host.nvidia_driver_version", IN_SYS, "module/nvidia/version", FORM_TEXT, 0 },
	{ "host.amdgpu_driver_version", IN_SYS, "module/amdgpu/version", FORM_TEXT, 0 },
};

/* The graphics of a server's management controller show its console and compute nothing. */
static const char *const vendors_of_consoles[] = { "0x1a03", "0x102b", "0x1234", "0x1af4",
						   "0x1013" };

static const struct {
	const char *id, *name;
} vendors[] = {
	{ "0x10de", "NVIDIA" }, { "0x1002", "AMD" }, { "0x8086", "Intel" }, { "0x1da3", "Habana" }
};

/* Classes of the PCI code and ID assignment: 0x03 displays, 0x12 processing accelerators. */
static bool is_gpu(const struct platform *p, const char *address)
{
	char path[PLATFORM_PATH], line[PLATFORM_TEXT];

	snprintf(path, sizeof path, "bus/pci/devices/%s/class", address);
	if (!platform_line(p->sys, path, line) ||
	    (strncmp(line, "0x03", 4) != 0 && strncmp(line, "0x12", 4) != 0))
		return false;
	snprintf(path, sizeof path, "bus/pci/devices/%s/vendor", address);
	if (!platform_line(p->sys, path, line))
		return false;
	for (size_t i = 0; i < sizeof vendors_of_consoles / sizeof vendors_of_consoles[0]; i++)
		if (strcmp(line, vendors_of_consoles[i]) == 0)
			return false;
	return true;
}

/* "Model: \t\t NVIDIA H200" of the driver's own files, which need no library. */
static void say_nvidia_model(const struct platform *p, const char *address, size_t i)
{
	char path[PLATFORM_PATH], text[2048], key[PLATFORM_KEY];
	const char *model = text;

	snprintf(path, sizeof path, "driver/nvidia/gpus/%s/information", address);
	if (root_read(p->proc, path, text, sizeof text) <= 0)
		return;
	while (*model && strncmp(model, "Model:", 6) != 0)
		model += strcspn(model, "\n") + (model[strcspn(model, "\n")] == '\n');
	if (!*model)
		return;
	snprintf(key, sizeof key, "host.gpu%zu.model", i);
	platform_text(p, key, model + 6, strcspn(model + 6, "\n"));
}

static void say_text(const struct platform *p, size_t i, const char *what, const char *text)
{
	char key[PLATFORM_KEY];

	snprintf(key, sizeof key, "host.gpu%zu.%s", i, what);
	sample_meta_text(p->sample, key, text);
}

static void say_gpu(const struct platform *p, const char *address, size_t i)
{
	char path[PLATFORM_PATH], key[PLATFORM_KEY], driver[PLATFORM_NAME], line[PLATFORM_TEXT];

	say_text(p, i, "address", address);
	for (size_t k = 0; k < sizeof gpu_facts / sizeof gpu_facts[0]; k++) {
		const struct platform_fact fact = { key, IN_SYS, path, gpu_facts[k].form, 0 };

		snprintf(key, sizeof key, "host.gpu%zu.%s", i, gpu_facts[k].key);
		snprintf(path, sizeof path, "bus/pci/devices/%s/%s", address, gpu_facts[k].name);
		platform_facts(p, &fact, 1);
	}
	snprintf(path, sizeof path, "bus/pci/devices/%s/vendor", address);
	for (size_t k = 0; k < sizeof vendors / sizeof vendors[0]; k++)
		if (platform_line(p->sys, path, line) && strcmp(line, vendors[k].id) == 0)
			say_text(p, i, "vendor", vendors[k].name);
	snprintf(path, sizeof path, "bus/pci/devices/%s/driver", address);
	if (platform_link(p->sys, path, driver))
		say_text(p, i, "driver", driver);
	say_nvidia_model(p, address, i);
}

void platform_gpus(const struct platform *p)
{
	char(*names)[PLATFORM_NAME] = calloc(PCI_MAX, sizeof *names);
	size_t n = names ? platform_names(p->sys, "bus/pci/devices", names, PCI_MAX) : 0, gpus = 0;

	for (size_t i = 0; i < n; i++)
		if (is_gpu(p, names[i]) && gpus++ < GPUS_MAX)
			say_gpu(p, names[i], gpus - 1);
	free(names);
	if (gpus)
		sample_meta_int(p->sample, "host.gpus_count", (int64_t)gpus);
	platform_facts(p, FACTS(driver_facts));
}

/* ---- Memory ---- */

/* The memory: how it is spread over NUMA nodes, huge pages, modules. */

#define NODE "devices/system/node/"
#define EDAC "devices/system/edac/mc/"
enum { ENTRIES = 64 };

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
