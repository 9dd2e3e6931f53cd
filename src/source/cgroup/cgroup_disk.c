/* SPDX-License-Identifier: Apache-2.0 */
#include "source/cgroup/cgroup_disk.h"

#include "base/clock.h"
#include "base/text/number.h"
#include "source/storage/block.h"

#include <stdio.h>
#include <string.h>

enum { DISKS_MAX = 256, DISKSTATS_SIZE = 16 * 1024 };

int cgroup_disks_init(struct cgroup_disks *x, const struct root *proc, const struct root *sys)
{
	*x = (struct cgroup_disks){ .proc = proc, .sys = sys };
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

/* "sda", of the line with this number. */
static bool name_in_diskstats(const struct cgroup_disks *x, const char *number, char *out,
			      size_t size)
{
	char text[DISKSTATS_SIZE];
	uint64_t wanted[2] = { 0 }, v[2];
	int fd = root_file(x->proc, "diskstats");
	ssize_t n = fd < 0 ? fd : file_reread(fd, text, sizeof text);

	file_close(&fd);
	text[n > 0 ? n : 0] = '\0';
	number_u64(&number, &wanted[0]);
	number += *number == ':';
	number_u64(&number, &wanted[1]);
	for (const char *p = text; strchr(p, '\n'); p = number_next_line(p)) {
		const char *q = p;

		if (!number_u64(&q, &v[0]) || !number_u64(&q, &v[1]) || v[0] != wanted[0] ||
		    v[1] != wanted[1])
			continue;
		q = number_skip_blanks(q);
		snprintf(out, size, "%.*s", (int)strcspn(q, " \n"), q);
		return *out;
	}
	return false;
}

/* "" when the kernel does not say. */
static void name_of(const struct cgroup_disks *x, const char *number, char *out, size_t size)
{
	char path[96], text[512];
	const char *name = NULL;

	snprintf(path, sizeof path, "dev/block/%s/uevent", number);
	if (root_read(x->sys, path, text, sizeof text) > 0)
		name = number_find_line(text, "DEVNAME=");
	if (name && *name && *name != '\n')
		snprintf(out, size, "%.*s", (int)strcspn(name, "\n"), name);
	else if (!name_in_diskstats(x, number, out, size))
		*out = '\0';
}

/* Partitions are counted with their disks: what looks like one is something that was not found. */
static enum block_class class_of(const struct cgroup_disks *x, const char *name)
{
	enum block_class class = *name ? block_class_of(x->sys, name) : BLOCK_PARTITION;

	if (class == BLOCK_UNKNOWN)
		class = block_class_by_name(name);
	return class == BLOCK_PARTITION ? BLOCK_UNKNOWN : class;
}

static void announce(struct cgroup_disks *x, struct device *v, struct sample *s)
{
	char name[64];

	v->told = true;
	name_of(x, v->name, name, sizeof name);
	v->class = class_of(x, name);
	v->flags = v->class == BLOCK_DISK ? 0 : INSTANCE_ASIDE;
	if (!x->tell)
		return;
	if (s->slot_cap - s->nslots < CGROUP_DISK_SERIES + DEVICES_LEAVE) {
		sample_leave_out(s, &cgroup_metrics[CGROUP_DISK], v->name);
		return;
	}
	v->instance = sample_instance(s, cgroup_metrics[CGROUP_DISK].domain, *name ? name : v->name,
				      x->parent, clock_mono_ns(), v->flags);
	if (!v->instance)
		return;
	v->nslots = CGROUP_DISK_SERIES;
	v->slot = sample_series(s, &cgroup_metrics[CGROUP_DISK], v->nslots, v->instance);
	sample_label(s, v->instance, "number", v->name);
	sample_label(s, v->instance, "class", block_class_names[v->class]);
}

static void begin(struct cgroup_disks *x)
{
	devices_begin(&x->devices);
	x->counted = x->unknown = 0;
}

static struct device *meet(struct cgroup_disks *x, const char *number, size_t len, struct sample *s)
{
	struct device *v = devices_meet(&x->devices, number, len);

	if (!v)
		return NULL;
	if (!v->told)
		announce(x, v, s);
	x->counted += v->class == BLOCK_DISK;
	x->unknown += v->class == BLOCK_UNKNOWN;
	return v;
}

static void take(const struct device *v, struct sample *s, uint32_t i, const char *p,
		 int64_t total[CGROUP_DISK_SERIES])
{
	int64_t value;

	if (!number_i64(&p, &value) || value < 0)
		return;
	device_put(v, s, i, value);
	if (v->class == BLOCK_DISK || v->class == BLOCK_UNKNOWN)
		number_add(&total[i], value);
}

bool cgroup_disks_are_known(const struct cgroup_disks *x)
{
	return !x->unknown || x->unknown + x->counted == 1;
}

void cgroup_disks_v2(struct cgroup_disks *x, const char *text, bool whole, struct sample *s,
		     int64_t total[CGROUP_DISK_SERIES])
{
	static const char *const keys[CGROUP_DISK_SERIES] = { " rbytes=", " wbytes=", " rios=",
							      " wios=" };

	begin(x);
	for (const char *line = text; *line; line = number_next_line(line)) {
		size_t len = 0, n = strcspn(line, "\n");
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

	begin(x);
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
