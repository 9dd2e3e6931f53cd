/* SPDX-License-Identifier: Apache-2.0 */
/* platform_gpu.c - the GPUs and accelerators on the PCI bus, whether or not a library for them is
 * there. */
#include "source/platform/platform_part.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FACTS(array) array, sizeof(array) / sizeof((array)[0])

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
