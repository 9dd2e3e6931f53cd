/* SPDX-License-Identifier: Apache-2.0 */
/* The files that tell of a machine, with hostile texts: what is before the first form feed is the
 * first file, and so on. What is said has a key and no more than its room. */
#include "source/platform/platform.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const files[] = {
	"proc/cpuinfo",
	"sys/devices/system/cpu/online",
	"sys/devices/system/cpu/cpu0/topology/thread_siblings_list",
	"sys/devices/system/cpu/cpu0/regs/identification/midr_el1",
	"sys/devices/system/cpu/cpu0/cache/index0/size",
	"sys/devices/system/node/online",
	"sys/devices/system/node/node0/meminfo",
	"sys/kernel/mm/transparent_hugepage/enabled",
	"proc/driver/nvidia/gpus/0000:01:00.0/information",
	"proc/cmdline",
	"proc/self/cgroup",
	"proc/self/uid_map",
	"files/etc/os-release",
};

static void write_file(const char *path, const uint8_t *data, size_t size)
{
	char folder[128];
	int fd;

	snprintf(folder, sizeof folder, "%s", path);
	for (char *slash = strchr(folder, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(folder, 0700);
		*slash = '/';
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

static void write_constant(const char *path, const char *text)
{
	write_file(path, (const uint8_t *)text, strlen(text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct root proc, sys, fs;
	struct platform p = { .proc = &proc, .sys = &sys, .files = &fs };
	struct sample s;

	write_constant("sys/devices/system/cpu/cpu0/cache/index0/level", "1\n");
	write_constant("sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n");
	write_constant("sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n");
	write_constant("sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n");
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		const uint8_t *feed = size ? memchr(data, '\f', size) : NULL;
		size_t n = feed ? (size_t)(feed - data) : size;

		write_file(files[i], data, n);
		data += n + (feed != NULL);
		size -= n + (feed != NULL);
	}
	if (sample_init(&s, 64, 4096) < 0 || root_open(&proc, "proc") < 0 ||
	    root_open(&sys, "sys") < 0 || root_open(&fs, "files") < 0)
		abort();
	p.sample = &s;
	platform_say(&p);
	for (uint32_t i = 0; i < s.nevents; i++)
		if (s.event[i].kind != EVENT_META || strncmp(s.event[i].name, "host.", 5) != 0 ||
		    (s.event[i].meta_type == META_TEXT &&
		     (!*s.event[i].text || strlen(s.event[i].text) >= 4096)))
			abort();
	root_close(&proc);
	root_close(&sys);
	root_close(&fs);
	sample_free(&s);
	return 0;
}
