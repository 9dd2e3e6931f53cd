/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sonde-files - which files the job's processes use, in a process that may hang: it asks file
 * systems, and closing its events takes the kernel seconds.
 *
 * Started by the source files. FILES_SOCKET brings struct files_order and takes struct
 * files_answer (source/program/files_row.h). It ends with its parent. Started by hand it does
 * nothing.
 */
#include "base/clock.h"
#include "files/positions.h"
#include "files/rings.h"
#include "files/tracing.h"
#include "source/storage/mountinfo.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	WAIT_MS = 100,
	LOOK_MS = 250,
	SEND_MS = 200,
	LARGE_MS = 10000,
	MOUNTS = 64 * 1024,
	SLICE_NS = 100000
};

struct files {
	struct book *book;
	struct rings *rings; /* NULL: positions */
	struct inodes *inodes;
	struct tracing tracing;
	struct positions positions;
	int64_t looked_ns, sent_ns, large_ns;
	bool finishing;
	char mounts[MOUNTS]; /* points of /proc/self/mountinfo, each with its NUL; "" is the end */
	struct files_answer answer;
};

static bool send_answer(const struct files_answer *a, size_t text)
{
	return send(FILES_SOCKET, a, offsetof(struct files_answer, text) + text,
		    MSG_DONTWAIT | MSG_NOSIGNAL) > 0;
}

/* ---- rows ---- */

/* The longest mount point that the path is below. */
static void mount_of(const struct files *f, const char *path, char *out, size_t size)
{
	const char *found = "";
	size_t best = 0, length;

	for (const char *point = f->mounts; *point; point += length + 1) {
		size_t n;

		length = strlen(point);
		n = point[1] ? length : 0;
		if (strncmp(path, point, n) == 0 && (path[n] == '/' || !path[n]) &&
		    (n > best || !*found)) {
			best = n;
			found = point;
		}
	}
	snprintf(out, size, "%s", found);
}

static bool send_row(void *of, const struct book_row *r)
{
	struct files *f = of;
	struct files_answer *a = &f->answer;
	char found[NAME_MOST] = "";
	const char *path = r->path;
	uint64_t device, inode;
	struct stat st;
	size_t n;

	if (book_inode_of_path(path, &device, &inode)) {
		if (!inodes_path(f->inodes, device, inode, found, sizeof found))
			found[0] = '\0';
		path = found;
	}
	n = strlen(path) + 1;

	*a = (struct files_answer){ .kind = FILES_ROW,
				    .row = r->number,
				    .pid = r->pid,
				    .known = (1u << FILE_SIZE) - 1,
				    .first_ns = r->first_ns,
				    .last_ns = r->last_ns };
	memcpy(a->comm, r->comm, sizeof a->comm);
	memcpy(a->value, r->value, sizeof a->value);
	if (!f->rings)
		a->known = 1u << FILE_READ_BYTES | 1u << FILE_WRITTEN_BYTES |
			   1u << FILE_SEQUENTIAL_BYTES | 1u << FILE_OPENS | 1u << FILE_FOLDED;
	if (*path && !lstat(path, &st) && S_ISREG(st.st_mode)) {
		a->known |= 1u << FILE_SIZE | 1u << FILE_MTIME_NS;
		a->value[FILE_SIZE] = st.st_size;
		a->value[FILE_MTIME_NS] = st.st_mtim.tv_sec * NS_PER_S + st.st_mtim.tv_nsec;
	}
	if (n > NAME_MOST - 1024)
		return true; /* no path is that long */
	memcpy(a->text, path, n);
	mount_of(f, path, a->text + n, sizeof a->text - n);
	return send_answer(a, n + strlen(a->text + n) + 1);
}

static void send_lost(struct files *f)
{
	struct files_answer a = { .kind = FILES_LOST };
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	a.value[0] = f->rings ? (int64_t)(rings_lost(f->rings) + f->tracing.unpaired) : 0;
	a.value[1] = t.tv_sec * NS_PER_S + t.tv_nsec;
	a.value[2] = (int64_t)f->tracing.io_urings;
	(void)send_answer(&a, 0);
}

static void send_rows(struct files *f, int64_t now_ns)
{
	enum book_rows which = f->finishing ? BOOK_ALL : BOOK_ENDED;

	if (!f->finishing && now_ns - f->sent_ns < SEND_MS * NS_PER_MS)
		return;
	if (!f->finishing && now_ns - f->large_ns >= LARGE_MS * NS_PER_MS) {
		f->large_ns = now_ns;
		which = BOOK_LARGE;
	}
	f->sent_ns = now_ns;
	while (!book_send(f->book, which, send_row, f) && f->finishing) {
		struct pollfd p = { .fd = FILES_SOCKET, .events = POLLOUT };

		if (poll(&p, 1, 5000) <= 0 || p.revents & (POLLHUP | POLLERR))
			_exit(0);
	}
	send_lost(f);
	if (f->finishing)
		(void)send_answer(&(struct files_answer){ .kind = FILES_DONE }, 0);
}

/* ---- orders ---- */

/* What its children inherit. */
static void learn_descriptors(struct files *f, pid_t pid)
{
	struct book_process *p = book_process(f->book, pid);

	for (int fd = 0; p && fd < 3; fd++)
		(void)name_row_of_fd(f->book, p, fd, clock_mono_ns());
}

static int add_threads(struct files *f, pid_t pid, struct err *e)
{
	struct book_process *p = book_process(f->book, pid);
	struct dirent *entry;
	char path[40];
	uint32_t n = 0;
	int bad = 0;
	DIR *dir;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0) {
			bad = rings_add(f->rings, tid, e);
			n++;
		}
	}
	if (dir)
		closedir(dir);
	if (p && n)
		p->threads = n;
	return bad;
}

static int obey(struct files *f, const struct files_order *o, struct err *e)
{
	bool launcher = o->kind == FILES_LAUNCHER;

	if (o->kind == FILES_FINISH) {
		f->finishing = true;
		return 0;
	}
	positions_add(&f->positions, o->pid, launcher);
	if (launcher && f->tracing.nlaunchers < LAUNCHERS_MOST)
		f->tracing.launcher[f->tracing.nlaunchers++] = o->pid;
	if (!f->rings)
		return 0;
	if (launcher)
		learn_descriptors(f, o->pid);
	return launcher ? rings_add(f->rings, o->pid, e) : add_threads(f, o->pid, e);
}

/* False: the recorder has gone. */
static bool take_orders(struct files *f, int flags)
{
	struct files_order o;
	struct err e = { "" };
	ssize_t n;

	while ((n = recv(FILES_SOCKET, &o, sizeof o, flags)) == (ssize_t)sizeof o) {
		struct files_answer *a = &f->answer;

		if (obey(f, &o, &e))
			f->rings = NULL; /* what is open ends with this process */
		if (o.kind == FILES_FINISH)
			continue;
		*a = (struct files_answer){ .kind = FILES_READY };
		snprintf(a->text, sizeof a->text, "%s", f->rings ? "" : e.text);
		(void)send_answer(a, strlen(a->text) + 1);
		flags = MSG_DONTWAIT;
	}
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

/* ---- the loop ---- */

static void work(struct files *f)
{
	int64_t now_ns;

	if (f->rings) {
		(void)rings_wait(f->rings, FILES_SOCKET, WAIT_MS);
		rings_take(f->rings, f->finishing, tracing_take, &f->tracing);
	} else {
		(void)poll(&(struct pollfd){ .fd = FILES_SOCKET, .events = POLLIN }, 1, LOOK_MS);
	}
	now_ns = clock_mono_ns();
	if (!f->rings && now_ns - f->looked_ns >= LOOK_MS * NS_PER_MS / 2) {
		positions_look(&f->positions, f->book, now_ns);
		f->looked_ns = now_ns;
	}
	send_rows(f, now_ns);
}

/* Names are gone soon: who woke up is to run at once, if it has used less than its share. The
 * kernel takes this for a wish from 6.12 on, and ignores it before. */
static void ask_for_short_slices(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime_ns, deadline_ns, period_ns;
	} a = { .size = sizeof a, .nice = getpriority(PRIO_PROCESS, 0), .runtime_ns = SLICE_NS };

	(void)syscall(SYS_sched_setattr, 0, &a, 0);
}

/* Once: they are looked at for each row. */
static void read_mounts(struct files *f)
{
	FILE *in = fopen("/proc/self/mountinfo", "re");
	size_t n = in ? fread(f->mounts, 1, sizeof f->mounts - 1, in) : 0;
	const char *at = f->mounts;
	struct mount m;

	f->mounts[n] = '\0';
	if (in)
		fclose(in);
	for (n = 0; mountinfo_next(&at, &m);) { /* a point is shorter than its line */
		size_t length = strlen(m.point) + 1;

		if (length == 1)
			continue;
		memmove(f->mounts + n, m.point, length);
		n += length;
	}
	f->mounts[n] = '\0';
}

static void tell_first(struct files *f, const char *why)
{
	struct files_answer *a = &f->answer;

	*a = (struct files_answer){ .kind = FILES_READY };
	snprintf(a->text, sizeof a->text, "%s", why);
	(void)send_answer(a, strlen(a->text) + 1);
}

int main(int argc, char **argv)
{
	static struct files files;
	struct files *f = &files;
	struct err e = { "" };
	struct stat st;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)prctl(PR_SET_NAME, "sonde-files");
	if (fstat(FILES_SOCKET, &st) || !S_ISSOCK(st.st_mode))
		return 2;
	f->book = book_new();
	f->inodes = inodes_new();
	if (!f->book || !f->inodes)
		return 2;
	f->tracing.book = f->book;
	f->tracing.inodes = f->inodes;
	ask_for_short_slices();
	f->large_ns = clock_mono_ns();
	read_mounts(f);
	if ((argc > 1 && !strcmp(argv[1], "positions")) || rings_new(&f->rings, &e))
		f->rings = NULL;
	tell_first(f, f->rings ? "" : *e.text ? e.text : "it was asked for");
	while (take_orders(f, MSG_DONTWAIT) && !f->finishing)
		work(f);
	if (f->finishing) {
		work(f);
		(void)poll(&(struct pollfd){ .fd = FILES_SOCKET, .events = POLLIN }, 1, 5000);
	}
	return 0;
}
