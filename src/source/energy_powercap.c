/* SPDX-License-Identifier: Apache-2.0 */
/* Running average power limit (RAPL) of Intel and AMD: Documentation/power/powercap/powercap.rst.
 * What a package counts does not hold its DRAM and holds its core and uncore; psys holds all (Intel
 * SDM volume 3, section 16.10.1; the figure "RAPL domains"). */
#include "base/text/number.h"
#include "source/energy.h"
#include "source/sysfs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIRS_MAX = 256, CONSTRAINTS = 3, PATH_SIZE = 192 };
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

static bool is_known(const struct energy *x, const char *name)
{
	for (const struct zone *z = x->zone; z < x->zone + x->nzones; z++)
		if (strcmp(z->name, name) == 0)
			return true;
	return false;
}

static int add_zone(struct energy *x, const struct root *sys, const char *dir)
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
	z->fd = root_file(sys, path);
	if (z->fd >= 0)
		return 0;
	z->error = z->fd;
	z->fd = 0;
	return z->error;
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
		int r = begins(name, types[i / n]) ? add_zone(x, sys, name) : 0;

		error = error ? error : r;
	}
	free(dir);
	return error;
}
