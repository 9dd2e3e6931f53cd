/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_below.h - processes killed for want of memory in the groups below one, version 1.
 *
 * Version 1 counts such a kill in the group of the process alone, which under Slurm is the task's
 * (step_N/task_N), while the limit is the step's. Groups that have gone keep the count that was
 * read of them last. At most CGROUPS_BELOW are known at a time; nothing is allocated.
 */
#ifndef SONDE_SOURCE_CGROUP_CGROUP_BELOW_H
#define SONDE_SOURCE_CGROUP_CGROUP_BELOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { CGROUPS_BELOW = 256 };

struct cgroup_below {
	struct cgroup_below_group {
		int dir, file; /* 0: this place is free */
		ino_t inode, parent;
		nlink_t links; /* when it was listed last; 0: it is to be listed */
		int64_t kills;
		bool fresh;     /* not read yet */
	} group[CGROUPS_BELOW]; /* the first is the group itself, of which file stays 0 */
	int64_t gone;           /* the kills of those that are no more */
};

/* Takes dir, an open directory. */
void cgroup_below_open(struct cgroup_below *x, int dir);
void cgroup_below_close(struct cgroup_below *x);
/* All their kills so far; look: for groups that have come since, too. text: room for size bytes. */
int64_t cgroup_below_kills(struct cgroup_below *x, bool look, char *text, size_t size);

#endif
