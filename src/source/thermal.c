/* SPDX-License-Identifier: Apache-2.0 */
/* thermal.c - temperature of processors (hwmon, else thermal zones) and thermal throttling of whole
 * packages. */
#include "base/clock.h"
#include "base/root.h"
#include "base/text/number.h"
#include "core/sample.h"
#include "source/cpulist.h"
#include "source/kept.h"
#include "source/period.h"
#include "source/source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THERMAL_PATH_SIZE = 128 };

enum thermal_metric {
	THERMAL_TEMPERATURE,
	THERMAL_PACKAGE_THROTTLES,
	THERMAL_PACKAGE_THROTTLED,
	THERMAL_METRICS
};

/* A file each, of a temperature or of a package's throttling. */
struct sensor {
	char path[THERMAL_PATH_SIZE];
	uint32_t slot;
	bool is_temperature;
	int told; /* why it gives nothing: sysfs_put_state */
};

struct sensors {
	const struct root *sys;
	struct sensor *row; /* allocated */
	uint32_t n;
};

enum { SENSORS_MAX = 4096, PACKAGES_MAX = 64, FILES_PER_S = 16 };
static const int64_t PERIOD_MAX_NS = 10 * NS_PER_S;

#define PACKAGE .domain = "package", .kind = KIND_COUNTER

static const struct metric thermal_metrics[] = {
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

/* slot 0: nothing is added. */
static void sensors_add(struct sensors *x, const char *path, uint32_t slot, bool is_temperature)
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

static void label_number(struct sample *s, uint32_t instance, const char *key, int64_t v)
{
	char text[24];

	snprintf(text, sizeof text, "%" PRId64, v);
	sample_label(s, instance, key, text);
}

/* ---- Sensors ---- */

/* Which sensors are in processors, and what they are called. Only those that are read in
 * microseconds: not those of disks, ACPI and adapters. */

enum { ENTRIES_MAX = 1024, LABEL_SIZE = 64 };

struct chip {
	char dir[64], name[LABEL_SIZE];
	int64_t number;  /* among those of its name: the package when the chip says it */
	int64_t package; /* -1: not known */
};

struct input {
	int64_t number; /* 12 of temp12_input */
	char label[LABEL_SIZE];
	char which[32]; /* tells it from others of the same label; "" where there are none */
	bool aside;
};

/* "Package id 0": 0. */
static bool number_behind(const char *label, const char *words, int64_t *out)
{
	const char *p = label + strlen(words);

	return strncmp(label, words, strlen(words)) == 0 && number_i64(&p, out) && !*p && *out >= 0;
}

static void tell(struct sensors *x, struct sample *s, const struct chip *c, const struct input *in,
		 const char *path)
{
	char name[2 * LABEL_SIZE + 64];
	uint32_t instance;
	int64_t core;

	snprintf(name, sizeof name, "%s.%" PRId64 "%s%s%s%s", c->name, c->number,
		 *in->label ? " " : "", in->label, *in->which ? " " : "", in->which);
	instance = sample_instance(s, thermal_metrics[THERMAL_TEMPERATURE].domain, name, 0,
				   clock_mono_ns(), in->aside ? INSTANCE_ASIDE : 0);
	sample_label(s, instance, "chip", c->name);
	if (c->package >= 0)
		label_number(s, instance, "package", c->package);
	if (number_behind(in->label, "Core ", &core))
		label_number(s, instance, "core", core);
	if (instance)
		sensors_add(x, path,
			    sample_series(s, &thermal_metrics[THERMAL_TEMPERATURE], 1, instance),
			    true);
}

/* temp12_input: 12. */
static bool is_input(const char *name, int64_t *number)
{
	const char *p = name + strlen("temp");

	return strncmp(name, "temp", 4) == 0 && number_i64(&p, number) && *number >= 0 &&
	       strcmp(p, "_input") == 0;
}

struct lists {
	struct sysfs_name dir[ENTRIES_MAX], file[ENTRIES_MAX];
	struct input input[ENTRIES_MAX]; /* of a chip */
	int ninputs;
};

static void find_inputs(const struct root *sys, const struct chip *c, struct lists *l)
{
	int n = sysfs_names(sys, c->dir, l->file, ENTRIES_MAX);

	l->ninputs = 0;
	for (int i = 0; i < n; i++) {
		struct input *in = &l->input[l->ninputs];
		char path[THERMAL_PATH_SIZE];

		*in = (struct input){ 0 };
		if (!is_input(l->file[i].text, &in->number))
			continue;
		snprintf(path, sizeof path, "%s/temp%" PRId64 "_label", c->dir, in->number);
		sysfs_line(sys, path, in->label, sizeof in->label);
		l->ninputs++;
	}
}

static int count_label(const struct lists *l, const char *label)
{
	int n = 0;

	for (int i = 0; i < l->ninputs; i++)
		n += strcmp(l->input[i].label, label) == 0;
	return n;
}

/* Processors of AMD do not say which package they are; the node of memory that the chip is at does,
 * where all CPUs of that node are of one. */
static int64_t package_of_numa(const struct root *sys, const struct chip *c)
{
	char path[THERMAL_PATH_SIZE], list[CPULIST_TEXT];
	struct cpulist cpus;
	int64_t node, package = -1, v;

	snprintf(path, sizeof path, "%s/device/numa_node", c->dir);
	if (sysfs_read_number(sys, path, &node) < 0 || node < 0)
		snprintf(path, sizeof path, "devices/system/cpu/online");
	else
		snprintf(path, sizeof path, "devices/system/node/node%" PRId64 "/cpulist", node);
	sysfs_line(sys, path, list, sizeof list);
	cpulist_parse(&cpus, list);
	for (uint32_t cpu = cpulist_next(&cpus, 0); cpu < CPUS_MAX;
	     cpu = cpulist_next(&cpus, cpu + 1)) {
		snprintf(path, sizeof path,
			 "devices/system/cpu/cpu%" PRIu32 "/topology/physical_package_id", cpu);
		if (sysfs_read_number(sys, path, &v) < 0 || (package >= 0 && package != v))
			return -1;
		package = v;
	}
	return package;
}

static void find_package(const struct root *sys, struct chip *c, const struct lists *l)
{
	for (int i = 0; i < l->ninputs; i++)
		if (number_behind(l->input[i].label, "Package id ", &c->number) ||
		    number_behind(l->input[i].label, "Physical id ", &c->number))
			c->package = c->number;
	if (c->package < 0 && (count_label(l, "Tctl") || count_label(l, "Tdie")))
		c->package = package_of_numa(sys, c);
}

/* Tctl is what fans are driven by, up to 27 degrees above Tdie where a chip has both:
 * Documentation/hwmon/k10temp.rst. Dies of one package may have the same labels. */
static bool tell_chip(struct sensors *x, struct sample *s, struct chip *c, struct lists *l)
{
	find_inputs(x->sys, c, l);
	find_package(x->sys, c, l);
	for (struct input *in = l->input; in < l->input + l->ninputs; in++) {
		char path[THERMAL_PATH_SIZE];

		in->aside = strcmp(in->label, "Tctl") == 0 && count_label(l, "Tdie");
		if (count_label(l, in->label) > 1)
			snprintf(in->which, sizeof in->which, "temp%" PRId64, in->number);
		snprintf(path, sizeof path, "%s/temp%" PRId64 "_input", c->dir, in->number);
		tell(x, s, c, in, path);
	}
	return l->ninputs;
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

static void find_chips(struct sensors *x, struct sample *s, struct lists *l)
{
	static const char *const below[] = { "", "/device" }; /* the latter before Linux 3.13 */
	int n = sysfs_names(x->sys, "class/hwmon", l->dir, ENTRIES_MAX);
	int64_t count[NCHIPS] = { 0 };

	for (int i = 0; i < 2 * n; i++) {
		struct chip c = { .package = -1 };
		char path[THERMAL_PATH_SIZE + sizeof(struct sysfs_name)];
		size_t which;

		snprintf(path, sizeof path, "class/hwmon/%s%s/name", l->dir[i / 2].text,
			 below[i % 2]);
		sysfs_line(x->sys, path, c.name, sizeof c.name);
		which = chip_of(c.name);
		if (which == NCHIPS ||
		    snprintf(c.dir, sizeof c.dir, "class/hwmon/%s%s", l->dir[i / 2].text,
			     below[i % 2]) >= (int)sizeof c.dir)
			continue;
		c.number = count[which];
		if (tell_chip(x, s, &c, l))
			count[which]++;
	}
}

/* Where no chip tells it. x86_pkg_temp is what coretemp says of its package. */
static void find_zones(struct sensors *x, struct sample *s, struct lists *l)
{
	int n = sysfs_names(x->sys, "class/thermal", l->dir, ENTRIES_MAX);

	for (int i = 0; i < n; i++) {
		struct chip c = { .package = -1 };
		const char *number = l->dir[i].text + strlen("thermal_zone");
		char path[THERMAL_PATH_SIZE + sizeof(struct sysfs_name)];

		if (strncmp(l->dir[i].text, "thermal_zone", strlen("thermal_zone")) != 0 ||
		    !number_i64(&number, &c.number))
			continue;
		snprintf(path, sizeof path, "class/thermal/%s/type", l->dir[i].text);
		sysfs_line(x->sys, path, c.name, sizeof c.name);
		if (strcmp(c.name, "x86_pkg_temp") != 0 && strncmp(c.name, "cpu", 3) != 0)
			continue;
		snprintf(path, sizeof path, "class/thermal/%s/temp", l->dir[i].text);
		tell(x, s, &c, &(struct input){ 0 }, path);
	}
}

/* Those of processors' temperatures: of hwmon, else of thermal zones. 0 or -ENOMEM. */
static int sensors_find_temperatures(struct sensors *x, struct sample *s)
{
	struct lists *l = calloc(1, sizeof *l);

	if (!l)
		return -ENOMEM;
	find_chips(x, s, l);
	if (!x->n)
		find_zones(x, s, l);
	free(l);
	return 0;
}

/* ---- Source ---- */

static void tell_package(struct sensors *x, struct sample *s, int64_t package, uint32_t cpu)
{
	static const char *const files[] = { "count", "total_time_ms" };
	uint32_t instance, slot;
	char text[THERMAL_PATH_SIZE];

	snprintf(text, sizeof text, "package%" PRId64, package);
	instance = sample_instance(s, "package", text, 0, clock_mono_ns(), 0);
	label_number(s, instance, "package", package);
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
	.can_wait = source_can_wait,
	.open = thermal_open,
	.read = thermal_read,
	.close = thermal_close,
};
