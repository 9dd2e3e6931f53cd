/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_file.h - the files of a control group that are read, and what each of their lines is;
 * Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/.
 *
 * Tables only: cgroup_group.c reads by them. Fields are found by name.
 */
#ifndef SONDE_SOURCE_CGROUP_CGROUP_FILE_H
#define SONDE_SOURCE_CGROUP_CGROUP_FILE_H

#include "source/cgroup/cgroup_metric.h"
#include "source/cgroup/cgroup_place.h"

enum { CGROUP_FIELDS_MAX = 20, CGROUP_FILES = 26, CGROUP_LIMITS = 4 };

/* A file is read in every sample, or rarely. */
enum cgroup_pace { ALWAYS, RARELY };
/* Does its count have the groups below in it? OWN_ONLY: no, and it is read of the job's own group
 * only. ADDED: no, and those are read, too (cgroup_below.h). */
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

#endif
