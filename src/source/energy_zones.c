/* SPDX-License-Identifier: Apache-2.0 */
/* energy_zones.c - the ways by which counters of energy and meters of power are found. */
#include "base/clock.h"
#include "base/text/decimal.h"
#include "base/text/number.h"
#include "source/cpulist.h"
#include "source/energy.h"
#include "source/kept.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PATH_SIZE = 256 };

static bool is_known(const struct energy *x, const char *name)
{
	for (const struct zone *z = x->zone; z < x->zone + x->nzones; z++)
		if (strcmp(z->name, name) == 0)
			return true;
	return false;
}

static int open_zone(struct zone *z, const struct root *sys, const char *path)
{
	z->fd = root_file(sys, path);
	if (z->fd >= 0)
		return 0;
	z->error = z->fd;
	z->fd = 0;
	return z->error;
}

/* ---- RAPL by powercap ---- */

/*
 * Running average power limit (RAPL) of Intel and AMD: Documentation/power/powercap/powercap.rst.
 * What a package counts does not hold its DRAM and holds its core and uncore; psys holds all (Intel
 * SDM volume 3, section 16.10.1; the figure "RAPL domains").
 */

enum { DIRS_MAX = 256, CONSTRAINTS = 3 };
enum { ROOM_ABOVE_LIMIT = 2 }; /* peaks go beyond what is allowed for long */

static const struct domain {
	const char *prefix, *kind;
	bool aside;
	int64_t most_watts; /* where the machine tells no limit: twice what is sold */
} domains[] = {
	{ "package-", "package", false, 1000 }, { "dram", "dram", false, 200 },
	{ "core", "core", true, 1000 },         { "uncore", "uncore", true, 1000 },
	{ "psys", "psys", true, 2000 },         { "", "other", true, 1000 },
};

static const struct domain *domain_of(const char *name)
{
	const struct domain *d = domains;

	while (strncmp(name, d->prefix, strlen(d->prefix)) != 0)
		d++;
	return d;
}

static void read_text(const struct root *sys, const char *dir, const char *file, char *out,
		      size_t size)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof path, "class/powercap/%s/%s", dir, file);
	sysfs_line(sys, path, out, size);
}

static int64_t read_number(const struct root *sys, const char *dir, const char *file)
{
	char path[PATH_SIZE];
	int64_t v;

	snprintf(path, sizeof path, "class/powercap/%s/%s", dir, file);
	return sysfs_read_number(sys, path, &v) == 0 && v > 0 ? v : 0;
}

/* A counter that is wide (psys of servers counts in joules) was made for much. */
static int64_t most_microwatts(const struct root *sys, const char *dir, const struct domain *d,
			       int64_t range_uj)
{
	const int64_t wide = range_uj / (10 * 3600);
	static const char *const files[] = { "max_power_uw", "power_limit_uw" };
	int64_t most = 0;

	for (int i = 0; i < 2 * CONSTRAINTS; i++) {
		char file[64];
		int64_t v;

		snprintf(file, sizeof file, "constraint_%d_%s", i / 2, files[i % 2]);
		v = read_number(sys, dir, file);
		/* Firmware that sets no limit writes the largest number there is. */
		if (v > most && v <= 4 * d->most_watts * 1000000)
			most = v;
	}
	most = most ? most * ROOM_ABOVE_LIMIT : d->most_watts * 1000000;
	return most > wide ? most : wide;
}

/* "intel-rapl:0:1" is named after "intel-rapl:0": "package-0/dram". False when it is not a zone. */
static bool name_of(const struct root *sys, const char *dir, char out[ZONE_NAME_SIZE],
		    char own[ZONE_NAME_SIZE / 2])
{
	const char *first = strchr(dir, ':'), *second = first ? strchr(first + 1, ':') : NULL;
	char parent[64], above[ZONE_NAME_SIZE / 2] = "";

	if (!first)
		return false; /* the control type itself */
	read_text(sys, dir, "name", own, ZONE_NAME_SIZE / 2);
	if (second) {
		snprintf(parent, sizeof parent, "%.*s", (int)(second - dir), dir);
		read_text(sys, parent, "name", above, sizeof above);
	}
	snprintf(out, ZONE_NAME_SIZE, "%s%s%s", above, *above ? "/" : "", own);
	return *own;
}

static int add_powercap_zone(struct energy *x, const struct root *sys, const char *dir)
{
	char name[ZONE_NAME_SIZE], own[ZONE_NAME_SIZE / 2], path[PATH_SIZE];
	const struct domain *d;
	const char *number;
	struct zone *z;

	if (!name_of(sys, dir, name, own) || is_known(x, name))
		return 0;
	z = energy_add(x, "powercap", name);
	if (!z)
		return 0;
	d = domain_of(own);
	z->kind = d->kind;
	z->aside = d->aside;
	number = name + strlen("package-");
	if (strncmp(name, "package-", 8) != 0 || !number_i64(&number, &z->package) ||
	    z->package < 0)
		z->package = -1;
	z->counter.range = read_number(sys, dir, "max_energy_range_uj");
	z->counter.most_per_s = most_microwatts(sys, dir, d, z->counter.range);
	snprintf(path, sizeof path, "class/powercap/%s/energy_uj", dir);
	return open_zone(z, sys, path);
}

static bool begins(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* intel-rapl-mmio tells the same packages by another way: what the registers have told is not taken
 * twice. Other types (dtpm) are no measurement. */
int energy_find_powercap(struct energy *x, const struct root *sys)
{
	static const char *const types[] = { "intel-rapl:", "intel-rapl-mmio:" };
	struct sysfs_name *dir = calloc(DIRS_MAX, sizeof *dir);
	int n = dir ? sysfs_names(sys, "class/powercap", dir, DIRS_MAX) : -ENOMEM, error = 0;

	for (int i = 0; i < 2 * n; i++) {
		const char *name = dir[i % n].text;
		int r = begins(name, types[i / n]) ? add_powercap_zone(x, sys, name) : 0;

		error = error ? error : r;
	}
	free(dir);
	return error;
}

/* ---- RAPL by perf events ---- */

/* Through the perf events of the PMU "power": arch/x86/events/rapl.c. The kernel reads the
 * counters in time, so that these never go round. They count from when they were opened. */

#define PMU "bus/event_source/devices/power"

enum { PERF_MOST_WATTS = 10000 };

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

static int add_perf_zone(struct energy *x, const struct pmu *p, const struct event_row *e,
			 uint32_t cpu)
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
	z->counter.most_per_s = (int64_t)PERF_MOST_WATTS * 1000000;
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
			int r = add_perf_zone(x, &p, &events[i], cpu);

			error = error ? error : r;
		}
	return error;
}

/* ---- Meters of the board ---- */

/* The power management counters of HPE Cray EX nodes, and hwmon. */

enum { ENTRIES_MAX = 256, METER_MOST_WATTS = 20000 };

#define CRAY "cray/pm_counters"

/* "energy", "cpu_energy", "accel0_energy": what is before the word, "" for the node. */
static bool cray_part(const char *file, char out[ZONE_NAME_SIZE / 2])
{
	size_t n = strlen(file), word = strlen("energy");

	if (n < word || strcmp(file + n - word, "energy") != 0 || n - word >= ZONE_NAME_SIZE / 2 ||
	    (n > word && file[n - word - 1] != '_'))
		return false;
	snprintf(out, ZONE_NAME_SIZE / 2, "%.*s", n > word ? (int)(n - word - 1) : 0, file);
	return true;
}

static const char *cray_kind(const char *part)
{
	static const char *const kinds[] = { "cpu", "memory", "accel" };

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (strncmp(part, kinds[i], strlen(kinds[i])) == 0)
			return kinds[i];
	return *part ? "other" : "node";
}

int energy_find_cray(struct energy *x, const struct root *sys)
{
	struct sysfs_name *file = calloc(ENTRIES_MAX, sizeof *file);
	int n = file ? sysfs_names(sys, CRAY, file, ENTRIES_MAX) : -ENOMEM, error = 0;

	for (int i = 0; i < n; i++) {
		char part[ZONE_NAME_SIZE / 2], path[PATH_SIZE];
		struct zone *z;
		int r;

		if (!cray_part(file[i].text, part))
			continue;
		z = energy_add(x, "pm_counters", *part ? part : "node");
		if (!z)
			break;
		z->kind = cray_kind(part);
		z->aside = *part; /* the node holds them all */
		z->form = ZONE_JOULES;
		snprintf(path, sizeof path, CRAY "/%s", file[i].text);
		z->counter.most_per_s = (int64_t)METER_MOST_WATTS * 1000000;
		r = open_zone(z, sys, path);
		error = error ? error : r;
	}
	if (n > 0)
		x->freshness = root_file(sys, CRAY "/freshness");
	free(file);
	return error;
}

/* Brought up to date 10 times a second, by the blade's controller: an old number is no new value.
 */
bool energy_cray_is_fresh(struct energy *x)
{
	char text[64];
	const char *p = text;
	int64_t fresh;

	if (x->freshness <= 0 || file_reread(x->freshness, text, sizeof text) <= 0 ||
	    !number_i64(&p, &fresh))
		return true;
	if (fresh == x->fresh)
		return false;
	x->fresh = fresh;
	return true;
}

/* hwmon drivers whose power and energy is that of processors or of the node; adapters have theirs.
 */
static const char *const chips[] = {
	"power_meter", /* ACPI; on Grace one for each rail */
	"amd_energy",  "fam15h_power", "occ", "ibmpowernv", "scmi_sensors", "xgene",
};

static bool is_chip(const char *name)
{
	for (size_t i = 0; i < sizeof chips / sizeof chips[0]; i++)
		if (strcmp(chips[i], name) == 0)
			return true;
	return false;
}

/* power1_average, power1_input, energy12_input. An average is taken before an instant. */
static bool parse_input(const char *file, enum zone_form *form, int64_t *number)
{
	bool energy = strncmp(file, "energy", 6) == 0;
	const char *p = file + (energy ? 6 : 5);

	*form = energy ? ZONE_MICROJOULES : ZONE_MICROWATTS;
	return (energy || strncmp(file, "power", 5) == 0) && number_i64(&p, number) &&
	       *number > 0 && (strcmp(p, "_input") == 0 || (!energy && strcmp(p, "_average") == 0));
}

/* Grace: "Module Power Socket 0" holds "Grace Power Socket 0", which holds "CPU Power Socket 0". A
 * meter without a name is the node's. Of others nobody knows what they hold. */
static bool is_whole(const char *label)
{
	return !*label || strncmp(label, "Module", 6) == 0 || strncmp(label, "Esocket", 7) == 0 ||
	       strcasecmp(label, "System") == 0;
}

struct meter {
	const struct root *sys;
	const char *chip;
	char dir[96];
	int64_t hwmon; /* its number */
	int64_t last;  /* number of the last power meter */
};

static void label_of(const struct meter *m, enum zone_form form, int64_t number,
		     char out[ZONE_NAME_SIZE / 2])
{
	char path[PATH_SIZE];

	snprintf(path, sizeof path, "%s/%s%" PRId64 "_label", m->dir,
		 form == ZONE_MICROJOULES ? "energy" : "power", number);
	sysfs_line(m->sys, path, out, ZONE_NAME_SIZE / 2);
	snprintf(path, sizeof path, "%s/power%" PRId64 "_oem_info", m->dir, number);
	if (!*out)
		sysfs_line(m->sys, path, out, ZONE_NAME_SIZE / 2);
	for (size_t n = strlen(out); n && out[n - 1] == ' '; n--)
		out[n - 1] = '\0'; /* "Chip 0 " */
}

static int add_meter(struct energy *x, struct meter *m, const char *file)
{
	char label[ZONE_NAME_SIZE / 2], path[PATH_SIZE], name[ZONE_NAME_SIZE];
	enum zone_form form;
	int64_t number;
	struct zone *z;

	/* Files are sorted: an average comes before the instant of the same meter. */
	if (!parse_input(file, &form, &number) || (form == ZONE_MICROWATTS && number == m->last))
		return 0;
	label_of(m, form, number, label);
	snprintf(name, sizeof name, "%s", label);
	if (!*label)
		snprintf(name, sizeof name, "%s.%" PRId64 ".%" PRId64, m->chip, m->hwmon, number);
	if (is_known(x, name)) /* POWER: the energy and the power of one meter */
		snprintf(name, sizeof name, "%s%s%s.%" PRId64 ".%.*s", label, *label ? " " : "",
			 m->chip, m->hwmon, (int)strcspn(file, "_"), file);
	z = energy_add(x, "hwmon", name);
	if (!z)
		return 0;
	if (form == ZONE_MICROWATTS)
		m->last = number;
	z->kind = "meter";
	z->aside = !is_whole(label);
	z->form = form;
	snprintf(path, sizeof path, "%s/%s", m->dir, file);
	z->counter.most_per_s = (int64_t)METER_MOST_WATTS * 1000000;
	return open_zone(z, m->sys, path);
}

static int add_chip(struct energy *x, struct meter *m, struct sysfs_name *file)
{
	char path[PATH_SIZE], chip[ZONE_NAME_SIZE / 2];
	int n, error = 0;

	snprintf(path, sizeof path, "%s/name", m->dir);
	sysfs_line(m->sys, path, chip, sizeof chip);
	if (!is_chip(chip))
		return 0;
	m->chip = chip;
	n = sysfs_names(m->sys, m->dir, file, ENTRIES_MAX);
	for (int i = 0; i < n; i++) {
		int r = add_meter(x, m, file[i].text);

		error = error ? error : r;
	}
	return error;
}

int energy_find_hwmon(struct energy *x, const struct root *sys)
{
	static const char *const below[] = { "", "/device" }; /* acpi_power_meter has it there */
	struct sysfs_name *dir = calloc(2 * ENTRIES_MAX, sizeof *dir);
	int n = dir ? sysfs_names(sys, "class/hwmon", dir, ENTRIES_MAX) : -ENOMEM, error = 0;

	for (int i = 0; i < 2 * n; i++) {
		struct meter m = { .sys = sys };
		const char *number = dir[i / 2].text + strlen("hwmon");
		int r;

		if (strncmp(dir[i / 2].text, "hwmon", 5) != 0 || !number_i64(&number, &m.hwmon))
			continue;
		snprintf(m.dir, sizeof m.dir, "class/hwmon/%s%s", dir[i / 2].text, below[i % 2]);
		r = add_chip(x, &m, dir + ENTRIES_MAX);
		error = error ? error : r;
	}
	free(dir);
	return error;
}
