/* SPDX-License-Identifier: Apache-2.0 */
#include "source/cgroup_disk.h"

#include "base/clock.h"
#include "base/number.h"
#include "source/sysfs.h"

#include <stdio.h>
#include <string.h>

enum { DISKS_MAX = 256, MAJOR_RAM = 1, MAJOR_LOOP = 7 };
enum disk_class { CLASS_UNKNOWN, CLASS_DISK, CLASS_ASIDE };

int cgroup_disks_init(struct cgroup_disks *x, const struct root *sys)
{
	*x = (struct cgroup_disks){ .sys = sys };
	return devices_init(&x->devices, DISKS_MAX);
}

void cgroup_disks_free(struct cgroup_disks *x)
{
	devices_free(&x->devices);
}

/* The number that the line begins with, "8:0 ". Some kernels put that of a device without figures
 * before it, on the same line (seen on 5.4): the last one counts. NULL when it begins with none. */
static const char *number_of(const char *line, size_t *len)
{
	const char *found = NULL, *p = line;
	uint64_t major, minor;

	for (;;) {
		const char *start = number_skip_blanks(p);

		p = start;
		if (!number_u64(&p, &major) || *p++ != ':' || !number_u64(&p, &minor) || *p != ' ')
			return found;
		found = start;
		*len = (size_t)(p - start);
	}
}

static enum disk_class class_of(const struct cgroup_disks *x, const char *number)
{
	char path[96];
	const char *p = number;
	int64_t major = 0, hidden = 0;

	number_i64(&p, &major);
	snprintf(path, sizeof path, "dev/block/%s/hidden", number); /* a path of multipath NVMe */
	if (major == MAJOR_RAM || major == MAJOR_LOOP ||
	    (sysfs_number(x->sys, path, &hidden) && hidden))
		return CLASS_ASIDE;
	snprintf(path, sizeof path, "dev/block/%s/slaves", number);
	return sysfs_has_entries(x->sys, path) ? CLASS_ASIDE : CLASS_DISK;
}

/* "sda"; the number itself when the kernel does not say. */
static void name_of(const struct cgroup_disks *x, const char *number, char *out, size_t size)
{
	char path[96], text[512];
	const char *name;

	snprintf(path, sizeof path, "dev/block/%s/uevent", number);
	root_read(x->sys, path, text, sizeof text);
	name = number_find_line(text, "DEVNAME=");
	if (name && *name != '\n' && *name)
		snprintf(out, size, "%.*s", (int)strcspn(name, "\n"), name);
	else
		snprintf(out, size, "%s", number);
}

static void born(struct cgroup_disks *x, struct device *v, struct sample *s)
{
	char name[64];

	v->told = true;
	if (!x->tell || s->slot_cap - s->nslots < CGROUP_DISK_SERIES + DEVICES_LEAVE)
		return;
	name_of(x, v->name, name, sizeof name);
	v->instance = sample_instance(s, cgroup_metrics[CGROUP_DISK].domain, name, x->parent,
				      clock_mono_ns(), v->flags);
	if (!v->instance)
		return;
	v->nslots = CGROUP_DISK_SERIES;
	v->slot = sample_series(s, &cgroup_metrics[CGROUP_DISK], v->nslots, v->instance);
	sample_label(s, v->instance, "number", v->name);
}

static struct device *meet(struct cgroup_disks *x, const char *number, size_t len, struct sample *s)
{
	struct device *v = devices_meet(&x->devices, number, len);

	if (!v)
		return NULL;
	if (v->class == CLASS_UNKNOWN) {
		v->class = class_of(x, v->name);
		v->flags = v->class == CLASS_ASIDE ? INSTANCE_ASIDE : 0;
	}
	if (!v->told)
		born(x, v, s);
	return v;
}

static void take(const struct device *v, struct sample *s, uint32_t i, const char *p,
		 int64_t total[CGROUP_DISK_SERIES])
{
	int64_t value;

	if (!number_i64(&p, &value) || value < 0)
		return;
	device_put(v, s, i, value);
	if (!v->flags && value <= INT64_MAX - total[i])
		total[i] += value;
}

void cgroup_disks_v2(struct cgroup_disks *x, const char *text, bool whole, struct sample *s,
		     int64_t total[CGROUP_DISK_SERIES])
{
	static const char *const keys[CGROUP_DISK_SERIES] = { " rbytes=", " wbytes=", " rios=",
							      " wios=" };

	devices_begin(&x->devices);
	for (const char *line = text; *line; line = number_next_line(line)) {
		size_t len, n = strcspn(line, "\n");
		const char *number = number_of(line, &len);
		const struct device *v = NULL;

		for (uint32_t i = 0; number && i < CGROUP_DISK_SERIES; i++) {
			const char *at = memmem(line, n, keys[i], strlen(keys[i]));

			if (at && !v) /* a device without figures is not worth a word */
				v = meet(x, number, len, s);
			if (at && v)
				take(v, s, i, at + strlen(keys[i]), total);
		}
	}
	if (whole)
		devices_sweep(&x->devices, s);
}

void cgroup_disks_v1(struct cgroup_disks *x, const char *text, struct sample *s, uint32_t first,
		     int64_t total[CGROUP_DISK_SERIES])
{
	struct device *v = NULL;

	devices_begin(&x->devices);
	for (const char *line = text; *line; line = number_next_line(line)) {
		size_t len;
		const char *number = number_of(line, &len), *word = number ? number + len + 1 : "";

		if (!number)
			continue;
		if (!v || v->len != len || memcmp(v->name, number, len) != 0)
			v = meet(x, number, len, s);
		if (v && strncmp(word, "Read ", 5) == 0)
			take(v, s, first, word + 5, total);
		else if (v && strncmp(word, "Write ", 6) == 0)
			take(v, s, first + 1, word + 6, total);
	}
}
