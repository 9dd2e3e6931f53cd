/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup_announce.c - announces a control group to the sample: its labels, and why a figure is
 * missing. */
#include "base/clock.h"
#include "source/cgroup/cgroup_group.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

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

void cgroup_group_announce(struct cgroup_group *g, struct sample *s, uint32_t parent, char *text)
{
	g->instance = sample_instance(s, cgroup_metrics->domain, cgroup_level_names[g->level],
				      parent, clock_mono_ns(), g->above ? INSTANCE_ASIDE : 0);
	g->disks.parent = g->instance;
	/* All fields are looked for this once. */
	cgroup_group_read(g, s, text);
	for (size_t i = 0; i < CGROUP_FILES; i++)
		g->file[i].period = (struct period){ 0 };
	if (!g->instance)
		return;
	g->slot = sample_series(s, cgroup_metrics, CGROUP_SERIES, g->instance);
	label_paths(g, s);
	label_limits(g, s);
	refuse_missing(g, s);
	close_useless(g);
}
