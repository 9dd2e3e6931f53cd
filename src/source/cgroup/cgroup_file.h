/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_file.h - the files of a control group that are read, and what each of their lines is;
 * Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/.
 *
 * Tables, by which cgroup_group.c reads, and what lines of disks say. Fields are found by name.
 */
#ifndef SONDE_SOURCE_CGROUP_CGROUP_FILE_H
#define SONDE_SOURCE_CGROUP_CGROUP_FILE_H

#include "base/root.h"
#include "core/metric.h"
#include "source/cgroup/cgroup_path.h"
#include "source/device.h"

/* Where each metric of a control group lies in cgroup_metrics. Rows up to CGROUP_SERIES become
 * series of a group, those from CGROUP_DISK on of a device of the job's own group. */
enum cgroup_metric {
	CGROUP_CPU,
	CGROUP_CPU_USER,
	CGROUP_CPU_SYSTEM,
	CGROUP_PERIODS,
	CGROUP_PERIODS_THROTTLED,
	CGROUP_THROTTLED,
	CGROUP_CPU_LIMIT,
	CGROUP_MEMORY,
	CGROUP_MEMORY_PEAK,
	CGROUP_MEMORY_LIMIT,
	CGROUP_SWAP,
	CGROUP_SWAP_LIMIT,
	CGROUP_ANONYMOUS,
	CGROUP_FILE,
	CGROUP_SHARED,
	CGROUP_KERNEL,
	CGROUP_SOCKETS,
	CGROUP_KERNEL_STACK,
	CGROUP_PAGE_TABLES,
	CGROUP_PERCPU,
	CGROUP_SLAB,
	CGROUP_MAPPED,
	CGROUP_DIRTY,
	CGROUP_WRITEBACK,
	CGROUP_ANONYMOUS_HUGE,
	CGROUP_FILE_INACTIVE,
	CGROUP_REFAULTS_ANONYMOUS,
	CGROUP_REFAULTS_FILE,
	CGROUP_FAULTS,
	CGROUP_MAJOR_FAULTS,
	CGROUP_HIGH_EVENTS,
	CGROUP_MAX_EVENTS,
	CGROUP_OOM_EVENTS,
	CGROUP_OOM_KILLS,
	CGROUP_READ,
	CGROUP_WRITTEN,
	CGROUP_READS,
	CGROUP_WRITES,
	CGROUP_PIDS,
	CGROUP_PIDS_LIMIT,
	CGROUP_PRESSURE_CPU_SOME,
	CGROUP_PRESSURE_CPU_FULL,
	CGROUP_PRESSURE_MEMORY_SOME,
	CGROUP_PRESSURE_MEMORY_FULL,
	CGROUP_PRESSURE_IO_SOME,
	CGROUP_PRESSURE_IO_FULL,
	CGROUP_SERIES,
	CGROUP_MEMORY_RATIO = CGROUP_SERIES,
	CGROUP_THROTTLED_RATIO,
	CGROUP_DISK,
	CGROUP_METRICS = CGROUP_DISK + 4,
};

enum { CGROUP_DISK_SERIES = 4 }; /* read, written, reads, writes: as CGROUP_READ and on */

extern const struct metric cgroup_metrics[CGROUP_METRICS];

enum { CGROUP_FIELDS_MAX = 20, CGROUP_FILES = 26, CGROUP_LIMITS = 4 };

/* A file is read in every sample, or rarely. */
enum cgroup_pace { ALWAYS, RARELY };
/* Does its count have the groups below in it? OWN_ONLY: no, and it is read of the job's own group
 * only. ADDED: no, and those are read, too (cgroup_below_kills). */
enum cgroup_reach { WITH_BELOW, OWN_ONLY, ADDED };
enum cgroup_shape { FIELDS, DISKS_V2, DISKS_V1_BYTES, DISKS_V1_COUNTS };

/* The number behind `line` at the start of a line ("": of the first one), or there behind `after`.
 * Times scale it is what is stored. */
struct cgroup_field {
	const char *line, *after; /* line NULL: no more fields */
	enum cgroup_metric metric;
	int64_t scale;
};

struct cgroup_file {
	int version;
	enum cgroup_concern concern;
	const char *name;
	enum cgroup_pace pace;
	enum cgroup_reach reach;
	enum cgroup_shape shape;
	struct cgroup_field field[CGROUP_FIELDS_MAX];
};
extern const struct cgroup_file cgroup_files[CGROUP_FILES];

/* "max" and what is absurdly large mean none. */
struct cgroup_limit {
	enum cgroup_metric metric;
	enum cgroup_concern concern;
	const char *label;   /* of the instance: which group sets it */
	const char *file[3]; /* by version; NULL: that version has none */
	const char *period;  /* version 1: the limit is a time in each such period */
};
extern const struct cgroup_limit cgroup_limits[CGROUP_LIMITS];

/*
 * What a control group reads from and writes to each disk: io.stat of version 2,
 * blkio.throttle.* of version 1.
 *
 * What goes through a stacked device (dm, md) or a loop is counted there and at the disk below:
 * such devices are told of aside and are in no total. Of a device that the
 * kernel does not show (source/storage/disk.h) nobody knows whether it is one of these: beside
 * others it leaves no total.
 */

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
