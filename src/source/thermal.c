/* SPDX-License-Identifier: Apache-2.0 */
/* thermal.c - temperature of processors (hwmon, else thermal zones) and thermal throttling of whole
 * packages. Only sensors that are read in microseconds: not those of disks, ACPI and adapters. */
#include "base/clock.h"
#include "base/number.h"
#include "source/period.h"
#include "source/source.h"
#include "source/sysfs.h"
#include "source/topology.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SENSORS_MAX = 4096, ENTRIES_MAX = 1024, PACKAGES_MAX = 64, PATH_SIZE = 128 };
enum { FILES_PER_S = 16, LABEL_SIZE = 64 };
static const int64_t PERIOD_MAX_NS = 10 * NS_PER_S;

enum { TEMPERATURE, PACKAGE_THROTTLES, PACKAGE_THROTTLED, METRICS_NUMBER_OF };

#define PACKAGE .domain = "package", .kind = KIND_COUNTER

static const struct metric metrics[] = {
	[TEMPERATURE] = { "sensor.temperature_celsius", .domain = "sensor", .kind = KIND_GAUGE,
			  .unit = UNIT_CELSIUS, .mul = 1, .div = 1000,
			  .over_instances = COMBINE_MAX, .over_nodes = COMBINE_MAX,
			  .label = "Temperature",
			  .help = "Temperature of the processor, package or core that the sensor is "
				  "in, read every 1 to 10 s." },
	[PACKAGE_THROTTLES] = { "package.throttles", PACKAGE, .unit = UNIT_COUNT,
				.over_instances = COMBINE_SUM, .over_nodes = COMBINE_SUM,
				.label = "Package throttled",
				.help = "Times all cores of the package were slowed down because it "
					"was too hot." },
	[PACKAGE_THROTTLED] = { "package.throttled_seconds", PACKAGE, .unit = UNIT_ELAPSED_SECONDS,
				.mul = 1, .div = 1000, .over_instances = COMBINE_MAX,
				.over_nodes = COMBINE_MAX, .label = "Time package throttled",
				.help = "Time in which all cores of the package were slowed down "
					"because it was too hot." },
};
_Static_assert(sizeof metrics / sizeof metrics[0] == METRICS_NUMBER_OF, "a row for every index");

/* One file: of a temperature, or of a row of a package. */
struct sensor {
	char path[PATH_SIZE];
	uint32_t slot;
	bool is_temperature;
};

struct thermal {
	const struct root *sys;
	struct sensor *sensor;
	uint32_t nsensors;
	struct period period;
	int64_t period_ns;
};

static void add(struct thermal *t, const char *path, uint32_t slot, bool is_temperature)
{
	struct sensor *more;

	if (!slot || t->nsensors == SENSORS_MAX)
		return;
	more = reallocarray(t->sensor, t->nsensors + 1, sizeof *more);
	if (!more)
		return;
	t->sensor = more;
	more = &more[t->nsensors++];
	*more = (struct sensor){ .slot = slot, .is_temperature = is_temperature };
	snprintf(more->path, sizeof more->path, "%s", path);
}

struct chip {
	char dir[64], name[LABEL_SIZE];
	int64_t number; /* among those of its name: the package when the chip says it */
	bool is_package;
};

static void label_number(struct sample *s, uint32_t instance, const char *key, int64_t v)
{
	char text[24];

	snprintf(text, sizeof text, "%" PRId64, v);
	sample_label(s, instance, key, text);
}

/* "Package id 0": 0. */
static bool number_behind(const char *label, const char *words, int64_t *out)
{
	const char *p = label + strlen(words);

	return strncmp(label, words, strlen(words)) == 0 && number_i64(&p, out) && !*p && *out >= 0;
}

static void tell(struct thermal *t, struct sample *s, const struct chip *c, const char *path,
		 const char *label)
{
	char name[2 * LABEL_SIZE + 32];
	uint32_t instance;
	int64_t core;

	snprintf(name, sizeof name, "%s.%" PRId64 "%s%s", c->name, c->number, *label ? " " : "",
		 label);
	instance = sample_instance(s, metrics[TEMPERATURE].domain, name, 0, clock_mono_ns(), 0);
	sample_label(s, instance, "chip", c->name);
	if (c->is_package)
		label_number(s, instance, "package", c->number);
	if (number_behind(label, "Core ", &core))
		label_number(s, instance, "core", core);
	if (instance)
		add(t, path, sample_series(s, &metrics[TEMPERATURE], 1, instance), true);
}

/* temp12_input: 12. */
static bool is_input(const char *name, int64_t *number)
{
	const char *p = name + strlen("temp");

	return strncmp(name, "temp", 4) == 0 && number_i64(&p, number) && *number >= 0 &&
	       strcmp(p, "_input") == 0;
}

static void label_of(const struct root *sys, const struct chip *c, int64_t number,
		     char out[LABEL_SIZE])
{
	char path[PATH_SIZE];

	snprintf(path, sizeof path, "%s/temp%" PRId64 "_label", c->dir, number);
	sysfs_line(sys, path, out, LABEL_SIZE);
}

struct lists {
	struct sysfs_name dir[ENTRIES_MAX], file[ENTRIES_MAX];
};

static bool tell_chip(struct thermal *t, struct sample *s, struct chip *c, struct lists *l)
{
	int n = sysfs_names(t->sys, c->dir, l->file, ENTRIES_MAX);
	char label[LABEL_SIZE], path[PATH_SIZE + sizeof(struct sysfs_name)];
	bool any = false;
	int64_t number;

	for (int i = 0; i < n; i++) {
		if (!is_input(l->file[i].text, &number))
			continue;
		label_of(t->sys, c, number, label);
		if (number_behind(label, "Package id ", &c->number) ||
		    number_behind(label, "Physical id ", &c->number))
			c->is_package = true;
	}
	for (int i = 0; i < n; i++) {
		if (!is_input(l->file[i].text, &number))
			continue;
		label_of(t->sys, c, number, label);
		snprintf(path, sizeof path, "%s/%s", c->dir, l->file[i].text);
		tell(t, s, c, path, label);
		any = true;
	}
	return any;
}

/* Drivers of sensors inside processors that are registers, not questions to firmware or a bus. */
static const char *const chips[] = { "coretemp", "k10temp",     "k8temp",
				     "zenpower", "via_cputemp", "cpu_thermal" };
enum { NCHIPS = sizeof chips / sizeof chips[0] };

static size_t chip_of(const char *name)
{
	size_t i = 0;

	while (i < NCHIPS && strcmp(chips[i], name) != 0)
		i++;
	return i;
}

static void find_chips(struct thermal *t, struct sample *s, struct lists *l)
{
	static const char *const below[] = { "", "/device" }; /* the latter before Linux 3.13 */
	int n = sysfs_names(t->sys, "class/hwmon", l->dir, ENTRIES_MAX);
	int64_t count[NCHIPS] = { 0 };

	for (int i = 0; i < 2 * n; i++) {
		struct chip c = { .number = 0 };
		char path[PATH_SIZE + sizeof(struct sysfs_name)];
		size_t which;

		snprintf(path, sizeof path, "class/hwmon/%s%s/name", l->dir[i / 2].text,
			 below[i % 2]);
		sysfs_line(t->sys, path, c.name, sizeof c.name);
		which = chip_of(c.name);
		if (which == NCHIPS ||
		    snprintf(c.dir, sizeof c.dir, "class/hwmon/%s%s", l->dir[i / 2].text,
			     below[i % 2]) >= (int)sizeof c.dir)
			continue;
		c.number = count[which];
		if (tell_chip(t, s, &c, l))
			count[which]++;
	}
}

/* Where no chip tells it. x86_pkg_temp is what coretemp says of its package. */
static void find_zones(struct thermal *t, struct sample *s, struct lists *l)
{
	int n = sysfs_names(t->sys, "class/thermal", l->dir, ENTRIES_MAX);

	for (int i = 0; i < n; i++) {
		struct chip c = { .number = 0 };
		const char *number = l->dir[i].text + strlen("thermal_zone");
		char path[PATH_SIZE + sizeof(struct sysfs_name)];

		if (strncmp(l->dir[i].text, "thermal_zone", strlen("thermal_zone")) != 0 ||
		    !number_i64(&number, &c.number))
			continue;
		snprintf(path, sizeof path, "class/thermal/%s/type", l->dir[i].text);
		sysfs_line(t->sys, path, c.name, sizeof c.name);
		if (strcmp(c.name, "x86_pkg_temp") != 0 && strncmp(c.name, "cpu", 3) != 0)
			continue;
		snprintf(path, sizeof path, "class/thermal/%s/temp", l->dir[i].text);
		tell(t, s, &c, path, "");
	}
}

static void tell_package(struct thermal *t, struct sample *s, int64_t package, uint32_t cpu)
{
	static const char *const files[] = { "count", "total_time_ms" };
	uint32_t instance, slot;
	char text[PATH_SIZE];

	snprintf(text, sizeof text, "package%" PRId64, package);
	instance = sample_instance(s, "package", text, 0, clock_mono_ns(), 0);
	label_number(s, instance, "package", package);
	slot = instance ? sample_series(s, &metrics[PACKAGE_THROTTLES], 2, instance) : 0;
	for (uint32_t i = 0; slot && i < 2; i++) {
		snprintf(text, sizeof text,
			 "devices/system/cpu/cpu%" PRIu32 "/thermal_throttle/package_throttle_%s",
			 cpu, files[i]);
		if (sysfs_exists(t->sys, text))
			add(t, text, slot + i, false);
		else
			sample_refuse(s, slot + i, STATE_UNSUPPORTED,
				      "this kernel does not count it");
	}
}

/* Every core of a package counts for it: the first is asked. */
static void find_packages(struct thermal *t, struct sample *s)
{
	int64_t known[PACKAGES_MAX];
	int nknown = 0;
	char list[4096], path[PATH_SIZE];
	struct cpulist online;

	if (!sysfs_exists(t->sys,
			  "devices/system/cpu/cpu0/thermal_throttle/package_throttle_count"))
		return;
	sysfs_line(t->sys, "devices/system/cpu/online", list, sizeof list);
	cpulist_parse(&online, list);
	for (uint32_t cpu = cpulist_next(&online, 0); cpu < CPUS_MAX && nknown < PACKAGES_MAX;
	     cpu = cpulist_next(&online, cpu + 1)) {
		int64_t package;
		int i = 0;

		snprintf(path, sizeof path,
			 "devices/system/cpu/cpu%" PRIu32 "/topology/physical_package_id", cpu);
		if (!sysfs_number(t->sys, path, &package) || package < 0)
			continue;
		while (i < nknown && known[i] != package)
			i++;
		if (i < nknown)
			continue;
		known[nknown++] = package;
		tell_package(t, s, package, cpu);
	}
}

static void thermal_close(void *state)
{
	struct thermal *t = state;

	free(t->sensor);
	t->sensor = NULL;
}

static int thermal_open(void *state, const struct source_env *env, struct sample *s, struct err *e)
{
	struct thermal *t = state;
	struct lists *l = calloc(1, sizeof *l);

	if (!l)
		return err_set(e, -ENOMEM, "there is no memory for a list of sensors");
	t->sys = &env->sys;
	find_chips(t, s, l);
	if (!t->nsensors)
		find_zones(t, s, l);
	free(l);
	find_packages(t, s);
	if (!t->nsensors)
		return err_set(e, -ENODEV,
			       "%s/class/hwmon: no sensor of a processor that this program knows",
			       env->sys.path);
	t->period_ns = t->nsensors * NS_PER_S / FILES_PER_S;
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
	int64_t v;

	if (!period_is_due(&t->period, s, t->period_ns))
		return 0;
	for (const struct sensor *x = t->sensor; x < t->sensor + t->nsensors; x++)
		if (sysfs_number(t->sys, x->path, &v) && is_believable(x, v))
			sample_put(s, x->slot, v);
	return 0;
}

const struct source source_thermal = {
	.name = "thermal",
	.what = "temperature of processors, and thermal throttling of packages",
	.fix_admin = "load the driver of the processor's sensors (coretemp, k10temp)",
	SOURCE_METRICS(metrics),
	.size = sizeof(struct thermal),
	.open = thermal_open,
	.read = thermal_read,
	.close = thermal_close,
};
