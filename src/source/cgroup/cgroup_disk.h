/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_disk.h - what a control group reads from and writes to each disk: io.stat of version 2,
 * blkio.throttle.* of version 1.
 *
 * What goes through a stacked device (dm, md) or a loop is counted there and at the disk below:
 * such devices are told of aside and are in no total. Of a device that the
 * kernel does not show (source/storage/block.h) nobody knows whether it is one of these: beside
 * others it leaves no total.
 */
#ifndef SONDE_SOURCE_CGROUP_CGROUP_DISK_H
#define SONDE_SOURCE_CGROUP_CGROUP_DISK_H

#include "source/cgroup/cgroup_metric.h"
#include "source/device.h"

#include "base/root.h"

struct cgroup_disks {
	struct devices devices; /* by number, "8:0" */
	const struct root *proc, *sys;
	uint32_t counted, unknown; /* disks in the last pass, devices of an unknown kind */
	bool tell;                 /* devices have instances and series of their own */
	uint32_t parent;           /* instance of the group */
};

/* 0 or -ENOMEM. The roots are borrowed. */
int cgroup_disks_init(struct cgroup_disks *x, const struct root *proc, const struct root *sys);
void cgroup_disks_free(struct cgroup_disks *x);

/* "8:0 rbytes=1 wbytes=2 rios=3 wios=4 ...": all four; devices that the whole text does not
 * name are gone. */
void cgroup_disks_v2(struct cgroup_disks *x, const char *text, bool whole, struct sample *s,
		     int64_t total[CGROUP_DISK_SERIES]);
/* "8:0 Read 1", "8:0 Write 2", ...: two of the four, from first on. */
void cgroup_disks_v1(struct cgroup_disks *x, const char *text, struct sample *s, uint32_t first,
		     int64_t total[CGROUP_DISK_SERIES]);

/* Whether what the last pass added up has each byte once. */
bool cgroup_disks_are_known(const struct cgroup_disks *x);

#endif
