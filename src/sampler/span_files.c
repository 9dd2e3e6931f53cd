/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/span_files.h"

#include "base/clock.h"
#include "base/root.h"
#include "job/leftover.h"
#include "source/program/spans.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#define HALF 0.5 /* of a ring: it is full before long */

enum {
	REST_NS = 50000000, /* between two looks */
	SHORT_NS = 5000000, /* when a ring was half full */
	NAME_MAX_HERE = 40,
	LISTING = 16 * 1024,
	CROWD = SPAN_PROCESSES_MAX / 2, /* so many hold much memory: who is gone is not kept */
	LAST_LOOKS = 64,
};

struct folder {
	int fd;
	uint32_t instance;
};

struct process {
	struct span_reader *reader;
	uint32_t folder;
	int looks; /* samples since it was found */
	bool ready;
	bool over;                /* it was gone at the last sample, and all was taken */
	char name[NAME_MAX_HERE]; /* of its file */
};

struct span_files {
	int watch; /* inotify; -1: none */
	bool look; /* there may be new files */
	int64_t due_ns;
	uint32_t nfolders, nprocesses;
	struct folder folder[SPAN_FOLDERS_MAX + 1]; /* from 1 on */
	struct process process[SPAN_PROCESSES_MAX];
	struct span_intake intake;
	_Alignas(struct dirent64) char listing[LISTING];
};

struct span_files *span_files_open(void)
{
	struct span_files *x = calloc(1, sizeof *x);

	if (x)
		x->watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	return x;
}

void span_files_close(struct span_files *x)
{
	if (!x)
		return;
	for (uint32_t i = 0; i < x->nprocesses; i++)
		span_reader_close(x->process[i].reader);
	for (uint32_t i = 1; i <= x->nfolders; i++)
		file_close(&x->folder[i].fd);
	free(x); /* watch is left to the end of the process, as in marks_close */
}

int span_files_fd(const struct span_files *x)
{
	return x ? x->watch : -1;
}

uint32_t span_files_add(struct span_files *x, const char *path)
{
	struct stat st;
	int fd;

	if (!x || !path || path[0] != '/' || x->nfolders == SPAN_FOLDERS_MAX)
		return 0;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (fstat(fd, &st) || st.st_uid != geteuid() || st.st_mode & 077) {
		close(fd);
		return 0;
	}
	leftover_hold(fd);
	if (x->watch >= 0 && inotify_add_watch(x->watch, path, IN_MOVED_TO | IN_ONLYDIR) < 0)
		file_close(&x->watch);
	x->look = true;
	x->folder[++x->nfolders] = (struct folder){ .fd = fd };
	return x->nfolders;
}

void span_files_about(struct span_files *x, uint32_t folder, uint32_t instance)
{
	if (x && folder)
		x->folder[folder].instance = instance;
}

/* ---- finding ---- */

static bool is_known(const struct span_files *x, uint32_t folder, const char *name)
{
	for (uint32_t i = 0; i < x->nprocesses; i++)
		if (x->process[i].folder == folder && !strcmp(x->process[i].name, name))
			return true;
	return false;
}

/* A file that is none of these stays, and is looked at again with the next that is new. */
static void process_add(struct span_files *x, uint32_t folder, const char *name)
{
	struct process *p = &x->process[x->nprocesses];
	size_t n = strlen(name);
	int fd;

	if (x->nprocesses == SPAN_PROCESSES_MAX || name[0] < '0' || name[0] > '9' ||
	    n >= sizeof p->name || is_known(x, folder, name))
		return;
	fd = openat(x->folder[folder].fd, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	*p = (struct process){ .reader = span_reader_open(fd), .folder = folder };
	memcpy(p->name, name, n + 1);
	x->nprocesses += p->reader != NULL;
}

static void folder_look(struct span_files *x, uint32_t folder)
{
	int fd = x->folder[folder].fd;
	ssize_t n;

	lseek(fd, 0, SEEK_SET);
	while ((n = getdents64(fd, x->listing, sizeof x->listing)) > 0) {
		for (ssize_t at = 0; at < n;) {
			const struct dirent64 *d = (const void *)(x->listing + at);

			process_add(x, folder, d->d_name);
			at += d->d_reclen;
		}
	}
}

static void look(struct span_files *x)
{
	char events[4096];

	while (x->watch >= 0 && read(x->watch, events, sizeof events) > 0)
		x->look = true;
	if (!x->look && x->watch >= 0)
		return;
	x->look = false;
	for (uint32_t i = 1; i <= x->nfolders; i++)
		folder_look(x, i);
}

/* ---- taking ---- */

static bool is_gone(const struct process *p)
{
	pid_t pid = span_reader_pid(p->reader);

	return pid && kill(pid, 0) && errno == ESRCH;
}

/* Its threads become tracks of the process. A process that has just started is known with the next
 * sample; its rings can wait for that, unless they are half full. over: no sample will follow. */
static bool is_ready(struct span_files *x, struct process *p, const struct tree *t, bool over)
{
	pid_t pid = span_reader_pid(p->reader);
	uint32_t instance = pid && !p->ready ? tree_instance(t, pid) : 0;

	if (p->ready)
		return true;
	p->ready =
		instance || !pid || over || p->looks > 1 || span_reader_filled(p->reader) >= HALF;
	span_reader_about(p->reader, instance ? instance : x->folder[p->folder].instance);
	return p->ready;
}

static void process_end(struct span_files *x, struct process *p, struct sample *s)
{
	span_reader_end(p->reader, &x->intake, s);
	span_reader_close(p->reader);
	unlinkat(x->folder[p->folder].fd, p->name, 0);
	x->look |= x->nprocesses == SPAN_PROCESSES_MAX; /* others may have waited for a place */
	*p = x->process[--x->nprocesses];
}

int64_t span_files_due_ns(const struct span_files *x)
{
	return x ? x->due_ns : 0;
}

/* Some of it may be left: then it is looked at soon. */
static bool process_take(struct span_files *x, struct process *p, struct sample *s)
{
	bool half_full = span_reader_filled(p->reader) >= HALF;

	return span_reader_take(p->reader, &x->intake, s) && !half_full;
}

static void rest(struct span_files *x, bool all)
{
	x->due_ns = x->nprocesses ? clock_mono_ns() + (all ? REST_NS : SHORT_NS) : 0;
}

void span_files_act(struct span_files *x, const struct tree *t, struct sample *s)
{
	bool all = true, crowd;

	look(x);
	crowd = x->nprocesses > CROWD;
	for (uint32_t i = x->nprocesses; i--;) {
		struct process *p = &x->process[i];
		bool look = crowd || span_reader_has_mpi(p->reader), gone = look && is_gone(p),
		     taken;

		if (look && !gone)
			span_reader_alive(p->reader, clock_mono_ns());
		gone &= crowd;
		if (!is_ready(x, p, t, gone))
			continue;
		taken = process_take(x, p, s);
		all &= taken;
		if (gone && taken && !span_reader_counts(p->reader))
			process_end(x, p, s);
	}
	rest(x, all);
}

bool span_files_wait(const struct span_files *x)
{
	return x && x->look;
}

static bool all_take(struct span_files *x, const struct tree *t, struct sample *s, bool last)
{
	bool all = true;

	for (uint32_t i = x->nprocesses; i--;) {
		struct process *p = &x->process[i];
		bool gone = last || is_gone(p), taken;

		p->looks++;
		if (!gone)
			span_reader_alive(p->reader, clock_mono_ns());
		if (!is_ready(x, p, t, gone))
			continue;
		taken = process_take(x, p, s);
		all &= taken;
		if (!p->over)
			span_reader_values(p->reader, &x->intake, s);
		if (last || p->over)
			process_end(x, p, s);
		else
			p->over = gone && taken;
	}
	return all;
}

void span_files_take(struct span_files *x, const struct tree *t, struct sample *s, bool last)
{
	bool all;

	if (!x)
		return;
	if (x->watch < 0 || x->look || last)
		look(x);
	all = all_take(x, t, s, last);
	for (int i = 0; i < LAST_LOOKS && last && x->look; i++) {
		look(x);
		all_take(x, t, s, true);
	}
	rest(x, all);
	span_intake_report(&x->intake, s);
}
