/* SPDX-License-Identifier: Apache-2.0 */
/* disk.c - block devices: /proc/diskstats, Documentation/admin-guide/iostats.rst. */
#include "source/storage/disk.h"

#include "base/text/number.h"
#include "source/device.h"
#include "source/kept.h"
#include "source/source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- Kinds of devices ---- */

const char *const block_class_names[BLOCK_CLASSES] = {
	[BLOCK_UNKNOWN] = "unknown", [BLOCK_DISK] = "disk", [BLOCK_PARTITION] = "partition",
	[BLOCK_STACKED] = "stacked", [BLOCK_PATH] = "path", [BLOCK_LOOP] = "loop",
	[BLOCK_MEMORY] = "memory",
};

struct driver {
	const char *prefix; /* a number follows */
	enum block_class class;
};

/* ZFS volumes and DRBD stand on other disks, but sysfs does not tell on which. */
static const struct driver told_by_name[] = {
	{ "loop", BLOCK_LOOP },  { "ram", BLOCK_MEMORY },   { "zram", BLOCK_MEMORY },
	{ "zd", BLOCK_STACKED }, { "drbd", BLOCK_STACKED },
};
static const struct driver told_by_sysfs[] = {
	{ "dm-", BLOCK_STACKED },
	{ "md", BLOCK_STACKED },
	{ "bcache", BLOCK_STACKED },
};
#define DRIVERS(array) array, sizeof(array) / sizeof((array)[0])

static enum block_class find(const struct driver *d, size_t n, const char *name)
{
	for (const struct driver *end = d + n; d < end; d++) {
		const char *rest = name + strlen(d->prefix);

		if (strncmp(name, d->prefix, strlen(d->prefix)) == 0 && *rest >= '0' &&
		    *rest <= '9')
			return d->class;
	}
	return BLOCK_UNKNOWN;
}

enum block_class block_class_of(const struct root *sys, const char *name)
{
	enum block_class class = find(DRIVERS(told_by_name), name);
	char dir[96], path[128];
	int64_t hidden;

	if (class != BLOCK_UNKNOWN || !sysfs_exists(sys, "block"))
		return class;
	snprintf(dir, sizeof dir, "block/%.64s", name);
	for (char *p = dir + strlen("block/"); *p; p++)
		if (*p == '/')
			*p = '!'; /* cciss/c0d0 is cciss!c0d0 there */
	if (!sysfs_exists(sys, dir))
		return BLOCK_PARTITION;
	snprintf(path, sizeof path, "%s/slaves", dir);
	if (sysfs_has_entries(sys, path))
		return BLOCK_STACKED;
	snprintf(path, sizeof path, "%s/hidden", dir);
	if (sysfs_read_number(sys, path, &hidden) == 0 && hidden)
		return BLOCK_PATH;
	return BLOCK_DISK;
}

enum block_class block_class_by_name(const char *name)
{
	enum block_class class = find(DRIVERS(told_by_sysfs), name);

	return class == BLOCK_UNKNOWN ? BLOCK_DISK : class;
}

/* ---- Source ---- */

enum { ROOM = 32 * 1024, DISKS_MAX = 16384 };

/* The columns behind the name; they only ever grew at the end (15 since Linux 4.18, 17 since 5.5).
 */
enum {
	READS,
	READS_MERGED,
	READ_SECTORS,
	READING,
	WRITES,
	WRITES_MERGED,
	WRITTEN_SECTORS,
	WRITING,
	IN_FLIGHT,
	BUSY,
	QUEUED,
	DISCARDS,
	DISCARDS_MERGED,
	DISCARDED_SECTORS,
	DISCARDING,
	FLUSHES,
	FLUSHING,
	NCOLUMNS,
	DERIVED = NCOLUMNS,
	READ_LATENCY = DERIVED,
	WRITE_LATENCY,
	DISCARD_LATENCY,
	FLUSH_LATENCY,
	READ_SIZE,
	WRITE_SIZE,
	QUEUE,
	METRICS_NUMBER_OF
};

#define DISK    .domain = "disk", .over_nodes = COMBINE_SUM
#define COUNTER .kind = KIND_COUNTER, .over_instances = COMBINE_SUM
#define EVENTS  COUNTER, .unit = UNIT_COUNT
#define MEAN                                                                                       \
	.domain = "disk", .kind = KIND_GAUGE, .over_instances = COMBINE_MAX,                       \
	.over_nodes = COMBINE_MAX
#define SECTORS      COUNTER, .unit = UNIT_BYTES, .mul = 512 /* whatever the device's own block is */
#define MILLISECONDS COUNTER, .unit = UNIT_ELAPSED_SECONDS, .mul = 1, .div = 1000

static const struct metric metrics[] = {
	[READS] = { "disk.reads", DISK, EVENTS, .label = "Reads", .help = "Reads completed." },
	[READS_MERGED] = { "disk.reads_merged", DISK, EVENTS, .label = "Reads merged",
			   .help = "Reads that were joined to a neighbour before they began." },
	[READ_SECTORS] = { "disk.read_bytes", DISK, SECTORS, .label = "Read",
			   .help = "Bytes read from the device." },
	[READING] = { "disk.reading_seconds", DISK, MILLISECONDS, .label = "Reads in flight",
		      .help = "Time spent in reads, summed over those in flight together." },
	[WRITES] = { "disk.writes", DISK, EVENTS, .label = "Writes", .help = "Writes completed." },
	[WRITES_MERGED] = { "disk.writes_merged", DISK, EVENTS, .label = "Writes merged",
			    .help = "Writes that were joined to a neighbour before they began." },
	[WRITTEN_SECTORS] = { "disk.written_bytes", DISK, SECTORS, .label = "Written",
			      .help = "Bytes written to the device." },
	[WRITING] = { "disk.writing_seconds", DISK, MILLISECONDS, .label = "Writes in flight",
		      .help = "Time spent in writes, summed over those in flight together." },
	[IN_FLIGHT] = { "disk.in_flight_count", DISK, .kind = KIND_GAUGE, .unit = UNIT_COUNT,
			.over_instances = COMBINE_SUM, .label = "In flight",
			.help = "Requests in flight at that instant." },
	[BUSY] = { "disk.busy_seconds", "disk", .kind = KIND_COUNTER, .unit = UNIT_ELAPSED_SECONDS,
		   .mul = 1, .div = 1000, .over_instances = COMBINE_MAX, .over_nodes = COMBINE_MAX,
		   .label = "Busy", .help = "Time in which at least one request was in flight." },
	[QUEUED] = { "disk.queued_seconds", DISK, MILLISECONDS, .label = "Requests in flight",
		     .help = "Time spent in requests, summed over those in flight together." },
	[DISCARDS] = { "disk.discards", DISK, EVENTS, .label = "Discards",
		       .help = "Discards completed." },
	[DISCARDS_MERGED] = { "disk.discards_merged", DISK, EVENTS, .label = "Discards merged",
			      .help = "Discards that were joined to a neighbour before they "
				      "began." },
	[DISCARDED_SECTORS] = { "disk.discarded_bytes", DISK, SECTORS, .label = "Discarded",
				.help = "Bytes discarded on the device." },
	[DISCARDING] = { "disk.discarding_seconds", DISK, MILLISECONDS,
			 .label = "Discards in flight",
			 .help = "Time spent in discards, summed over those in flight together." },
	[FLUSHES] = { "disk.flushes", DISK, EVENTS, .label = "Flushes",
		      .help = "Flushes of the device's cache completed." },
	[FLUSHING] = { "disk.flushing_seconds", DISK, MILLISECONDS, .label = "Flushes in flight",
		       .help = "Time spent in flushes, summed over those in flight together." },
	[READ_LATENCY] = { "disk.read_latency_seconds", MEAN, .unit = UNIT_SECONDS,
			   .formula = "disk.reading_ratio / disk.reads_per_second",
			   .label = "Read latency", .help = "Mean time a completed read took." },
	[WRITE_LATENCY] = { "disk.write_latency_seconds", MEAN, .unit = UNIT_SECONDS,
			    .formula = "disk.writing_ratio / disk.writes_per_second",
			    .label = "Write latency", .help = "Mean time a completed write took." },
	[DISCARD_LATENCY] = { "disk.discard_latency_seconds", MEAN, .unit = UNIT_SECONDS,
			      .formula = "disk.discarding_ratio / disk.discards_per_second",
			      .label = "Discard latency",
			      .help = "Mean time a completed discard took." },
	[FLUSH_LATENCY] = { "disk.flush_latency_seconds", MEAN, .unit = UNIT_SECONDS,
			    .formula = "disk.flushing_ratio / disk.flushes_per_second",
			    .label = "Flush latency", .help = "Mean time a completed flush took." },
	[READ_SIZE] = { "disk.read_size_bytes", MEAN, .unit = UNIT_BYTES,
			.formula = "disk.read_bytes_per_second / disk.reads_per_second",
			.label = "Read size", .help = "Mean size of a completed read." },
	[WRITE_SIZE] = { "disk.write_size_bytes", MEAN, .unit = UNIT_BYTES,
			 .formula = "disk.written_bytes_per_second / disk.writes_per_second",
			 .label = "Write size", .help = "Mean size of a completed write." },
	[QUEUE] = { "disk.queue_count", DISK, .kind = KIND_GAUGE, .unit = UNIT_COUNT,
		    .over_instances = COMBINE_SUM, .formula = "disk.queued_ratio", .label = "Queue",
		    .help = "Mean number of requests in flight." },
};
_Static_assert(sizeof metrics / sizeof metrics[0] == METRICS_NUMBER_OF, "a row for every index");

struct disk {
	struct kept diskstats;
	struct devices devices;
	const struct root *sys;
};

/* sda1 is a partition of sda, nvme0n1p1 of nvme0n1; sdaa is a disk, and so is nvme0n10. */
static bool is_partition_of(const char *name, const struct device *disk)
{
	const char *rest = name + disk->len;
	bool after_digit =
		disk->len && disk->name[disk->len - 1] >= '0' && disk->name[disk->len - 1] <= '9';

	if (!disk->len || strncmp(name, disk->name, disk->len) != 0 ||
	    (after_digit && *rest++ != 'p'))
		return false;
	return *rest && !rest[strspn(rest, "0123456789")];
}

static bool is_partition(const struct devices *all, const char *name)
{
	for (const struct device *w = all->row; w < all->row + all->n; w++)
		if (is_partition_of(name, w))
			return true;
	return false;
}

static enum block_class class_of(const struct disk *d, const struct device *v)
{
	enum block_class class = block_class_of(d->sys, v->name);

	if (class != BLOCK_UNKNOWN)
		return class;
	class = block_class_by_name(v->name);
	return class == BLOCK_DISK && is_partition(&d->devices, v->name) ? BLOCK_PARTITION : class;
}

static void announce(struct device *v, struct sample *s, uint32_t n)
{
	device_announce(v, s, metrics, NCOLUMNS);
	if (v->instance)
		sample_label(s, v->instance, "class", block_class_names[v->class]);
	for (uint32_t i = n; v->slot && i < NCOLUMNS; i++)
		device_lack(v, s, i, STATE_UNSUPPORTED, "this kernel does not count it");
}

/* Devices that totals leave out are not worth a word before they have done anything. */
static bool is_quiet(const int64_t *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (v[i])
			return false;
	return true;
}

struct line {
	const char *name;
	size_t len;
	int64_t value[NCOLUMNS];
	uint32_t n;
};

static bool parse(const char *p, struct line *out)
{
	int64_t major, minor;

	if (!number_i64(&p, &major) || !number_i64(&p, &minor))
		return false;
	out->name = number_skip_blanks(p);
	out->len = strcspn(out->name, " \n");
	p = out->name + out->len;
	for (out->n = 0; out->n < NCOLUMNS && number_count(&p, &out->value[out->n]);)
		out->n++;
	return out->n > QUEUED;
}

/* Before Linux 6.2 a multipath NVMe disk (nvme0n1) counts nothing: all is in its paths (nvme0c1n1).
 */
static bool counts_for_disk(const struct disk *d, const char *path)
{
	const char *c = strchr(path, 'c'), *n = c ? strchr(c, 'n') : NULL;
	char name[DEVICE_NAME_SIZE];
	struct line l;

	if (!n)
		return false;
	snprintf(name, sizeof name, "%.*s%s", (int)(c - path), path, n);
	for (const char *p = d->diskstats.text; *p; p = number_next_line(p))
		if (parse(p, &l) && l.len == strlen(name) && memcmp(l.name, name, l.len) == 0)
			return is_quiet(l.value, l.n);
	return true;
}

static bool scan_line(struct disk *d, struct sample *s, const char *p)
{
	struct device *v;
	struct line l;

	if (!parse(p, &l))
		return false;
	v = devices_meet(&d->devices, l.name, l.len);
	if (!v)
		return true;
	if (v->class == BLOCK_UNKNOWN) {
		v->class = class_of(d, v);
		v->flags = v->class == BLOCK_DISK ? 0 : INSTANCE_ASIDE;
	}
	if (!v->told && v->flags && is_quiet(l.value, l.n))
		return true;
	if (!v->told && v->class == BLOCK_PATH && counts_for_disk(d, v->name))
		v->flags = 0;
	if (!v->told)
		announce(v, s, l.n);
	for (uint32_t i = 0; i < l.n; i++)
		device_count(v, s, i, l.value[i]);
	return true;
}

static int scan(struct disk *d, struct sample *s)
{
	bool whole = !d->diskstats.cut;

	devices_begin(&d->devices);
	for (const char *p = d->diskstats.text; *p; p = number_next_line(p))
		whole &= scan_line(d, s, p);
	if (!whole) {
		devices_incomplete(&d->devices, s, NCOLUMNS);
		return -EBADMSG;
	}
	devices_sweep(&d->devices, s);
	return 0;
}

static void disk_close(void *state)
{
	struct disk *d = state;

	kept_close(&d->diskstats);
	devices_free(&d->devices);
}

static int disk_open(void *state, const struct source_env *env, struct sample *s, struct err *e)
{
	struct disk *d = state;
	int r = kept_open(&d->diskstats, &env->proc, "diskstats", ROOM, e);

	if (r == -ENODATA)
		return err_set(e, -ENODEV, "%s/diskstats: this machine has no block device",
			       env->proc.path);
	if (r < 0)
		return r;
	r = devices_init(&d->devices, DISKS_MAX);
	if (r < 0) {
		disk_close(d);
		return err_set(e, r, "there is no memory for a table of disks");
	}
	d->sys = &env->sys;
	r = scan(d, s);
	if (r < 0 && !d->devices.n) {
		disk_close(d);
		return err_set(e, r, "%s/diskstats: it does not look like diskstats",
			       env->proc.path);
	}
	sample_catalogue(s, &metrics[DERIVED], METRICS_NUMBER_OF - DERIVED);
	return 0;
}

static int disk_read(void *state, struct sample *s)
{
	struct disk *d = state;
	int r = kept_read_same(&d->diskstats);

	if (r == 1 && devices_stand(&d->devices, s))
		return 0;
	/* An empty list is a list: the last disk went away. */
	return r < 0 && r != -ENODATA ? r : scan(d, s);
}

const struct source source_disk = {
	.name = "disk",
	.what = "disks of the node",
	.fix_admin = SOURCE_FIX_PROC,
	SOURCE_METRICS(metrics),
	.size = sizeof(struct disk),
	.open = disk_open,
	.read = disk_read,
	.close = disk_close,
};
