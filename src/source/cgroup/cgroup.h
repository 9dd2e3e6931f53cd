/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup.h - is a control group the job's alone? By who is in it: the job's processes are
 * its roots' descendants; Sonde's own count as the job's.
 *
 * Looked at again at growing intervals up to 10 s, so a short visitor may be missed. Once others
 * were seen it is shared for good. What cannot be seen (another pid namespace, hidden processes,
 * groups below, very many members) is not taken for the job's.
 */
#ifndef SONDE_SOURCE_CGROUP_CGROUP_H
#define SONDE_SOURCE_CGROUP_CGROUP_H

#include "source/cgroup/cgroup_group.h"

enum cgroup_owner { OWNER_ALONE, OWNER_OTHERS, OWNER_UNKNOWN };

struct cgroup_members {
	const struct source_env *env;
	int procs; /* cgroup.procs; 0: not open */
	int dir;
	bool lists_all;    /* procs has everybody who is in it */
	bool of_several;   /* launchers: the job is not in this group alone */
	pid_t self, other; /* self: as proc names it; other: the first that is not the job's */
	uint32_t seen;     /* checksum of the list that was looked at last */
	int64_t first_ns, last_ns;
	enum cgroup_owner owner;
};

/* Look for the first time. text: room for GROUP_TEXT bytes, here and below. */
void cgroup_members_open(struct cgroup_members *x, const struct source_env *env,
			 const struct cgroup_place *p, int64_t now_ns, char *text);
/* When it is time, look again. True when the answer is another one than before. */
bool cgroup_members_look(struct cgroup_members *x, int64_t now_ns, char *text);
/* One more launcher, whose task may be in another group. True when the answer is another one. */
bool cgroup_members_joined(struct cgroup_members *x, pid_t launcher);
void cgroup_members_close(struct cgroup_members *x);

#endif
