/* SPDX-License-Identifier: Apache-2.0 */
/* thermal.c - temperature of processors (hwmon, else thermal zones) and thermal throttling of whole
 * packages. */
#include "source/thermal.h"
#include "base/clock.h"
#include "source/cpulist.h"
#include "source/period.h"
#include "source/source.h"
#include "source/sysfs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SENSORS_MAX = 4096, PACKAGES_MAX = 64, FILES_PER_S = 16 };
static const int64_t PERIOD_MAX_NS = 10 * NS_PER_S;

#define PACKAGE .domain = "package", .kind = KIND_COUNTER

const struct metric thermal_metrics[] = {
	[THERMAL_TEMPERATURE] = { "sensor.temperature_celsius", .domain = "sensor",
				  .kind = KIND_GAUGE, .unit = UNIT_CELSIUS, .mul = 1, .div = 1000,
				  .over_instances = COMBINE_MAX, .over_nodes = COMBINE_MAX,
				  .label = "Temperature",
				  .help = "Temperature of the processor, package or core that the sensor is "
					  "in, read every 1 to 10 s." },
	[THERMAL_PACKAGE_THROTTLES] = { "package.throttles", PACKAGE, .unit = UNIT_COUNT,
					.over_instances = COMBINE_SUM, .over_nodes = COMBINE_SUM,
					.label = "Package throttled",
					.help = "Times all cores of the package were slowed down because it "
						"was too hot." },
	[THERMAL_PACKAGE_THROTTLED] = { "package.throttled_seconds", PACKAGE,
					.unit = UNIT_ELAPSED_SECONDS, .mul = 1, .div = 1000,
					.over_instances = COMBINE_MAX, .over_nodes = COMBINE_MAX,
					.label = "Time package throttled",
					.help = "Time in which all cores of the package were slowed down "
						"because it was too hot." },
};
_Static_assert(sizeof thermal_metrics / sizeof thermal_metrics[0] == THERMAL_METRICS,
	       "a row for every index");

struct thermal {
	struct sensors sensors;
	struct period period;
	int64_t period_ns;
};

void sensors_add(struct sensors *x, const char *path, uint32_t slot, bool is_temperature)
{
	struct sensor *more;

	if (!slot || x->n == SENSORS_MAX)
		return;
	more = reallocarray(x->row, x->n + 1, sizeof *more);
	if (!more)
		return;
	x->row = more;
	more = &more[x->n++];
	*more = (struct sensor){ .slot = slot, .is_temperature = is_temperature };
	snprintf(more->path, sizeof more->path, "%s", path);
}

void thermal_label_number(struct sample *s, uint32_t instance, const char *key, int64_t v)
{
	char text[24];

	snprintf(text, sizeof text, "%" PRId64, v);
	sample_label(s, instance, key, text);
}

static void tell_package(struct sensors *x, struct sample *s, int64_t package, uint32_t cpu)
{
	static const char *const files[] = { "count", "total_time_ms" };
	uint32_t instance, slot;
	char text[THERMAL_PATH_SIZE];

	snprintf(text, sizeof text, "package%" PRId64, package);
	instance = sample_instance(s, "package", text, 0, clock_mono_ns(), 0);
	thermal_label_number(s, instance, "package", package);
	slot = instance ? sample_series(s, &thermal_metrics[THERMAL_PACKAGE_THROTTLES], 2, instance)
			: 0;
	for (uint32_t i = 0; slot && i < 2; i++) {
		snprintf(text, sizeof text,
			 "devices/system/cpu/cpu%" PRIu32 "/thermal_throttle/package_throttle_%s",
			 cpu, files[i]);
		if (sysfs_exists(x->sys, text))
			sensors_add(x, text, slot + i, false);
		else
			sample_refuse(s, slot + i, STATE_UNSUPPORTED,
				      "this kernel does not count it");
	}
}

/* Every core of a package counts for it: the first is asked. */
static void find_packages(struct sensors *x, struct sample *s)
{
	int64_t known[PACKAGES_MAX];
	int nknown = 0;
	char list[CPULIST_TEXT], path[THERMAL_PATH_SIZE];
	struct cpulist online;

	sysfs_line(x->sys, "devices/system/cpu/online", list, sizeof list);
	cpulist_parse(&online, list);
	snprintf(path, sizeof path,
		 "devices/system/cpu/cpu%" PRIu32 "/thermal_throttle/package_throttle_count",
		 cpulist_next(&online, 0));
	if (!sysfs_exists(x->sys, path))
		return;
	for (uint32_t cpu = cpulist_next(&online, 0); cpu < CPUS_MAX && nknown < PACKAGES_MAX;
	     cpu = cpulist_next(&online, cpu + 1)) {
		int64_t package;
		int i = 0;

		snprintf(path, sizeof path,
			 "devices/system/cpu/cpu%" PRIu32 "/topology/physical_package_id", cpu);
		if (sysfs_read_number(x->sys, path, &package) < 0 || package < 0)
			continue;
		while (i < nknown && known[i] != package)
			i++;
		if (i < nknown)
			continue;
		known[nknown++] = package;
		tell_package(x, s, package, cpu);
	}
}

static void thermal_close(void *state)
{
	struct thermal *t = state;

	free(t->sensors.row);
	t->sensors = (struct sensors){ 0 };
}

static int thermal_open(void *state, const struct source_env *env, struct sample *s, struct err *e)
{
	struct thermal *t = state;

	t->sensors.sys = &env->sys;
	if (sensors_find_temperatures(&t->sensors, s) < 0)
		return err_set(e, -ENOMEM, "there is no memory for a list of sensors");
	find_packages(&t->sensors, s);
	if (!t->sensors.n)
		return err_set(e, -ENODEV, "%s/class/hwmon: no processor sensor that Sonde knows",
			       env->sys.path);
	t->period_ns = t->sensors.n * NS_PER_S / FILES_PER_S;
	if (t->period_ns < NS_PER_S)
		t->period_ns = NS_PER_S;
	if (t->period_ns > PERIOD_MAX_NS)
		t->period_ns = PERIOD_MAX_NS;
	return 0;
}

/* What is far from any processor is a sensor that does not work. */
static bool is_believable(const struct sensor *x, int64_t v)
{
	return x->is_temperature ? v > -60000 && v < 200000 : v >= 0;
}

static int thermal_read(void *state, struct sample *s)
{
	struct thermal *t = state;

	if (!period_is_due(&t->period, s, t->period_ns))
		return 0;
	for (struct sensor *x = t->sensors.row; x < t->sensors.row + t->sensors.n; x++) {
		int64_t v;
		int r = sysfs_read_number(t->sensors.sys, x->path, &v);

		if (r == 0 && !is_believable(x, v))
			r = -ERANGE;
		sysfs_put_state(s, x->slot, &x->told, r);
		if (r == 0)
			sample_put(s, x->slot, v);
	}
	return 0;
}

const struct source source_thermal = {
	.name = "thermal",
	.what = "temperature of processors, and thermal throttling of packages",
	.fix_admin = "load the driver of the processor's sensors (coretemp, k10temp)",
	SOURCE_METRICS(thermal_metrics),
	.size = sizeof(struct thermal),
	.open = thermal_open,
	.read = thermal_read,
	.close = thermal_close,
};
