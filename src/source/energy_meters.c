/* SPDX-License-Identifier: Apache-2.0 */
/* Meters of the board: the power management counters of HPE Cray EX nodes, and hwmon. */
#include "base/clock.h"
#include "base/text/number.h"
#include "source/energy.h"
#include "source/sysfs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES_MAX = 256, PATH_SIZE = 256, MOST_WATTS = 20000 };

#define CRAY "cray/pm_counters"

static int open_zone(struct zone *z, const struct root *sys, const char *path)
{
	z->counter.most_per_s = (int64_t)MOST_WATTS * 1000000;
	z->fd = root_file(sys, path);
	if (z->fd >= 0)
		return 0;
	z->error = z->fd;
	z->fd = 0;
	return z->error;
}

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

static bool is_known(const struct energy *x, const char *name)
{
	for (const struct zone *z = x->zone; z < x->zone + x->nzones; z++)
		if (strcmp(z->name, name) == 0)
			return true;
	return false;
}

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
