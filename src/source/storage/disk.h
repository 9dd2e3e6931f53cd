/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disk.h - what a block device is: a disk, or something that lies on one.
 *
 * What goes through a partition, a stacked device or a path is counted there and at the disk: of
 * these totals take the disks alone.
 */
#ifndef SONDE_SOURCE_STORAGE_DISK_H
#define SONDE_SOURCE_STORAGE_DISK_H

#include "base/root.h"

enum block_class {
	BLOCK_UNKNOWN,
	BLOCK_DISK,
	BLOCK_PARTITION,
	BLOCK_STACKED, /* on other devices: dm, md, bcache, drbd, zd */
	BLOCK_PATH,    /* of a multipath NVMe disk */
	BLOCK_LOOP,
	BLOCK_MEMORY,
	BLOCK_CLASSES
};

extern const char *const block_class_names[BLOCK_CLASSES];

/* Of the device of this name, "sda", "cciss/c0d0", as /sys/block has it. BLOCK_UNKNOWN where that
 * is not there and the name is no driver's that says it. */
enum block_class block_class_of(const struct root *sys, const char *name);
/* Without /sys/block: a stacked device by its name, else a disk; a partition is not told from one.
 */
enum block_class block_class_by_name(const char *name);

#endif
