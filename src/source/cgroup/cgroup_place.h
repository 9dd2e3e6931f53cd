/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_place.h - where a process's control groups are mounted here, version 1, 2 or both.
 *
 * Found from /proc/PID/cgroup and /proc/self/mountinfo, both as this process's cgroup namespace
 * shows them. Mounts below /sys are read below env->sys, others through env->proc's self/root.
 * A concern is a kind of figure and the controller that has it: it is where that controller is, or
 * in version 2. The group of the whole machine is nobody's: what is only there is refused.
 */
#ifndef SONDE_SOURCE_CGROUP_CGROUP_PLACE_H
#define SONDE_SOURCE_CGROUP_CGROUP_PLACE_H

#include "source/cgroup/cgroup_path.h"
#include "source/source.h"

enum cgroup_concern {
	CONCERN_CPU_TIME,
	CONCERN_CPU, /* throttling, the limit of cores */
	CONCERN_MEMORY,
	CONCERN_IO,
	CONCERN_PIDS,
	CONCERN_PRESSURE,
	CONCERNS
};

struct cgroup_place {
	const struct root *root; /* what mount is below; NULL: not found */
	int version;
	int error;                    /* why it is not found; 0: it is */
	char mount[CGROUP_PATH_SIZE]; /* the mount's directory below root */
	char path[CGROUP_PATH_SIZE];  /* as /proc/PID/cgroup says */
	size_t skip;                  /* path[skip] and on is below the mount */
};

struct cgroup_places {
	struct cgroup_place of[CONCERNS];
	struct err why[CONCERNS];
};

/* 0 when there is a place for at least one concern; -errno with a sentence. pid 0: its own. */
int cgroup_places_find(struct cgroup_places *x, const struct source_env *env, pid_t pid,
		       struct err *e);
/* The path of a file of the group that is path[0..end), below place->root. False: too long. */
bool cgroup_place_file(const struct cgroup_place *p, size_t end, const char *file, char *out,
		       size_t size);
/* The end of the group above; false at the top of the mount. */
bool cgroup_place_up(const struct cgroup_place *p, size_t *end);

#endif
