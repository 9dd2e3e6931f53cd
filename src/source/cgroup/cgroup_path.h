/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_path.h - the paths of control groups: in /proc/PID/cgroup, below a mount, and what their
 * names tell, cgroups(7).
 *
 * Texts are hostile and NUL-terminated. Names of batch systems are a hint and no more:
 * nothing is found by them but which ancestor is called the job's.
 */
#ifndef SONDE_SOURCE_CGROUP_CGROUP_PATH_H
#define SONDE_SOURCE_CGROUP_CGROUP_PATH_H

#include "source/source.h"

#include <stdbool.h>
#include <stddef.h>

enum { CGROUP_PATH_SIZE = 1024 };

/* A line of /proc/PID/cgroup: "4:cpu,cpuacct:/a/b"; version 2 is "0::/a/b". */
struct cgroup_line {
	const char *controllers; /* in the text, up to a colon */
	char path[CGROUP_PATH_SIZE];
};
/* The next one that has a path that fits and begins with '/', and *text behind it; false at the
 * end. */
bool cgroup_line_next(const char **text, struct cgroup_line *out);

/* Is word one of the words of list, "cpu,cpuacct", up to its end, a colon or a newline? */
bool cgroup_list_has(const char *list, const char *word);
/* Where the process is in the hierarchy of a version 1 controller; "": in that of version 2. False
 * when the text has no such line with a path that fits and begins with '/'. */
bool cgroup_path_find(const char *text, const char *controller, char out[CGROUP_PATH_SIZE]);
/* Is the open directory, of a hierarchy of this version, the group of the whole machine? */
bool cgroup_is_whole_machine(int dir, int version);
/* The part of path that is below a mount of root, without a slash before it; NULL when it is not
 * below. Both are relative to the reader's cgroup namespace and may begin with "/..". */
const char *cgroup_path_below(const char *root, const char *path);

enum cgroup_level { LEVEL_SLICE, LEVEL_JOB, LEVEL_STEP, LEVEL_TASK, LEVELS };
extern const char *const cgroup_level_names[LEVELS];

/* Cut what belongs to one of a step's tasks: the rest is what they have in common. */
void cgroup_path_to_step(char *path);

/* What a batch system's names say the group is, LEVEL_SLICE when nothing. *job: how much of the
 * path is the batch job; 0 when no part is. */
enum cgroup_level cgroup_path_level(const char *path, size_t *job);

/*
 * Where a process's control groups are mounted here, version 1, 2 or both.
 *
 * Found from /proc/PID/cgroup and /proc/self/mountinfo, both as this process's cgroup namespace
 * shows them. Mounts below /sys are read below env->sys, others through env->proc's self/root.
 * A concern is a kind of figure and the controller that has it: it is where that controller is, or
 * in version 2. The group of the whole machine is nobody's: what is only there is refused.
 */

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
