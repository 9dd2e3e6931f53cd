/* SPDX-License-Identifier: Apache-2.0 */
#include "source/storage/block.h"

#include "source/sysfs.h"

#include <stdio.h>
#include <string.h>

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
