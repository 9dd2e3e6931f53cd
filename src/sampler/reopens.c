/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/reopens.h"

#include "base/clock.h"
#include "sampler/rereads.h"
#include "source/procfile.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	PROCESSES = 2,
	DESCRIPTORS = 32, /* of each that are looked at, */
	FILES = 8,        /* and files among them, */
	LISTS = 6,        /* so often in a row */
	LEAST_RATE = 500, /* calls a second */
	LEAST_CLOSED = 3,
};

static struct reopened *find(struct reopens *r, pid_t pid, const char *path)
{
	struct reopened *least = r->file;

	for (struct reopened *f = r->file; f < r->file + REOPENS_FILES; f++) {
		if (f->pid == pid && !strcmp(f->path, path))
			return f;
		if (!f->pid || (least->pid && f->closed < least->closed))
			least = f;
	}
	*least = (struct reopened){ .pid = pid };
	snprintf(least->path, sizeof least->path, "%s", path);
	return least;
}

/* What a descriptor is now; "": nothing, or too long a name. */
static void file_of(const struct root *proc, pid_t pid, int fd, char out[REOPENS_PATH])
{
	char path[48];
	ssize_t n;

	snprintf(path, sizeof path, "%d/fd/%d", (int)pid, fd);
	n = readlinkat(proc->fd, path, out, REOPENS_PATH);
	out[n > 0 && n < REOPENS_PATH ? n : 0] = '\0';
}

static bool is_file(const char *path)
{
	return *path == '/' && strncmp(path, "/dev/", 5) != 0 && strncmp(path, "/proc/", 6) != 0 &&
	       strncmp(path, "/sys/", 5) != 0 && strncmp(path, "/memfd:", 7) != 0;
}

/* The files that a process has open in one list of its descriptors, or in some. */
struct open_files {
	uint32_t n;
	struct {
		char path[REOPENS_PATH];
		uint32_t lists, last; /* in which it was, the last one */
	} file[FILES];
};

static void add(struct open_files *all, const char *path, uint32_t list)
{
	uint32_t i = 0;

	while (i < all->n && strcmp(all->file[i].path, path) != 0)
		i++;
	if (i == FILES)
		return;
	if (i == all->n) {
		snprintf(all->file[i].path, REOPENS_PATH, "%s", path);
		all->file[i].lists = all->file[i].last = 0;
		all->n++;
	}
	all->file[i].lists += all->file[i].last != list;
	all->file[i].last = list;
}

static bool list_files(struct open_files *all, const struct root *proc, pid_t pid, uint32_t list)
{
	struct fdlist files = { 0 };
	char target[FDLIST_TARGET], path[REOPENS_PATH];
	int fd;

	if (fdlist_open(&files, proc, pid) < 0)
		return false;
	for (int i = 0; i < DESCRIPTORS && fdlist_next(&files, &fd, target); i++) {
		if (!is_file(target))
			continue;
		file_of(proc, pid, fd, path);
		if (is_file(path))
			add(all, path, list);
	}
	fdlist_close(&files);
	return true;
}

/* One that is in some of the lists, and not in all of them, is opened or closed meanwhile. */
static void look_at_process(struct reopens *r, const struct root *proc, pid_t pid)
{
	struct open_files all;
	uint32_t list = 0;

	all.n = 0;
	while (list < LISTS && list_files(&all, proc, pid, list + 1))
		list++;
	for (uint32_t i = 0; list == LISTS && i < all.n; i++) {
		struct reopened *f = find(r, pid, all.file[i].path);

		f->seen++;
		f->closed += all.file[i].lists < list;
	}
}

void reopens_step(struct reopens *r, const struct tree *t, const struct root *proc,
		  const struct sample *s)
{
	pid_t pid[PROCESSES];
	size_t n;
	int64_t calls = tree_calls(t), began_ns, ns;
	bool many;

	r->began_ns = r->began_ns ? r->began_ns : s->mono_ns;
	if (s->mono_ns < r->next_ns)
		return;
	ns = s->mono_ns - r->looked_ns;
	many = r->looked_ns && (calls - r->calls) * (NS_PER_S / 1000) > LEAST_RATE * (ns / 1000);
	r->calls = calls;
	r->looked_ns = s->mono_ns;
	r->next_ns = s->mono_ns + REREADS_SOONEST_NS;
	if (!many)
		return;
	began_ns = clock_cpu_ns();
	n = tree_callers(t, LEAST_RATE, pid, PROCESSES);
	for (size_t i = 0; i < n; i++)
		look_at_process(r, proc, pid[i]);
	r->next_ns = rereads_next_ns(r->began_ns, s->mono_ns, began_ns);
}

void reopens_say_end(const struct reopens *r, const struct source_env *env, struct sample *s)
{
	const struct reopened *most =
		r->file; /* what is opened is seen more seldom than what stays */

	for (const struct reopened *f = r->file; f < r->file + REOPENS_FILES; f++)
		if (f->closed >= LEAST_CLOSED &&
		    (most->closed < LEAST_CLOSED ||
		     (uint64_t)f->closed * most->seen > (uint64_t)most->closed * f->seen))
			most = f;
	if (most->closed < LEAST_CLOSED)
		return;
	rereads_say_path(env, "job.reopened_file", most->path, s);
	sample_meta_int(s, "job.reopened_pid", most->pid);
	sample_meta_int(s, "job.reopened_looks", most->seen);
	sample_meta_int(s, "job.reopened_closed_looks", most->closed);
}
