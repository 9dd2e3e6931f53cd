/* SPDX-License-Identifier: Apache-2.0 */
/* RAPL through the perf events of the PMU "power": arch/x86/events/rapl.c. The kernel reads the
 * counters in time, so that these never go round. They count from when they were opened. */
#include "base/text/decimal.h"
#include "base/text/number.h"
#include "source/cpulist.h"
#include "source/energy.h"
#include "source/sysfs.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PMU "bus/event_source/devices/power"

enum { MOST_WATTS = 10000 };

static const struct event_row {
	const char *event, *kind;
	bool aside, of_node;
} events[] = {
	{ "energy-pkg", "package", false, false }, { "energy-ram", "dram", false, false },
	{ "energy-cores", "core", true, false },   { "energy-gpu", "uncore", true, false },
	{ "energy-psys", "psys", true, true },
};

struct pmu {
	const struct root *sys;
	int64_t type;
	struct cpulist cpus; /* one of each package */
};

/* "event=0x02" of 8 bits. */
static bool read_config(const struct root *sys, const char *event, uint64_t *config)
{
	char path[96], text[64];
	char *end;

	snprintf(path, sizeof path, PMU "/events/%s", event);
	sysfs_line(sys, path, text, sizeof text);
	if (strncmp(text, "event=0x", 8) != 0)
		return false;
	*config = strtoull(text + 8, &end, 16);
	return end > text + 8 && !*end && *config <= UINT8_MAX;
}

static double read_scale(const struct root *sys, const char *event)
{
	char path[96], text[64];
	double scale;

	snprintf(path, sizeof path, PMU "/events/%s.scale", event);
	sysfs_line(sys, path, text, sizeof text);
	scale = decimal_parse(text, NULL);
	return scale > 0 && scale <= 1 ? scale : 0;
}

static int open_event(const struct pmu *p, uint64_t config, uint32_t cpu)
{
	struct perf_event_attr attr = { .type = (uint32_t)p->type,
					.size = sizeof attr,
					.config = config };
	long fd = syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int add_zone(struct energy *x, const struct pmu *p, const struct event_row *e, uint32_t cpu)
{
	char name[ZONE_NAME_SIZE], path[96];
	double scale = read_scale(p->sys, e->event);
	uint64_t config;
	int64_t package;
	struct zone *z;
	int fd;

	if (scale <= 0 || !read_config(p->sys, e->event, &config))
		return 0;
	snprintf(path, sizeof path,
		 "devices/system/cpu/cpu%" PRIu32 "/topology/physical_package_id", cpu);
	if (sysfs_read_number(p->sys, path, &package) < 0 || package < 0)
		package = cpu;
	fd = open_event(p, config, cpu);
	if (fd < 0)
		return fd;
	if (e->of_node)
		snprintf(name, sizeof name, "%s", e->kind);
	else
		snprintf(name, sizeof name, "package-%" PRId64 "%s%s", package,
			 e == events ? "" : "/", e == events ? "" : e->kind);
	z = energy_add(x, "perf", name);
	if (!z) {
		close(fd);
		return 0;
	}
	z->kind = e->kind;
	z->aside = e->aside;
	z->package = e->of_node ? -1 : package;
	z->form = ZONE_PERF;
	z->scale = scale;
	z->counter.most_per_s = (int64_t)MOST_WATTS * 1000000;
	z->fd = fd;
	return 0;
}

int energy_find_perf(struct energy *x, const struct root *sys)
{
	struct pmu p = { .sys = sys };
	char list[CPULIST_TEXT];
	int error = 0;

	if (sysfs_read_number(sys, PMU "/type", &p.type) < 0 || p.type < 0 || p.type > UINT32_MAX)
		return 0;
	sysfs_line(sys, PMU "/cpumask", list, sizeof list);
	cpulist_parse(&p.cpus, list);
	for (uint32_t cpu = cpulist_next(&p.cpus, 0); cpu < CPUS_MAX;
	     cpu = cpulist_next(&p.cpus, cpu + 1))
		for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
			int r = add_zone(x, &p, &events[i], cpu);

			error = error ? error : r;
		}
	return error;
}
