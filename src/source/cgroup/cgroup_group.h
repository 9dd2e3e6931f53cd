/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_group.h - one control group: its kept files, its limits, its series.
 *
 * What must be right at the job's end (CPU, memory, its peak, out-of-memory kills) is read in every
 * sample; the rest once a second, or every 10 s in a group above the job's own; limits every 10 s.
 * It does not find the group: cgroup_place.h does.
 */
#ifndef SONDE_SOURCE_CGROUP_CGROUP_GROUP_H
#define SONDE_SOURCE_CGROUP_CGROUP_GROUP_H

#include "source/cgroup/cgroup_below.h"
#include "source/cgroup/cgroup_disk.h"
#include "source/cgroup/cgroup_file.h"
#include "source/period.h"

enum { GROUP_TEXT = 32 * 1024 };

struct cgroup_group {
	const struct cgroup_places *places;
	enum cgroup_level level;
	bool above;           /* the batch job's: the job's own is below it */
	size_t end[CONCERNS]; /* of its path in each place; 0: it is not seen there */
	struct {
		int fd;    /* 0: not open */
		int error; /* of its opening */
		struct period period;
	} file[CGROUP_FILES];
	int64_t limit[CGROUP_LIMITS];    /* -1: none */
	size_t limit_end[CGROUP_LIMITS]; /* of the group that sets it */
	int limit_error[CGROUP_LIMITS];  /* -errno of what should tell one; 0: none is set */
	struct period limits_period;
	uint64_t has;                  /* bit of each series that has values */
	uint64_t bad;                  /* of each that is there and no number */
	int64_t peak_bytes, oom_kills; /* as read last; -1: not known */
	struct cgroup_below below;
	int64_t kills_below;
	struct period below_period;
	struct cgroup_disks disks;
	uint32_t instance, slot;
};

/* places, level, above and end are filled in; the rest is zero. 0; -errno with a sentence when none
 * of its files can be read. */
int cgroup_group_open(struct cgroup_group *g, const struct source_env *env, struct err *e);
void cgroup_group_close(struct cgroup_group *g);

/* Why what its disks did is not added up: cgroup_disks_are_known. */
extern const char cgroup_disks_unknown[];

/* Tell the sample of it, and say why what is missing is missing. text: room for GROUP_TEXT bytes,
 * here and below. */
void cgroup_group_announce(struct cgroup_group *g, struct sample *s, uint32_t parent, char *text);
/* What is due. 0 or -errno: the rest was read. */
int cgroup_group_read(struct cgroup_group *g, struct sample *s, char *text);

/* The place that the group is named after, and path[0..end) of a place as people know it. */
const struct cgroup_place *cgroup_group_place(const struct cgroup_group *g);
const char *cgroup_group_path(const struct cgroup_place *p, size_t end, char out[CGROUP_PATH_SIZE]);

#endif
