/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_group.h - one control group: its kept files, its limits, its series.
 *
 * What must be right at the job's end (CPU, memory, its peak, out-of-memory kills) is read in every
 * sample; the rest once a second, or every 10 s in a group above the job's own; limits every 10 s.
 * It does not find the group: cgroup_path.h does.
 */
#ifndef SONDE_SOURCE_CGROUP_CGROUP_GROUP_H
#define SONDE_SOURCE_CGROUP_CGROUP_GROUP_H

#include "source/cgroup/cgroup_file.h"
#include "source/period.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Processes killed for want of memory in the groups below one, version 1.
 *
 * Version 1 counts such a kill in the group of the process alone, which under Slurm is the task's
 * (step_N/task_N), while the limit is the step's. Groups that have gone keep the count that was
 * read of them last. At most CGROUPS_BELOW are known at a time; nothing is allocated.
 */

enum { CGROUPS_BELOW = 256 };

struct cgroup_below {
	struct cgroup_below_group {
		int dir, file; /* 0: this place is free */
		ino_t inode, parent;
		nlink_t links; /* when it was listed last; 0: it is to be listed */
		int64_t kills;
		bool fresh;     /* not read yet */
	} group[CGROUPS_BELOW]; /* the first is the group itself, of which file stays 0 */
	size_t last;            /* place that is taken */
	int64_t gone;           /* the kills of those that are no more */
};

/* Takes dir, an open directory. */
void cgroup_below_open(struct cgroup_below *x, int dir);
void cgroup_below_close(struct cgroup_below *x);
/* All their kills so far; look: for groups that have come since, too. text: room for size bytes. */
int64_t cgroup_below_kills(struct cgroup_below *x, bool look, char *text, size_t size);

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
	int64_t first[CGROUP_SERIES];  /* values that were read before it had series */
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

/* What is due. 0 or -errno: the rest was read. text: room for GROUP_TEXT bytes. */
int cgroup_group_read(struct cgroup_group *g, struct sample *s, char *text);
/* It has series now: what was read before. */
void cgroup_group_put_first(const struct cgroup_group *g, struct sample *s);

/* The place that the group is named after, and path[0..end) of a place as people know it. */
const struct cgroup_place *cgroup_group_place(const struct cgroup_group *g);
const char *cgroup_group_path(const struct cgroup_place *p, size_t end, char out[CGROUP_PATH_SIZE]);

#endif
