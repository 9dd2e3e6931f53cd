/* SPDX-License-Identifier: Apache-2.0 */
#include "source/cgroup/cgroup_place.h"

#include "source/kept.h"
#include "source/storage/mountinfo.h"
#include "source/sysfs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOUNTS_MAX = 64 };

static const struct {
	const char *v1; /* controller; NULL: version 2 only */
	const char *word;
} concerns[] = {
	[CONCERN_CPU_TIME] = { "cpuacct", "CPU time" },
	[CONCERN_CPU] = { "cpu", "CPU" },
	[CONCERN_MEMORY] = { "memory", "memory" },
	[CONCERN_IO] = { "blkio", "I/O" },
	[CONCERN_PIDS] = { "pids", "pids" },
	[CONCERN_PRESSURE] = { NULL, "pressure" },
};
_Static_assert(sizeof concerns / sizeof concerns[0] == CONCERNS, "a row for every concern");

static bool join(char *out, size_t size, const char *a, size_t na, const char *b)
{
	const char *slash = na && *b ? "/" : "";
	int n = snprintf(out, size, "%.*s%s%s", (int)na, a, slash, b);

	return n >= 0 && (size_t)n < size;
}

bool cgroup_place_file(const struct cgroup_place *p, size_t end, const char *file, char *out,
		       size_t size)
{
	char dir[2 * CGROUP_PATH_SIZE];
	int below = end > p->skip ? (int)(end - p->skip) : 0;

	snprintf(dir, sizeof dir, "%s%s%.*s", p->mount, below ? "/" : "", below, p->path + p->skip);
	return join(out, size, dir, strlen(dir), file);
}

bool cgroup_place_up(const struct cgroup_place *p, size_t *end)
{
	const char *slash;

	if (*end <= p->skip)
		return false;
	slash = memrchr(p->path + p->skip, '/', *end - p->skip);
	*end = slash ? (size_t)(slash - p->path) : p->skip;
	return true;
}

static bool is_whole_machine(const struct cgroup_place *p)
{
	char path[2 * CGROUP_PATH_SIZE];
	int dir = cgroup_place_file(p, strlen(p->path), "", path, sizeof path)
			  ? root_file(p->root, path)
			  : -1;
	bool whole = dir > 0 && cgroup_is_whole_machine(dir, p->version);

	file_close(&dir);
	return whole;
}

static bool exists(const struct cgroup_place *p)
{
	char path[2 * CGROUP_PATH_SIZE];

	return cgroup_place_file(p, strlen(p->path), "cgroup.procs", path, sizeof path) &&
	       sysfs_exists(p->root, path);
}

static bool is_of(const struct mount *m, const char *controller)
{
	if (!controller)
		return strcmp(m->type, "cgroup2") == 0;
	return strcmp(m->type, "cgroup") == 0 && cgroup_list_has(m->options, controller);
}

/* Where the mount is read; false when its path was cut. */
static bool set_mount(struct cgroup_place *p, const struct source_env *env, const struct mount *m)
{
	bool below_sys = strncmp(m->point, "/sys/", 5) == 0;
	const char *root = below_sys ? "" : "self/root";

	if (strlen(m->point) + 1 >= sizeof m->point || strlen(m->root) + 1 >= sizeof m->root)
		return false;
	p->root = below_sys ? &env->sys : &env->proc;
	return join(p->mount, sizeof p->mount, root, strlen(root), m->point + (below_sys ? 5 : 1));
}

struct mounts {
	const struct source_env *env;
	struct mount m[MOUNTS_MAX]; /* those of control groups */
	size_t n;
};

static int read_mounts(struct mounts *x, struct err *e)
{
	struct kept text;
	int r = kept_open(&text, &x->env->proc, "self/mountinfo", 0, e);
	const char *at = r ? "" : text.text;

	while (x->n < MOUNTS_MAX && mountinfo_next(&at, &x->m[x->n]))
		x->n += strncmp(x->m[x->n].type, "cgroup", 6) == 0;
	if (!r)
		kept_close(&text);
	return r;
}

/* Of several mounts that show the group, the one that shows most of what is above it. */
static int find(struct cgroup_place *p, const struct mounts *x, const char *controller)
{
	size_t best = SIZE_MAX;
	bool mounted = false;

	p->version = controller ? 1 : 2;
	for (const struct mount *m = x->m; m < x->m + x->n; m++) {
		const char *below =
			is_of(m, controller) ? cgroup_path_below(m->root, p->path) : NULL;
		struct cgroup_place try = *p;

		mounted |= is_of(m, controller);
		if (!below || strlen(m->root) >= best || !set_mount(&try, x->env, m))
			continue;
		try.skip = (size_t)(below - p->path);
		if (!exists(&try))
			continue;
		best = strlen(m->root);
		*p = try;
	}
	if (p->root)
		return is_whole_machine(p) ? -ENODEV : 0;
	return mounted ? -ENOENT : -ENXIO;
}

static int refuse(struct err *e, int error, const struct cgroup_place *p, const char *word)
{
	if (error == -ENODEV)
		return err_set(e, error,
			       "the job has no control group of its own for %s, only that of the "
			       "whole machine",
			       word);
	if (error == -ENOENT)
		return err_set(e, error, "the control group %s is not mounted here", p->path);
	return err_set(e, -ENODEV, "no control groups with %s are mounted here", word);
}

static void find_concern(struct cgroup_places *x, const struct mounts *mounts, const char *text,
			 int concern)
{
	const char *controllers[] = { concerns[concern].v1, NULL };
	struct cgroup_place *out = &x->of[concern];
	int first = concerns[concern].v1 ? 0 : 1;

	out->error = -ENXIO;
	refuse(&x->why[concern], -ENXIO, out, concerns[concern].word);
	for (int i = first; i < 2 && out->error; i++) {
		struct cgroup_place p = { 0 };

		if (!cgroup_path_find(text, i ? "" : controllers[0], p.path))
			continue;
		if (mounts->env->shared)
			cgroup_path_to_step(p.path);
		if (mounts->env->followed) /* its steps come and go, Sonde's own is one */
			cgroup_path_to_job(p.path);
		p.error = find(&p, mounts, controllers[i]);
		if (p.error && i && first == 0 && out->error != -ENXIO)
			break; /* why it is not in its own hierarchy says more */
		*out = p;
		if (p.error)
			refuse(&x->why[concern], p.error, &p, concerns[concern].word);
	}
}

static int find_all(struct cgroup_places *x, const struct mounts *mounts, const char *text,
		    struct err *e)
{
	int first = 0;

	for (int i = 0; i < CONCERNS; i++)
		find_concern(x, mounts, text, i);
	for (int i = 0; i < CONCERNS; i++) {
		if (!x->of[i].error)
			return 0;
		if (x->of[i].error == -ENOENT && x->of[first].error != -ENOENT)
			first = i;
	}
	return err_set(e, x->of[first].error == -ENOENT ? -ENOENT : -ENODEV, "%s",
		       x->why[first].text);
}

int cgroup_places_find(struct cgroup_places *x, const struct source_env *env, pid_t pid,
		       struct err *e)
{
	struct mounts *mounts = calloc(1, sizeof *mounts);
	struct kept text = { 0 };
	char path[32] = "self/cgroup";
	int r;

	if (!mounts)
		return err_set(e, -ENOMEM, "there is no memory for a table of mounts");
	mounts->env = env;
	if (pid)
		snprintf(path, sizeof path, "%d/cgroup", (int)pid);
	r = kept_open(&text, &env->proc, path, 0, e);
	if (!r)
		r = read_mounts(mounts, e);
	if (!r)
		r = find_all(x, mounts, text.text, e);
	kept_close(&text);
	free(mounts);
	return r;
}
