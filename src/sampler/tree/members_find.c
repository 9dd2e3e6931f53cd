/* SPDX-License-Identifier: Apache-2.0 */
/* members_find.c - by what the processes of a job are told here. */
#include "sampler/tree/members_find.h"

#include "job/scheduler/row.h"
#include "sampler/tree/reading.h"
#include "source/cgroup/cgroup_path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CGROUP_TEXT = 8192 };

static bool read_groups(const struct members *m, pid_t pid, char text[CGROUP_TEXT])
{
	char file[32];

	snprintf(file, sizeof file, "%d/cgroup", (int)pid);
	return root_read(m->proc, file, text, CGROUP_TEXT) > 0;
}

bool members_in_group(const struct members *m, pid_t pid)
{
	size_t n = strlen(m->mark);
	struct cgroup_line line;
	char text[CGROUP_TEXT];
	const char *p = text;

	if (!read_groups(m, pid, text))
		return false;
	while (cgroup_line_next(&p, &line))
		if (!strncmp(line.path, m->mark, n) && (!line.path[n] || line.path[n] == '/'))
			return true;
	return false;
}

static bool ends_with(const char *text, const char *before, const char *id, const char *after)
{
	char end[160];
	size_t n = strlen(text), k;

	k = (size_t)snprintf(end, sizeof end, "%s%s%s", before, id, after);
	return k < sizeof end && k <= n && !strcmp(text + n - k, end);
}

/* Is it what a batch system calls the group of the job id? */
static bool is_group_of(const char *path, const char *id)
{
	return ends_with(path, "/job_", id, "") || ends_with(path, "_", id, "") ||
	       ends_with(path, "-j", id, ".slice") || ends_with(path, "/", id, "");
}

/* The job's group that a process is in; id NULL: any job's. */
static bool find_group(struct members *m, pid_t pid, const char *id)
{
	struct cgroup_line line;
	char text[CGROUP_TEXT];
	const char *p = text;

	if (!read_groups(m, pid, text))
		return false;
	while (cgroup_line_next(&p, &line)) {
		size_t job;

		if (cgroup_path_level(line.path, &job) == LEVEL_SLICE)
			continue;
		line.path[job] = '\0';
		if (id && !is_group_of(line.path, id))
			continue;
		snprintf(m->mark, sizeof m->mark, "%s", line.path);
		snprintf(m->how, sizeof m->how, "the processes in the control group %s", line.path);
		m->by = MEMBERS_CGROUP;
		return true;
	}
	return false;
}

/* Byte by byte: an environment may be long, and its variables end with a NUL. */
bool members_has_variable(const struct members *m, pid_t pid, const char *variable)
{
	size_t n = strlen(variable), same = 0;
	char path[32], text[4096];
	bool differs = false, found = false;
	ssize_t got;
	int fd;

	snprintf(path, sizeof path, "%d/environ", (int)pid);
	fd = root_file(m->proc, path);
	if (fd < 0)
		return false;
	while (!found && (got = read(fd, text, sizeof text)) > 0)
		for (ssize_t i = 0; i < got && !found; i++) {
			found = !text[i] && !differs && same == n;
			differs = text[i] && (differs || text[i] != variable[same]);
			same = text[i] && !differs ? same + 1 : 0;
		}
	close(fd);
	return found || (!differs && same == n);
}

static bool find_stepd(struct members *m, pid_t pid, const char *id)
{
	struct proc_stat st;
	char path[32], line[64], mark[64];
	int n = snprintf(mark, sizeof mark, "slurmstepd: [%s.", id);

	if (n < 0 || (size_t)n >= sizeof mark || !members_stat(m, pid, &st) ||
	    strcmp(st.comm, "slurmstepd") != 0)
		return false;
	snprintf(path, sizeof path, "%d/cmdline", (int)pid);
	root_read(m->proc, path, line, sizeof line); /* its beginning is enough */
	if (strncmp(line, mark, (size_t)n) != 0)
		return false;
	snprintf(m->mark, sizeof m->mark, "%s", mark);
	snprintf(m->how, sizeof m->how, "the descendants of slurmstepd of job %s", id);
	m->by = MEMBERS_STEPD;
	return true;
}

/* Does any process tell? */
static bool any(struct members *m, const char *id,
		bool (*tells)(struct members *m, pid_t pid, const char *id))
{
	DIR *d = opendir(m->proc->path);
	bool found = false;

	for (struct dirent *entry; d && !found && (entry = readdir(d));) {
		long pid = strtol(entry->d_name, NULL, 10);

		found = pid > 0 && pid <= INT32_MAX && tells(m, (pid_t)pid, id);
	}
	if (d)
		closedir(d);
	return found;
}

static void by_variable(struct members *m, const char *name, const char *id)
{
	snprintf(m->mark, sizeof m->mark, "%s=%s", name, id);
	snprintf(m->how, sizeof m->how,
		 "this user's processes with %.100s=%.100s in their environment", name, id);
	m->by = MEMBERS_VARIABLE;
}

static bool find_variable(struct members *m, pid_t pid, const char *id)
{
	for (size_t i = 0; i < nschedulers; i++) {
		by_variable(m, schedulers[i]->sign[0], id);
		if (members_has_variable(m, pid, m->mark))
			return true;
	}
	return false;
}

/* Another job than the one this process is in, or one that nothing here says it is in. */
static int find_named(struct members *m, const char *id, struct err *e)
{
	if (any(m, id, find_group) || any(m, id, find_stepd) || any(m, id, find_variable))
		return 0;
	return err_set(e, -ESRCH,
		       "no process of job %s is seen on this node; within the job, give --job "
		       "without a number",
		       id);
}

/* Where the id is the array's, each process has its element's index beside it. */
static void by_element(struct members *m, const struct batch_job *job)
{
	const char *index = job->text[BATCH_ARRAY_INDEX];
	size_t n = strlen(m->how);

	if (!index || job->text[BATCH_ARRAY_ID] != job->text[BATCH_RAW_ID])
		return;
	snprintf(m->element, sizeof m->element, "%s=%s", job->scheduler->text[BATCH_ARRAY_INDEX][0],
		 index);
	snprintf(m->how + n, sizeof m->how - n, ", and %s", m->element);
}

static void find_own(struct members *m, const struct batch_job *job)
{
	const char *id = job->text[BATCH_RAW_ID];

	if (job->node_named)
		snprintf(m->node, sizeof m->node, "%s=%s", job->scheduler->text[BATCH_NODE_TOLD][0],
			 job->text[BATCH_NODE_TOLD]);

	if (job->scheduler && find_group(m, m->self, NULL))
		return;
	if (job->scheduler && id && !strcmp(job->scheduler->name, "slurm") &&
	    any(m, id, find_stepd))
		return;
	if (job->scheduler && (id || job->mark)) {
		by_variable(m, job->scheduler->sign[0], job->mark ? job->mark : id);
		by_element(m, job);
		return;
	}
	m->by = MEMBERS_USER;
	snprintf(m->how, sizeof m->how,
		 "every process of user %d but Sonde's own, because no batch job was found",
		 (int)m->user);
}

int members_open(struct members *m, const struct root *proc, const struct batch_job *job,
		 const char *id, struct err *e)
{
	bool is_own = id && (!strcmp(id, job->id) ||
			     (job->text[BATCH_RAW_ID] && !strcmp(id, job->text[BATCH_RAW_ID])));
	struct stat exe;

	*m = (struct members){ .proc = proc, .user = geteuid(), .self = reading_self(proc) };
	if (!m->self)
		m->self = getpid(); /* a made-up /proc has this one's file, or none */
	if (!stat("/proc/self/exe", &exe)) {
		m->exe_dev = exe.st_dev;
		m->exe_ino = exe.st_ino;
	}
	if (id && !is_own)
		return find_named(m, id, e);
	find_own(m, job);
	return 0;
}
