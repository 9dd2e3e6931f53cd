/* SPDX-License-Identifier: Apache-2.0 */
#include "source/cgroup/cgroup_path.h"

#include "base/text/number.h"
#include "source/kept.h"
#include "source/storage/mountinfo.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Paths ---- */

const char *const cgroup_level_names[LEVELS] = {
	[LEVEL_SLICE] = "slice",
	[LEVEL_JOB] = "job",
	[LEVEL_STEP] = "step",
	[LEVEL_TASK] = "task",
};

bool cgroup_list_has(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = list;; p++) {
		size_t len = strcspn(p, ",:\n");

		if (len == n && memcmp(p, word, n) == 0)
			return true;
		p += len;
		if (*p != ',')
			return false;
	}
}

bool cgroup_line_next(const char **text, struct cgroup_line *out)
{
	while (**text) {
		const char *line = *text, *end = line + strcspn(line, "\n"), *colon, *path;
		size_t n;

		*text = number_next_line(line);
		colon = memchr(line, ':', (size_t)(end - line));
		path = colon ? memchr(colon + 1, ':', (size_t)(end - colon - 1)) : NULL;
		n = path ? (size_t)(end - ++path) : 0;
		if (!n || *path != '/' || n >= sizeof out->path)
			continue;
		out->controllers = colon + 1;
		memcpy(out->path, path, n);
		out->path[n] = '\0';
		return true;
	}
	return false;
}

bool cgroup_path_find(const char *text, const char *controller, char out[CGROUP_PATH_SIZE])
{
	struct cgroup_line line;

	while (cgroup_line_next(&text, &line))
		if (cgroup_list_has(line.controllers, controller)) {
			memcpy(out, line.path, sizeof line.path);
			return true;
		}
	return false;
}

/* It has files no other has, and lacks one that all others have. */
bool cgroup_is_whole_machine(int dir, int version)
{
	const char *file = version == 1 ? "release_agent" : "cgroup.events";

	return (faccessat(dir, file, F_OK, 0) == 0) == (version == 1);
}

const char *cgroup_path_below(const char *root, const char *path)
{
	size_t n = strcmp(root, "/") == 0 ? 0 : strlen(root);
	const char *rest = path + n;

	if (strncmp(root, path, n) != 0 || (*rest && *rest != '/'))
		return NULL;
	rest += *rest == '/';
	return strncmp(rest, "..", 2) == 0 && (!rest[2] || rest[2] == '/') ? NULL : rest;
}

struct part {
	const char *at;
	size_t len;
};

static bool begins(struct part p, const char *with)
{
	size_t n = strlen(with);

	return p.len >= n && memcmp(p.at, with, n) == 0;
}

static bool ends(struct part p, const char *with)
{
	size_t n = strlen(with);

	return p.len >= n && memcmp(p.at + p.len - n, with, n) == 0;
}

static bool is(struct part p, const char *word)
{
	return p.len == strlen(word) && begins(p, word);
}

static bool has(struct part p, const char *word)
{
	return p.len && memmem(p.at, p.len, word, strlen(word));
}

/* before[0] is the part above, before[1] the one above that. */
static bool is_job(struct part p, const struct part before[2])
{
	/* Slurm: slurm/uid_U/job_J or slurm_NODE/uid_U/job_J; slurmstepd.scope/job_J, since 26.05
	 * by its SLUID, beside "system", the daemon's own. */
	if (ends(before[0], "slurmstepd.scope"))
		return !is(p, "system");
	if (begins(before[0], "uid_") && begins(before[1], "slurm"))
		return true;
	/* OAR: oar/USER_J, and oar-uU-jJ.slice under systemd */
	if (is(before[0], "oar"))
		return has(p, "_");
	if (begins(p, "oar-u") && has(p, "-j") && ends(p, ".slice"))
		return true;
	/* PBS: pbs_jobs*.service/jobid/J; its first word is the site's to choose, and was pbspro */
	return is(before[0], "jobid") && (begins(before[1], "pbs") || ends(before[1], ".service"));
}

enum cgroup_level cgroup_path_level(const char *path, size_t *job)
{
	struct part before[2] = { { "", 0 }, { "", 0 } };
	enum cgroup_level level = LEVEL_SLICE;

	*job = 0;
	for (const char *p = path; *p;) {
		struct part part = { p, strcspn(p, "/") };

		if (level == LEVEL_SLICE && part.len && is_job(part, before)) {
			level = LEVEL_JOB;
			*job = (size_t)(p - path) + part.len;
		} else if (level == LEVEL_JOB && begins(part, "step_")) {
			level = LEVEL_STEP;
		} else if (level == LEVEL_STEP && begins(part, "task_")) {
			level = LEVEL_TASK;
		}
		if (part.len) {
			before[1] = before[0];
			before[0] = part;
		}
		p += part.len + (p[part.len] == '/');
	}
	return level;
}

void cgroup_path_to_step(char *path)
{
	size_t job;

	while (cgroup_path_level(path, &job) == LEVEL_TASK) {
		char *slash = strrchr(path, '/');

		if (!slash)
			return;
		*slash = '\0';
	}
}

/* Cut what is below the batch job, where the path names one. */
static void cgroup_path_to_job(char *path)
{
	size_t job;

	if (cgroup_path_level(path, &job) > LEVEL_JOB)
		path[job] = '\0';
}

/* ---- Places ---- */

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
	struct cgroup_place unified; /* version 2 has one for all; its version is 0 until found */
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

/* For all concerns alike: looked for once. */
static int find_unified(struct cgroup_place *p, struct mounts *x)
{
	if (!x->unified.version) {
		p->error = find(p, x, NULL);
		x->unified = *p;
	}
	*p = x->unified;
	return p->error;
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

static void find_concern(struct cgroup_places *x, struct mounts *mounts, const char *text,
			 int concern)
{
	const char *v1 = concerns[concern].v1;
	struct cgroup_place *out = &x->of[concern];
	int first = v1 ? 0 : 1;

	out->error = -ENXIO;
	refuse(&x->why[concern], -ENXIO, out, concerns[concern].word);
	for (int i = first; i < 2 && out->error; i++) {
		struct cgroup_place p = { 0 };

		if (!cgroup_path_find(text, i ? "" : v1, p.path))
			continue;
		if (mounts->env->shared)
			cgroup_path_to_step(p.path);
		if (mounts->env->followed) /* its steps come and go, Sonde's own is one */
			cgroup_path_to_job(p.path);
		p.error = i ? find_unified(&p, mounts) : find(&p, mounts, v1);
		if (p.error && i && first == 0 && out->error != -ENXIO)
			break; /* why it is not in its own hierarchy says more */
		*out = p;
		if (p.error)
			refuse(&x->why[concern], p.error, &p, concerns[concern].word);
	}
}

static int find_all(struct cgroup_places *x, struct mounts *mounts, const char *text, struct err *e)
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
