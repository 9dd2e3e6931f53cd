/* SPDX-License-Identifier: Apache-2.0 */
/* platform_devices.c - disks, network interfaces, InfiniBand adapters: those with hardware behind
 * them. */
#include "base/reserve.h"
#include "source/platform/platform_part.h"
#include "source/sysfs.h"

#include <stdio.h>
#include <string.h>

#define FACTS(array) array, sizeof(array) / sizeof((array)[0])

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
