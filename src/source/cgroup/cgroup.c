/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup.c - the control group the job runs in, and the batch job's above it: cgroups(7). */
#include "source/cgroup/cgroup.h"

#include "base/clock.h"
#include "source/cgroup/cgroup_group.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- Announcing a group ---- */

/* Announces a control group to the sample: its labels, and why a figure is missing. */

static bool gives(const struct cgroup_file *file, enum cgroup_metric m)
{
	uint32_t first = file->shape == DISKS_V1_COUNTS ? CGROUP_READS : CGROUP_READ;
	uint32_t n = file->shape == DISKS_V2 ? CGROUP_DISK_SERIES : 2;

	if (file->shape != FIELDS)
		return m >= first && m < first + n;
	for (const struct cgroup_field *f = file->field; f->line; f++)
		if (f->metric == m)
			return true;
	return false;
}

static const struct cgroup_limit *limit_of(enum cgroup_metric m)
{
	for (size_t i = 0; i < CGROUP_LIMITS; i++)
		if (cgroup_limits[i].metric == m)
			return &cgroup_limits[i];
	return NULL;
}

/* The file it would be in: of the version that is there, else of any. */
static size_t file_of(const struct cgroup_group *g, enum cgroup_metric m)
{
	size_t any = CGROUP_FILES;

	for (size_t i = 0; i < CGROUP_FILES; i++) {
		if (!gives(&cgroup_files[i], m))
			continue;
		if (g->places->of[cgroup_files[i].concern].version == cgroup_files[i].version)
			return i;
		any = i;
	}
	return any;
}

static enum state why_no_file(const struct cgroup_group *g, size_t i, char *why, size_t size)
{
	const struct cgroup_file *file = &cgroup_files[i];
	const struct cgroup_place *p = &g->places->of[file->concern];
	int error = g->file[i].error;

	if (p->version != file->version)
		snprintf(why, size, "version %d of control groups does not report it", p->version);
	else if (state_of(error) == STATE_UNSUPPORTED)
		snprintf(why, size,
			 "there is no %s: its controller is off for this group, or the kernel has "
			 "none",
			 file->name);
	else
		snprintf(why, size, "%s: %s", file->name, strerror(-error));
	return state_of(error);
}

static enum state why_no_limit(const struct cgroup_group *g, const struct cgroup_limit *l,
			       char *why, size_t size)
{
	int error = g->limit_error[l - cgroup_limits];

	snprintf(why, size, "%s: %s", l->file[g->places->of[l->concern].version],
		 error == -EBADMSG ? "it holds no limit" : strerror(-error));
	return state_of(error);
}

static enum state why_missing(const struct cgroup_group *g, enum cgroup_metric m, char *why,
			      size_t size)
{
	const struct cgroup_limit *l = limit_of(m);
	size_t i = l ? CGROUP_FILES : file_of(g, m);
	enum cgroup_concern c = l ? l->concern : cgroup_files[i].concern;
	const struct cgroup_place *p = &g->places->of[c];

	if (p->error) {
		snprintf(why, size, "%s", g->places->why[c].text);
		return STATE_UNSUPPORTED;
	}
	if (!g->end[c]) {
		snprintf(why, size, "the batch job has no group of its own for it");
		return STATE_UNSUPPORTED;
	}
	if (!l && cgroup_files[i].reach == OWN_ONLY && g->above) {
		snprintf(why, size, "%s does not count the groups below it", cgroup_files[i].name);
		return STATE_UNSUPPORTED;
	}
	if (g->bad >> m & 1 && cgroup_files[i].shape != FIELDS) {
		snprintf(why, size, "%s", cgroup_disks_unknown);
		return STATE_FAILED;
	}
	if (g->bad >> m & 1) {
		snprintf(why, size, "%s gives no number for it", cgroup_files[i].name);
		return STATE_FAILED;
	}
	if (l && g->limit_error[l - cgroup_limits])
		return why_no_limit(g, l, why, size);
	if (l && !l->file[p->version])
		snprintf(why, size, "version %d of control groups has no such limit", p->version);
	else if (l)
		snprintf(why, size, "no limit is set");
	else if (!g->file[i].fd)
		return why_no_file(g, i, why, size);
	else
		snprintf(why, size, "%s does not report it", cgroup_files[i].name);
	return STATE_UNSUPPORTED;
}

static void refuse_missing(const struct cgroup_group *g, struct sample *s)
{
	for (uint32_t m = 0; g->slot && m < CGROUP_SERIES; m++) {
		enum state state = STATE_PRESENT;
		char why[512];

		if (!(g->has >> m & 1))
			state = why_missing(g, m, why, sizeof why);
		if (state != STATE_PRESENT)
			sample_refuse(s, g->slot + m, state, why);
	}
}

/* What gave nothing is not read again. */
static void close_useless(struct cgroup_group *g)
{
	for (size_t i = 0; i < CGROUP_FILES; i++) {
		uint64_t given = cgroup_files[i].shape == FIELDS ? 0 : UINT64_MAX;

		for (const struct cgroup_field *f = cgroup_files[i].field; f->line; f++)
			given |= g->has & UINT64_C(1) << f->metric;
		if (given)
			continue;
		file_close(&g->file[i].fd);
		if (cgroup_files[i].reach == ADDED)
			cgroup_below_close(&g->below);
	}
}

/* Controllers of version 1 may each have the job in another group. */
static void label_paths(const struct cgroup_group *g, struct sample *s)
{
	static const char *const keys[] = {
		[CONCERN_CPU_TIME] = "cpu_time_path", [CONCERN_CPU] = "cpu_path",
		[CONCERN_MEMORY] = "memory_path",     [CONCERN_IO] = "io_path",
		[CONCERN_PIDS] = "pids_path",         [CONCERN_PRESSURE] = "pressure_path",
	};
	const struct cgroup_place *named = cgroup_group_place(g);
	char first[CGROUP_PATH_SIZE], path[CGROUP_PATH_SIZE];

	cgroup_group_path(named, g->end[named - g->places->of], first);
	sample_label(s, g->instance, "path", first);
	for (int c = 0; c < CONCERNS; c++) {
		const struct cgroup_place *p = &g->places->of[c];

		if (p->error || !g->end[c])
			continue;
		if (strcmp(cgroup_group_path(p, g->end[c], path), first) != 0)
			sample_label(s, g->instance, keys[c], path);
	}
}

static void label_limits(const struct cgroup_group *g, struct sample *s)
{
	char path[CGROUP_PATH_SIZE];

	for (size_t i = 0; i < CGROUP_LIMITS; i++) {
		const struct cgroup_limit *l = &cgroup_limits[i];

		if (g->limit[i] >= 0)
			sample_label(s, g->instance, l->label,
				     cgroup_group_path(&g->places->of[l->concern], g->limit_end[i],
						       path));
	}
}

/* Tell the sample of it, and say why what is missing is missing. text: room for GROUP_TEXT bytes.
 * in_sample: what is read is the sample's; else it is read again for the first. */
static void announce_group(struct cgroup_group *g, struct sample *s, uint32_t parent, char *text,
			   bool in_sample)
{
	g->instance = sample_instance(s, cgroup_metrics->domain, cgroup_level_names[g->level],
				      parent, clock_mono_ns(), g->above ? INSTANCE_ASIDE : 0);
	g->disks.parent = g->instance;
	/* All fields are looked for this once. */
	cgroup_group_read(g, s, text);
	for (size_t i = 0; i < CGROUP_FILES && !in_sample; i++)
		g->file[i].period = (struct period){ 0 };
	if (!g->instance)
		return;
	g->slot = sample_series(s, cgroup_metrics, CGROUP_SERIES, g->instance);
	if (in_sample)
		cgroup_group_put_first(g, s);
	label_paths(g, s);
	label_limits(g, s);
	refuse_missing(g, s);
	close_useless(g);
}

/* ---- Source ---- */

enum { OWN, ABOVE, GROUPS };

struct cgroup {
	struct cgroup_places places;
	struct cgroup_group group[GROUPS];
	struct cgroup_members members;
	bool has_above;
	bool later; /* it is told of by the first read() */
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
	else if (x->members.of_several)
		snprintf(out, size, "the job's other tasks may be in others");
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

/* Version 1 has a group for each controller: who is in one says nothing of the others. */
static bool has_several_groups(const struct cgroup *x)
{
	const struct cgroup_place *place = cgroup_group_place(&x->group[OWN]);

	for (int c = 0; c < CONCERNS; c++) {
		const struct cgroup_place *p = &x->places.of[c];

		if (!p->error && x->group[OWN].end[c] && strcmp(p->path, place->path) != 0)
			return true;
	}
	return false;
}

static void announce(struct cgroup *x, struct sample *s, bool in_sample)
{
	struct cgroup_group *own = &x->group[OWN], *above = &x->group[ABOVE];

	if (x->has_above)
		announce_group(above, s, 0, x->text, in_sample);
	announce_group(own, s, above->instance, x->text, in_sample);
	say_what(x, s);
	say_owner(x, s);
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
	sample_catalogue(s, &cgroup_metrics[CGROUP_SERIES], CGROUP_DISK - CGROUP_SERIES);
	cgroup_members_open(&x->members, env, cgroup_group_place(own), s->mono_ns, x->text);
	if (x->members.owner == OWNER_ALONE && has_several_groups(x))
		x->members.owner = OWNER_UNKNOWN;
	x->later = env->rest_follows; /* it is read soon: its files need not be made twice */
	if (!x->later)
		announce(x, s, false);
	return 0;
}

static int cgroup_read(void *state, struct sample *s)
{
	struct cgroup *x = state;
	int r = 0;

	if (x->later)
		announce(x, s, true);
	else
		r = cgroup_group_read(&x->group[OWN], s, x->text);
	if (x->has_above && !x->later)
		cgroup_group_read(&x->group[ABOVE], s, x->text);
	x->later = false;
	if (cgroup_members_look(&x->members, s->mono_ns, x->text))
		say_owner(x, s);
	return r;
}

/* Another launcher's task may have a group of its own, of which this one knows nothing. */
static int cgroup_joined(void *state, pid_t launcher, bool runs, struct sample *s)
{
	struct cgroup *x = state;

	(void)runs;
	if (cgroup_members_joined(&x->members, launcher) && !x->later)
		say_owner(x, s);
	return 0;
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
	.joined = cgroup_joined,
	.close = cgroup_close,
};
