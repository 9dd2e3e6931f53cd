/* SPDX-License-Identifier: Apache-2.0 */
#include "source/cgroup/cgroup_path.h"

#include "base/text/number.h"

#include <string.h>
#include <unistd.h>

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

void cgroup_path_to_job(char *path)
{
	size_t job;

	if (cgroup_path_level(path, &job) > LEVEL_JOB)
		path[job] = '\0';
}
