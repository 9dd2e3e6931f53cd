/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup_members.c - who is in a control group. */
#include "base/clock.h"
#include "base/hash.h"
#include "base/text/number.h"
#include "source/cgroup/cgroup.h"
#include "source/procfile.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MEMBERS_MAX = 512, ANCESTORS_MAX = 64, TRIES = 3 };

static const int64_t shortest_ns = NS_PER_S / 2, longest_ns = 10 * NS_PER_S;

static bool read_stat(const struct cgroup_members *x, const char *name, struct proc_stat *st)
{
	char path[32], text[1024];

	snprintf(path, sizeof path, "%s/stat", name);
	return root_read(&x->env->proc, path, text, sizeof text) > 0 &&
	       proc_stat_parse(text, st) == 0;
}

static bool is_root(const struct cgroup_members *x, pid_t pid)
{
	for (size_t i = 0; i < x->env->nroots; i++)
		if (x->env->roots[i] == pid)
			return true;
	return pid == x->self;
}

static bool is_program_of(const struct cgroup_members *x, const char *name, struct stat *program)
{
	char path[32];

	snprintf(path, sizeof path, "%s/exe", name);
	return !fstatat(x->env->proc.fd, path, program, 0);
}

/* The one that a launcher leaves beside the job is nobody's child, and has the launcher's program.
 * What else has it is Sonde's as well; a job that it runs is seen by its own processes. */
static bool is_sonde(const struct cgroup_members *x, const char *name)
{
	struct stat own, its;

	return is_program_of(x, "self", &own) && is_program_of(x, name, &its) &&
	       own.st_dev == its.st_dev && own.st_ino == its.st_ino;
}

enum member { MEMBER_OURS, MEMBER_OTHER, MEMBER_GONE };

static enum member member_of(const struct cgroup_members *x, pid_t pid)
{
	for (int i = 0; i < ANCESTORS_MAX && pid > 0; i++) {
		struct proc_stat st;
		char name[16];

		if (is_root(x, pid))
			return MEMBER_OURS;
		snprintf(name, sizeof name, "%d", (int)pid);
		if (pid == 1)
			break;
		if (!read_stat(x, name, &st))
			return MEMBER_GONE;
		if (!i && is_sonde(x, name))
			return MEMBER_OURS;
		pid = st.ppid;
	}
	return MEMBER_OTHER;
}

static bool has_groups_below(const struct cgroup_members *x)
{
	struct stat st;

	return fstat(x->dir, &st) || st.st_nlink > 2; /* kernfs counts folders as others do */
}

static enum member look_once(struct cgroup_members *x, const char *text, int *members)
{
	enum member worst = MEMBER_OURS;
	int64_t pid;

	*members = 0;
	for (const char *p = text; *p && ++*members <= MEMBERS_MAX; p = number_next_line(p)) {
		enum member m = MEMBER_GONE;

		if (number_i64(&p, &pid) && pid <= INT32_MAX)
			m = pid > 0 ? member_of(x, (pid_t)pid) : MEMBER_OTHER;
		if (m == MEMBER_OTHER) {
			x->other = (pid_t)pid; /* 0: of another pid namespace */
			return m;
		}
		worst = m > worst ? m : worst;
	}
	return worst;
}

/* Version 1 leaves out who is of another pid namespace, version 2 lists them as 0. */
static bool lists_all(const struct cgroup_members *x, const struct cgroup_place *p)
{
	char target[64];
	ssize_t n = readlinkat(x->env->proc.fd, "self/ns/pid", target, sizeof target - 1);

	target[n > 0 ? n : 0] = '\0';
	return p->version != 1 || n < 0 || !strcmp(target, PID_NAMESPACE_INITIAL);
}

static enum cgroup_owner look(struct cgroup_members *x, char *text)
{
	if (!x->procs || !x->lists_all || x->of_several || has_groups_below(x))
		return OWNER_UNKNOWN;
	/* A process that cannot be read has ended, and then the next list is without it; or it is
	 * hidden. */
	for (int i = 0; i < TRIES; i++) {
		ssize_t n = file_reread(x->procs, text, GROUP_TEXT);
		uint32_t seen = n > 0 ? crc32c(0, text, (size_t)n) : 0;
		enum member m;
		int members;

		if (n <= 0 || n + 1 >= GROUP_TEXT || text[n - 1] != '\n')
			return OWNER_UNKNOWN;
		if (seen == x->seen)
			return x->owner;
		m = look_once(x, text, &members);
		if (members > MEMBERS_MAX)
			return OWNER_UNKNOWN;
		x->seen = m == MEMBER_OURS ? seen : 0;
		if (m != MEMBER_GONE)
			return m == MEMBER_OURS ? OWNER_ALONE : OWNER_OTHERS;
	}
	return OWNER_UNKNOWN;
}

bool cgroup_members_look(struct cgroup_members *x, int64_t now_ns, char *text)
{
	int64_t wait = x->last_ns - x->first_ns; /* doubles */
	enum cgroup_owner was = x->owner;

	wait = wait < shortest_ns ? shortest_ns : wait > longest_ns ? longest_ns : wait;
	if (was != OWNER_ALONE || now_ns - x->last_ns < wait)
		return false;
	x->last_ns = now_ns;
	x->owner = look(x, text);
	return x->owner != was;
}

void cgroup_members_open(struct cgroup_members *x, const struct source_env *env,
			 const struct cgroup_place *p, int64_t now_ns, char *text)
{
	char path[2 * CGROUP_PATH_SIZE + 64];
	struct proc_stat st;
	int fd;

	*x = (struct cgroup_members){ .env = env, .first_ns = now_ns, .last_ns = now_ns };
	if (read_stat(x, "self", &st))
		x->self = st.pid;
	x->lists_all = lists_all(x, p);
	fd = cgroup_place_file(p, strlen(p->path), "cgroup.procs", path, sizeof path)
		     ? root_file(p->root, path)
		     : -1;
	x->procs = fd > 0 ? fd : 0;
	fd = cgroup_place_file(p, strlen(p->path), "", path, sizeof path) ? root_file(p->root, path)
									  : -1;
	x->dir = fd > 0 ? fd : 0;
	x->owner = look(x, text);
}

void cgroup_members_close(struct cgroup_members *x)
{
	file_close(&x->procs);
	file_close(&x->dir);
}

bool cgroup_members_joined(struct cgroup_members *x, pid_t launcher)
{
	if (x->of_several || is_root(x, launcher))
		return false;
	x->of_several = true;
	x->owner = OWNER_UNKNOWN;
	return true;
}
