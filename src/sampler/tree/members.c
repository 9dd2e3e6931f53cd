/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/tree/members.h"

#include "base/text/number.h"
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
#include <sys/syscall.h>
#include <unistd.h>

/*
 * By what the processes of a job are told here.
 */

enum { CGROUP_TEXT = 8192 };

static bool read_groups(const struct members *m, pid_t pid, char text[CGROUP_TEXT])
{
	char file[32];

	snprintf(file, sizeof file, "%d/cgroup", (int)pid);
	return root_read(m->proc, file, text, CGROUP_TEXT) > 0;
}

/* Is it in the group m->mark, or below? */
static bool members_in_group(const struct members *m, pid_t pid)
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
/* Is "NAME=value" in its environment? */
static bool members_has_variable(const struct members *m, pid_t pid, const char *variable)
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

enum { ANCESTORS_MAX = 64, RANGE_MAX = 16384 };

bool members_stat(const struct members *m, pid_t pid, struct proc_stat *st)
{
	char path[32], text[1024];

	snprintf(path, sizeof path, "%d/stat", (int)pid);
	return root_read(m->proc, path, text, sizeof text) > 0 && !proc_stat_parse(text, st);
}

static bool is_users(const struct members *m, pid_t pid)
{
	char path[16];
	struct stat st;

	snprintf(path, sizeof path, "%d", (int)pid);
	return !fstatat(m->proc->fd, path, &st, 0) && st.st_uid == m->user;
}

/* Helpers that a recorder starts beside a job. */
static bool is_helper(const char *comm)
{
	return !strcmp(comm, "sonde-nvml") || !strcmp(comm, "sonde-unwind") ||
	       !strcmp(comm, "sonde-files");
}

bool members_is_own(const struct members *m, pid_t pid)
{
	struct proc_stat st;
	struct stat exe;
	char path[32];
	bool named;

	if (pid == m->self)
		return true;
	snprintf(path, sizeof path, "%d/exe", (int)pid);
	named = !fstatat(m->proc->fd, path, &exe, 0);
	if (named && exe.st_dev == m->exe_dev && exe.st_ino == m->exe_ino)
		return true;
	/* One that ends has no program any more: another copy's helper that was just seen. */
	return members_stat(m, pid, &st) &&
	       (named ? is_helper(st.comm) : !strncmp(st.comm, "sonde-", 6));
}

bool members_waits(const struct members *m, pid_t pid)
{
	for (size_t i = 0; i < m->nwaiters; i++)
		if (m->waiter[i] == pid)
			return true;
	return false;
}

/* Is there a slurmstepd of the job above? It names job and step in its command line. */
static bool is_below_stepd(const struct members *m, struct proc_stat st)
{
	char path[32], line[64];

	for (int i = 0; i < ANCESTORS_MAX && st.ppid > 1; i++) {
		if (!members_stat(m, st.ppid, &st))
			return false;
		if (strcmp(st.comm, "slurmstepd") != 0)
			continue;
		snprintf(path, sizeof path, "%d/cmdline", (int)st.pid);
		root_read(m->proc, path, line, sizeof line);
		return !strncmp(line, m->mark, strlen(m->mark));
	}
	return false;
}

bool members_is_here(const struct members *m, pid_t pid)
{
	return !m->node[0] || members_has_variable(m, pid, m->node);
}

static bool is_of_element(const struct members *m, pid_t pid)
{
	return !m->element[0] || members_has_variable(m, pid, m->element);
}

/* Is it an ancestor of this process? */
static bool members_is_above(const struct members *m, pid_t pid)
{
	struct proc_stat st = { .ppid = m->self };

	for (int i = 0; i < ANCESTORS_MAX && st.ppid > 1; i++) {
		if (st.ppid == pid)
			return pid != m->self;
		if (!members_stat(m, st.ppid, &st))
			return false;
	}
	return false;
}

static bool is_member(const struct members *m, pid_t pid, const struct proc_stat *st)
{
	switch (m->by) {
	case MEMBERS_CGROUP:
		return members_in_group(m, pid);
	case MEMBERS_STEPD:
		return is_below_stepd(m, *st) && members_is_here(m, pid);
	case MEMBERS_VARIABLE:
		return members_has_variable(m, pid, m->mark) && is_of_element(m, pid) &&
		       members_is_here(m, pid);
	case MEMBERS_USER:
		break;
	}
	return !members_is_above(m, pid);
}

/* What starts ranks and waits for them: these are others. */
static bool is_launcher(const char *comm)
{
	static const char *const names[] = { "srun", "mpirun", "mpiexec", "orterun", "prterun" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		size_t n = strlen(names[i]);

		if (!strncmp(comm, names[i], n) && (!comm[n] || comm[n] == '.'))
			return true;
	}
	return false;
}

/* The batch script is the child of the batch step's slurmstepd. */
static bool only_waits(const struct members *m, const struct proc_stat *st)
{
	struct proc_stat parent;
	char path[32], line[64] = "";

	if (is_launcher(st->comm) || members_is_above(m, st->pid))
		return true;
	if (!members_stat(m, st->ppid, &parent) || strcmp(parent.comm, "slurmstepd") != 0)
		return false;
	snprintf(path, sizeof path, "%d/cmdline", (int)st->ppid);
	root_read(m->proc, path, line, sizeof line);
	return strstr(line, ".batch]") != NULL;
}

/* The kernel's and the scheduler's, when the job is root's. */
static bool is_nobodys(const struct proc_stat *st)
{
	enum { KERNEL_THREAD = 0x200000 };

	return (st->flags & KERNEL_THREAD) || !strcmp(st->comm, "slurmstepd");
}

static void judge_again(struct members *m, pid_t pid)
{
	if (m->npending < MEMBERS_PENDING && pid != m->self)
		m->pending[m->npending++] = pid;
}

/* is_new: not judged before. It may still be what its parent was: its own environment comes with
 * exec, and its control group from whoever started it. */
static void judge(struct members *m, pid_t pid, bool is_new, pid_t *out, size_t *n)
{
	struct proc_stat st;

	if (!is_users(m, pid) || !members_stat(m, pid, &st) || is_nobodys(&st))
		return;
	if (st.ppid == m->self || members_is_own(m, pid)) {
		judge_again(m, pid);
		return;
	}
	if (!is_member(m, pid, &st)) {
		if (is_new)
			judge_again(m, pid);
		return;
	}
	if (reading_process_of(m->proc, pid) != pid)
		return; /* a thread's id is given out as a pid, too */
	out[(*n)++] = pid;
	if (m->nwaiters < MEMBERS_WAITERS && !members_waits(m, pid) && only_waits(m, &st))
		m->waiter[m->nwaiters++] = pid;
}

static bool entry_pid(const char *name, pid_t *pid)
{
	int64_t v;

	if (*name < '1' || *name > '9' || !number_i64(&name, &v) || *name || v > INT32_MAX)
		return false;
	*pid = (pid_t)v;
	return true;
}

struct sought {
	const char *comm; /* NULL: children of parent */
	pid_t parent;
};

static bool is_sought(const struct members *m, const struct sought *x, const struct proc_stat *st)
{
	if (proc_stat_ended(st))
		return false;
	return x->comm ? !strcmp(st->comm, x->comm) && is_users(m, st->pid) &&
				 is_member(m, st->pid, st)
		       : st->ppid == x->parent;
}

static size_t seek(const struct members *m, const struct sought *x, pid_t *out, size_t cap)
{
	DIR *d = opendir(m->proc->path);
	size_t n = 0;

	for (struct dirent *entry; d && n < cap && (entry = readdir(d));) {
		struct proc_stat st;
		pid_t pid;

		if (entry_pid(entry->d_name, &pid) && members_stat(m, pid, &st) &&
		    is_sought(m, x, &st))
			out[n++] = pid;
	}
	if (d)
		closedir(d);
	return n;
}

size_t members_children(const struct members *m, pid_t pid, pid_t *out, size_t cap)
{
	return seek(m, &(struct sought){ .parent = pid }, out, cap);
}

size_t members_named(const struct members *m, const char *comm, pid_t *out, size_t cap)
{
	return seek(m, &(struct sought){ .comm = comm }, out, cap);
}

static void judge_all(struct members *m, pid_t *out, size_t cap, size_t *n)
{
	char buf[8192] __attribute__((aligned(8)));
	long got;

	if (lseek(m->proc->fd, 0, SEEK_SET) < 0)
		return;
	while ((got = syscall(SYS_getdents64, m->proc->fd, buf, sizeof buf)) > 0)
		for (long at = 0; at < got;) {
			unsigned short length;
			pid_t pid;

			memcpy(&length, buf + at + 16, sizeof length);
			if (*n < cap && entry_pid(buf + at + 19, &pid))
				judge(m, pid, true, out, n);
			at += length;
		}
}

static void judge_pending(struct members *m, pid_t *out, size_t cap, size_t *n)
{
	size_t most = m->npending;

	m->npending = 0;
	for (size_t i = 0; i < most && *n < cap; i++)
		judge(m, m->pending[i], false, out, n); /* it may be pending again */
}

/* Those that have ended make room. */
static void forget_waiters(struct members *m)
{
	struct proc_stat st;
	size_t kept = 0;

	for (size_t i = 0; i < m->nwaiters; i++)
		if (members_stat(m, m->waiter[i], &st))
			m->waiter[kept++] = m->waiter[i];
	m->nwaiters = kept;
}

size_t members_next(struct members *m, pid_t *out, size_t cap)
{
	pid_t last = 0, from = m->last_pid;
	char text[128];
	size_t n = 0;

	if (root_read(m->proc, "loadavg", text, sizeof text) <= 0 ||
	    proc_last_pid_parse(text, &last))
		last = 0;
	judge_pending(m, out, cap, &n);
	if (last && last == from)
		return n;
	forget_waiters(m);
	if (last && from && last > from && last - from < RANGE_MAX) {
		for (pid_t pid = from + 1; pid <= last && n < cap; pid++)
			judge(m, pid, true, out, &n);
	} else {
		m->npending = 0;
		judge_all(m, out, cap, &n);
	}
	m->last_pid = last;
	return n;
}
