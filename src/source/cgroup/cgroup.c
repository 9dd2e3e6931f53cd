/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup.c - the control group the job runs in, and the batch job's above it: cgroups(7). */
#include "source/cgroup/cgroup_members.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { OWN, ABOVE, GROUPS };

struct cgroup {
	struct cgroup_places places;
	struct cgroup_group group[GROUPS];
	struct cgroup_members members;
	bool has_above;
	char text[GROUP_TEXT];
};

static const char *owner_word(const struct cgroup *x)
{
	if (x->members.owner == OWNER_ALONE)
		return "alone";
	if (x->group[OWN].level != LEVEL_SLICE)
		return cgroup_level_names[x->group[OWN].level];
	return x->members.owner == OWNER_OTHERS ? "shared" : "unknown";
}

static void owner_sentence(const struct cgroup *x, char *out, size_t size)
{
	enum cgroup_level level = x->group[OWN].level;

	if (x->members.owner == OWNER_ALONE)
		snprintf(out, size, "nothing but the job is in it");
	else if (level != LEVEL_SLICE)
		snprintf(out, size,
			 "it is the %s of the batch system, by its name; others may be in it",
			 cgroup_level_names[level]);
	else if (x->members.owner == OWNER_UNKNOWN)
		snprintf(out, size, "who else is in it cannot be seen");
	else if (x->members.other)
		snprintf(out, size, "it is shared: process %d does not belong to the job",
			 (int)x->members.other);
	else
		snprintf(out, size, "it is shared with processes outside of this pid namespace");
}

static void say_owner(const struct cgroup *x, struct sample *s)
{
	char sentence[128], note[CGROUP_PATH_SIZE + 192], path[CGROUP_PATH_SIZE];
	const struct cgroup_place *p = cgroup_group_place(&x->group[OWN]);

	owner_sentence(x, sentence, sizeof sentence);
	snprintf(note, sizeof note, "%s, version %d: %s",
		 cgroup_group_path(p, strlen(p->path), path), p->version, sentence);
	sample_meta_text(s, "cgroup.owner", owner_word(x));
	sample_meta_text(s, "cgroup.note", note);
}

static void say_what(const struct cgroup *x, struct sample *s)
{
	const struct cgroup_group *own = &x->group[OWN];
	const struct cgroup_place *p = cgroup_group_place(own);
	bool version[3] = { false };
	char path[CGROUP_PATH_SIZE];

	for (int c = 0; c < CONCERNS; c++)
		if (!x->places.of[c].error)
			version[x->places.of[c].version] = true;
	sample_meta_text(s, "cgroup.version",
			 version[1] && version[2] ? "hybrid"
			 : version[1]             ? "1"
						  : "2");
	sample_meta_text(s, "cgroup.path", cgroup_group_path(p, strlen(p->path), path));
	sample_meta_text(s, "cgroup.level", cgroup_level_names[own->level]);
	/* So that what the job itself did can be told from what was there. */
	if (own->peak_bytes >= 0)
		sample_meta_int(s, "cgroup.memory_peak_before_bytes", own->peak_bytes);
	if (own->oom_kills >= 0)
		sample_meta_int(s, "cgroup.memory_oom_kills_before", own->oom_kills);
}

/* Where some controllers have the job in a group of its own, the group of the others, a daemon's or
 * a user's, is not its. */
static void leave_what_is_shared(struct cgroup *x)
{
	enum cgroup_level level[CONCERNS] = { 0 }, highest = 0;
	size_t job;

	for (int c = 0; c < CONCERNS; c++) {
		if (!x->places.of[c].error)
			level[c] = cgroup_path_level(x->places.of[c].path, &job);
		highest = level[c] > highest ? level[c] : highest;
	}
	for (int c = 0; c < CONCERNS && highest > LEVEL_SLICE; c++) {
		struct cgroup_place *p = &x->places.of[c];

		if (!p->error && level[c] <= LEVEL_SLICE)
			p->error = err_set(&x->places.why[c], -ENODEV,
					   "the job has no control group of its own for it: %s is "
					   "shared",
					   p->path);
	}
}

/* Where the groups end in each place: the job's own is its whole path, the batch job's a part. */
static void set_ends(struct cgroup *x)
{
	struct cgroup_group *own = &x->group[OWN], *above = &x->group[ABOVE];

	leave_what_is_shared(x);
	own->places = above->places = &x->places;
	above->above = true;
	above->level = LEVEL_JOB;
	for (int c = 0; c < CONCERNS; c++) {
		const struct cgroup_place *p = &x->places.of[c];
		enum cgroup_level level;
		size_t job;

		if (p->error)
			continue;
		own->end[c] = strlen(p->path);
		level = cgroup_path_level(p->path, &job);
		if (level > own->level)
			own->level = level;
		if (job && job < own->end[c] && job + 1 >= p->skip) {
			above->end[c] = job;
			x->has_above = true;
		}
	}
}

static void cgroup_close(void *state)
{
	struct cgroup *x = state;

	cgroup_members_close(&x->members);
	for (int i = 0; i < GROUPS; i++)
		cgroup_group_close(&x->group[i]);
}

static int cgroup_open(void *state, const struct source_env *env, struct sample *s, struct err *e)
{
	struct cgroup *x = state;
	struct cgroup_group *own = &x->group[OWN], *above = &x->group[ABOVE];
	int r = cgroup_places_find(&x->places, env, env->nroots ? env->roots[0] : 0, e);

	if (r < 0)
		return r;
	set_ends(x);
	r = cgroup_group_open(own, env, e);
	if (r < 0)
		return r;
	x->has_above = x->has_above && cgroup_group_open(above, env, NULL) == 0;
	if (x->has_above)
		cgroup_group_announce(above, s, 0, x->text);
	cgroup_group_announce(own, s, above->instance, x->text);
	sample_catalogue(s, &cgroup_metrics[CGROUP_SERIES], CGROUP_DISK - CGROUP_SERIES);
	cgroup_members_open(&x->members, env, cgroup_group_place(own), s->mono_ns, x->text);
	say_what(x, s);
	say_owner(x, s);
	return 0;
}

static int cgroup_read(void *state, struct sample *s)
{
	struct cgroup *x = state;
	int r = cgroup_group_read(&x->group[OWN], s, x->text);

	if (x->has_above)
		cgroup_group_read(&x->group[ABOVE], s, x->text);
	if (cgroup_members_look(&x->members, s->mono_ns, x->text))
		say_owner(x, s);
	return r;
}

const struct source source_cgroup = {
	.name = "cgroup",
	.what = "the control group the job runs in: CPU and throttling, memory, I/O, pressure",
	.fix_user =
		"run it in a control group of its own: a batch job's step, or below systemd-run "
		"--user --scope",
	.fix_admin = "constrain jobs by control groups (Slurm: ProctrackType=proctrack/cgroup, "
		     "TaskPlugin=task/cgroup, JobAcctGatherType=jobacct_gather/cgroup)",
	.metrics = cgroup_metrics,
	.nmetrics = CGROUP_METRICS,
	.size = sizeof(struct cgroup),
	.open = cgroup_open,
	.read = cgroup_read,
	.close = cgroup_close,
};
