/* SPDX-License-Identifier: Apache-2.0 */
#include "source/perf/perf_where.h"

#include "base/text/number.h"
#include "source/cgroup/cgroup_path.h"
#include "source/kept.h"
#include "source/perf/perf_count.h"
#include "source/storage/mountinfo.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEVICES "bus/event_source/devices"

enum { CPUS_MAX = 4096, CHILDREN_BYTES = 1 << 16, PATH_BYTES = 512 };

size_t perf_cpu_list(const char *text, int *cpus, size_t max)
{
	size_t n = 0;

	for (const char *p = text;;) {
		uint64_t from, to;

		if (!number_u64(&p, &from))
			return 0;
		to = from;
		if (*p == '-' && (p++, !number_u64(&p, &to)))
			return 0;
		if (to < from || to >= INT32_MAX || to - from > CPUS_MAX)
			return 0;
		for (uint64_t cpu = from; cpu <= to; cpu++)
			if (n++ < max)
				cpus[n - 1] = (int)cpu;
		if (*p != ',')
			return *p && *p != '\n' ? 0 : n;
		p++;
	}
}

static int add_seat(struct perf_where *w, struct perf_seat seat)
{
	if (w->n == w->cap) {
		size_t cap = w->cap ? 2 * w->cap : 8;
		struct perf_seat *grown = reallocarray(w->seat, cap, sizeof *grown);

		if (!grown)
			return -ENOMEM;
		w->seat = grown;
		w->cap = cap;
	}
	if (w->n == PERF_SEATS_MAX)
		return -E2BIG;
	w->seat[w->n++] = seat;
	return 0;
}

static int add_cpus(struct perf_where *w, const struct root *sys, const char *path,
		    struct perf_seat seat)
{
	int *cpus = calloc(CPUS_MAX, sizeof *cpus), bad = -ENOMEM;
	char text[4096];
	ssize_t got = root_read(sys, path, text, sizeof text);
	size_t n = cpus && got > 0 ? perf_cpu_list(text, cpus, CPUS_MAX) : 0;

	if (cpus)
		bad = got < 0 ? (int)got : n ? 0 : -EBADMSG;
	for (size_t i = 0; i < n && i < CPUS_MAX && !bad; i++) {
		seat.cpu = cpus[i];
		bad = add_seat(w, seat);
	}
	free(cpus);
	return bad;
}

static bool has_seat(const struct perf_where *w, pid_t pid)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->seat[i].pid == pid)
			return true;
	return false;
}

/* What the threads of a process have started, each once. Without CONFIG_PROC_CHILDREN there is no
 * such file, and only the roots are known. */
static int add_children(struct perf_where *processes, const struct root *proc, pid_t pid, pid_t tid,
			char *buf)
{
	char path[64];
	ssize_t got;
	int bad = 0;

	snprintf(path, sizeof path, "%d/task/%d/children", (int)pid, (int)tid);
	got = root_read(proc, path, buf, CHILDREN_BYTES);
	if (got <= 0)
		return 0;
	for (const char *p = buf; *p && !bad;) {
		int64_t child;

		if (!number_i64(&p, &child) || child <= 0 || child > INT32_MAX)
			break;
		if (!has_seat(processes, (pid_t)child))
			bad = add_seat(processes, (struct perf_seat){ .pid = (pid_t)child });
		p = number_skip_blanks(p);
	}
	return bad;
}

static int add_threads(struct perf_where *w, struct perf_where *processes, const struct root *proc,
		       pid_t pid, char *buf)
{
	char path[sizeof proc->path + 32];
	int bad = 0;
	DIR *d;

	snprintf(path, sizeof path, "%s/%d/task", proc->path, (int)pid);
	d = opendir(path);
	for (struct dirent *entry; d && !bad && (entry = readdir(d));) {
		const char *name = entry->d_name;
		int64_t tid;

		if (!isdigit((unsigned char)*name) || !number_i64(&name, &tid) || *name)
			continue;
		bad = add_seat(w, (struct perf_seat){ .pid = (pid_t)tid, .cpu = -1 });
		if (!bad)
			bad = add_children(processes, proc, pid, (pid_t)tid, buf);
	}
	if (d)
		closedir(d);
	return bad;
}

/* Every thread of the roots and of their descendants. */
static int add_tasks(struct perf_where *w, const struct source_env *env)
{
	char *buf = malloc(CHILDREN_BYTES);
	struct perf_where processes = { 0 };
	int bad = buf ? 0 : -ENOMEM;

	for (size_t i = 0; i < env->nroots && !bad; i++)
		if (!has_seat(&processes, env->roots[i]))
			bad = add_seat(&processes, (struct perf_seat){ .pid = env->roots[i] });
	for (size_t i = 0; i < processes.n && !bad; i++)
		bad = add_threads(w, &processes, &env->proc, processes.seat[i].pid, buf);
	free(processes.seat);
	free(buf);
	return bad;
}

/* The directory of this path of the version 2 hierarchy, or of that of the controller perf_event.
 */
static int open_group(const char *mountinfo, bool v2, const char *path)
{
	int fd = -ENOENT;
	struct mount m;

	while (fd < 0 && mountinfo_next(&mountinfo, &m)) {
		char whole[MOUNT_PATH_SIZE + CGROUP_PATH_SIZE];
		const char *below = cgroup_path_below(m.root, path);

		if (!below || strcmp(m.type, v2 ? "cgroup2" : "cgroup") != 0 ||
		    (!v2 && !cgroup_list_has(m.options, "perf_event")))
			continue;
		snprintf(whole, sizeof whole, "%s/%s", m.point, below);
		fd = open(whole, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		fd = fd < 0 ? -errno : fd;
	}
	return fd;
}

static int open_cgroup(const struct root *proc, pid_t pid, struct err *e)
{
	enum { MOUNTS_BYTES = 1 << 17 };
	char *mounts = malloc(MOUNTS_BYTES), groups[4096], file[32];
	char path[CGROUP_PATH_SIZE];
	int fd = -ENOENT;
	bool whole_machine = false;

	snprintf(file, sizeof file, "%d/cgroup", (int)pid);
	if (mounts && root_read(proc, "self/mountinfo", mounts, MOUNTS_BYTES) > 0 &&
	    root_read(proc, file, groups, sizeof groups) > 0)
		for (int v2 = 0; v2 < 2 && fd < 0;
		     v2++) { /* v1 first: it has the controller then */
			if (!cgroup_path_find(groups, v2 ? "" : "perf_event", path))
				continue;
			fd = open_group(mounts, v2, path);
			whole_machine = fd > 0 && cgroup_is_whole_machine(fd, v2 ? 2 : 1);
		}
	free(mounts);
	if (whole_machine) {
		close(fd);
		return err_set(e, -ENODEV, "%s", perf_no_group);
	}
	if (fd < 0)
		err_set(e, fd, "the cgroup of process %d %s", (int)pid, perf_no_directory);
	return fd;
}

/* "apple_icestorm_pmu" */
static bool is_apples(const char *name)
{
	size_t n = strlen(name);

	return n > 10 && !strncmp(name, "apple_", 6) && !strcmp(name + n - 4, "_pmu");
}

/* Counters of the cores, or of some of them: Intel's hybrids have cpu_core, cpu_atom and
 * cpu_lowpower, Arm's a device for each kind, and the others one that is called cpu. */
bool perf_counts_cores(const char *name)
{
	return !strcmp(name, "cpu") || !strcmp(name, "cpu_core") || !strcmp(name, "cpu_atom") ||
	       !strcmp(name, "cpu_lowpower") || !strncmp(name, "armv", 4) || is_apples(name);
}

static void add_kind(struct perf_pmus *found, const struct root *sys, const char *name)
{
	char path[PATH_BYTES];
	size_t at = found->nkinds;
	int64_t type;

	snprintf(path, sizeof path, DEVICES "/%.200s/type", name);
	if (at == PERF_KINDS_MAX || !strcmp(name, "cpu") || strlen(name) >= PERF_NAME_MAX ||
	    sysfs_read_number(sys, path, &type) != 0 || type <= 0 || type >= INT32_MAX)
		return;
	for (; at > 0 && found->kind[at - 1].type > (uint32_t)type; at--)
		found->kind[at] = found->kind[at - 1];
	found->kind[at] = (struct perf_kind){ .type = (uint32_t)type };
	snprintf(found->kind[at].name, PERF_NAME_MAX, "%s", name);
	found->nkinds++;
}

struct perf_pmus perf_pmus_find(const struct root *sys)
{
	char path[sizeof sys->path + sizeof DEVICES + 2];
	struct perf_pmus found = { .core = false };
	DIR *d;

	snprintf(path, sizeof path, "%s/" DEVICES, sys->path);
	d = opendir(path);
	for (struct dirent *entry; d && (entry = readdir(d));)
		if (perf_counts_cores(entry->d_name)) {
			found.core = true;
			add_kind(&found, sys, entry->d_name);
		}
	if (d)
		closedir(d);
	if (found.nkinds == 1) /* the kernel's own types reach it */
		found.nkinds = 0;
	return found;
}

static int find_job(struct perf_places *p, const struct source_env *env)
{
	struct perf_seat seat = { .cpu = -1 };

	p->whose = "Counted for the job's processes.";
	if (env->perf && !env->nroots) { /* they are still to come */
		p->job.inherit = p->job.probe = true;
		return add_seat(&p->job, seat);
	}
	if (env->perf && !env->launched) {
		p->job.inherit = true;
		return add_tasks(&p->job, env);
	}
	p->job.together = true;
	if (env->perf) {
		seat.pid = env->roots[0];
		p->job.inherit = p->job.at_exec = true;
	}
	return add_seat(&p->job, seat);
}

int perf_places_open(struct perf_places *p, const struct source_env *env, struct err *e)
{
	const struct perf_options *o = env->perf;
	struct perf_seat seat = { .pid = -1 };
	int bad = 0;

	*p = (struct perf_places){ .proc = &env->proc, .sys = &env->sys };
	p->pmus = perf_pmus_find(p->sys);
	if (!o || o->scope == PERF_SCOPE_JOB) {
		bad = find_job(p, env);
	} else {
		p->job.together = true;
		p->whose = "Counted for the whole node.";
		if (o->scope == PERF_SCOPE_CGROUP) {
			p->whose = "Counted for the job's cgroup.";
			p->cgroup = open_cgroup(&env->proc, env->nroots ? env->roots[0] : 0, e);
			if (p->cgroup < 0)
				return p->cgroup;
			p->job.cgroup = true;
			seat.pid = p->cgroup;
		}
		bad = add_cpus(&p->job, p->sys, "devices/system/cpu/online", seat);
	}
	return bad ? err_set(e, bad, "there is no room or no list of where to count: %s",
			     strerror(-bad))
		   : 0;
}

void perf_places_close(struct perf_places *p)
{
	free(p->job.seat);
	p->job = (struct perf_where){ 0 };
	if (p->cgroup < 0)
		p->cgroup = 0;
	file_close(&p->cgroup);
}

/* "uncore_imc_#" is uncore_imc_0, uncore_imc_12, and not uncore_imc_free_running_0. */
static bool is_named(const char *name, const char *pattern)
{
	for (; *pattern; pattern++) {
		if (*pattern != '#') {
			if (*name++ != *pattern)
				return false;
			continue;
		}
		if (!isdigit((unsigned char)*name))
			return false;
		while (isdigit((unsigned char)*name))
			name++;
	}
	return !*name;
}

static int add_device(const struct perf_places *p, const char *name, struct perf_where *w)
{
	char path[PATH_BYTES];
	int64_t type;

	snprintf(path, sizeof path, DEVICES "/%.200s/type", name);
	if (sysfs_read_number(p->sys, path, &type) < 0 || type < 0 || type > INT32_MAX)
		return 0;
	snprintf(path, sizeof path, DEVICES "/%.200s/cpumask", name);
	return add_cpus(w, p->sys, path, (struct perf_seat){ .pid = -1, .type = (uint32_t)type });
}

static int find_devices(const struct perf_places *p, const char *pattern, struct perf_where *w,
			struct err *e)
{
	char path[sizeof p->sys->path + sizeof DEVICES + 2];
	int bad = 0;
	DIR *d;

	snprintf(path, sizeof path, "%s/" DEVICES, p->sys->path);
	d = opendir(path);
	for (struct dirent *entry; d && !bad && (entry = readdir(d));)
		if (is_named(entry->d_name, pattern))
			bad = add_device(p, entry->d_name, w);
	if (d)
		closedir(d);
	if (bad)
		return err_set(e, bad, "the CPUs of %.48s cannot be listed: %s", pattern,
			       strerror(-bad));
	if (!w->n)
		return err_set(e, -ENODEV, "%s has no %.48s", path, pattern);
	w->together = true;
	return 0;
}

/* What has no list of CPUs counts tasks, wherever they run: tracepoints, msr. Its type, 0: none. */
static uint32_t type_of_tasks(const struct perf_places *p, const char *pmu)
{
	static const char *const lists[] = { "cpumask", "cpus" };
	char path[PATH_BYTES];
	int64_t type;

	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
		snprintf(path, sizeof path, DEVICES "/%.200s/%s", pmu, lists[i]);
		if (sysfs_exists(p->sys, path))
			return 0;
	}
	snprintf(path, sizeof path, DEVICES "/%.200s/type", pmu);
	return sysfs_read_number(p->sys, path, &type) == 0 && type > 0 && type < INT32_MAX
		       ? (uint32_t)type
		       : 0;
}

/* On a hybrid CPU each kind of core counts apart; a task is on one of them at a time. */
static int each_kind(const struct perf_places *p, struct perf_where *w)
{
	int bad = 0;

	for (size_t i = 0; i < p->job.n && !bad; i++)
		for (size_t k = 0; k < p->pmus.nkinds && !bad; k++) {
			struct perf_seat seat = p->job.seat[i];

			seat.type = p->pmus.kind[k].type;
			seat.kind = p->pmus.kind[k].name;
			seat.again = k > 0;
			bad = add_seat(w, seat);
		}
	return bad;
}

int perf_places_of(const struct perf_places *p, const struct perf_set *s, struct perf_where *w,
		   struct err *e)
{
	const struct perf_event *ev = perf_set_event(s, 0);
	enum perf_place place = perf_event_place(ev);
	uint32_t type = place == PERF_DEVICE ? type_of_tasks(p, ev->pmu) : 0;
	int bad = 0;

	*w = (struct perf_where){ 0 };
	if (place == PERF_DEVICE && !type)
		return find_devices(p, ev->pmu, w, e);
	if (place == PERF_CORE && !p->pmus.core)
		return err_set(e, -ENOENT, "%s", perf_no_counters);
	*w = p->job;
	w->seat = NULL;
	w->n = w->cap = 0;
	if (place == PERF_CORE && p->pmus.nkinds)
		bad = each_kind(p, w);
	else
		for (size_t i = 0; i < p->job.n && !bad; i++) {
			struct perf_seat seat = p->job.seat[i];

			seat.type = type;
			bad = add_seat(w, seat);
		}
	return bad ? err_set(e, bad, "there are too many threads or CPUs to count on") : 0;
}
