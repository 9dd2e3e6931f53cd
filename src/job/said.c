/* SPDX-License-Identifier: Apache-2.0 */
#include "job/said.h"

#include "base/orphan.h"
#include "base/root.h"
#include "core/ring.h"
#include "job/leftover.h"
#include "job/message.h"

#include <errno.h>
#include <linux/magic.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

static bool make_in(struct span_folder *f, const char *where)
{
	f->fd = leftover_folder(where, "sonde-spans", f->path, sizeof f->path);
	return f->fd >= 0;
}

static bool is_in_memory(const char *where)
{
	struct statfs fs;

	return !statfs(where, &fs) && fs.f_type == TMPFS_MAGIC;
}

/* The job's own place first: whoever cleans up behind jobs knows it. */
void span_folder_make(struct span_folder *f)
{
	const char *told = getenv("TMPDIR"), *where = told && told[0] == '/' ? told : "/tmp";

	if ((is_in_memory(where) && make_in(f, where)) || make_in(f, "/dev/shm") ||
	    make_in(f, where)) {
		span_folder_export(f);
		return;
	}
	f->path[0] = '\0';
	f->fd = -1;
	span_folder_export(f);
}

void span_folder_export(const struct span_folder *f)
{
	if (f->path[0])
		setenv(RING_FOLDER_VARIABLE, f->path, 1);
	else
		unsetenv(RING_FOLDER_VARIABLE);
}

void span_folder_close(struct span_folder *f)
{
	file_close(&f->fd);
	f->path[0] = '\0';
	span_folder_export(f);
}

void span_folder_remove(struct span_folder *f)
{
	if (f->path[0])
		leftover_remove(f->path);
	span_folder_close(f);
}

enum { PATIENCE_MS = 5000 }; /* on a node that hundreds of tasks crowd, a second is little */

/* What was made. Two packets of a byte follow, since each bears one descriptor. */
struct places {
	char marks[PATH_MAX];
	char spans[SPAN_FOLDER_SIZE];
};

static void tidy(const struct said *x)
{
	char folder[PATH_MAX];
	char *slash;

	snprintf(folder, sizeof folder, "%s", x->marks.path);
	slash = strrchr(folder, '/');
	if (slash) {
		*slash = '\0';
		leftover_tidy(folder);
	}
	leftover_tidy(x->spans.path);
}

/* Nobody waits for it any more when it cannot send: what it made goes. */
static void make_elsewhere(int fd)
{
	struct said x;
	struct places p;

	mark_file_make(&x.marks);
	span_folder_make(&x.spans);
	memcpy(p.marks, x.marks.path, sizeof p.marks);
	memcpy(p.spans, x.spans.path, sizeof p.spans);
	if (packet_send(fd, &p, sizeof p, x.marks.fd) || packet_send(fd, "", 1, x.marks.folder) ||
	    packet_send(fd, "", 1, x.spans.fd)) {
		mark_file_remove(&x.marks);
		span_folder_remove(&x.spans);
		return;
	}
	tidy(&x);
}

/* Their place may be one whose server is gone: whoever asks it may wait for ever. */
static bool is_elsewhere(void)
{
	const char *where = getenv("TMPDIR");

	return where && *where == '/';
}

void said_tidy(const struct said *x)
{
	if (!is_elsewhere()) /* else who made them does it */
		tidy(x);
}

static void remove_elsewhere(const struct said *x)
{
	if (x->marks.path[0])
		mark_file_unlink(x->marks.path);
	if (x->spans.path[0])
		leftover_remove(x->spans.path);
}

/* A process that makes them. Its socket, which it closes; -errno. */
static int elsewhere(pid_t *maker)
{
	int pair[2], forked;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	forked = orphan_fork();
	if (!forked) {
		make_elsewhere(pair[1]);
		_exit(0);
	}
	close(pair[1]);
	*maker = forked;
	if (forked > 0)
		return pair[0];
	close(pair[0]);
	return forked;
}

/* A packet of this size, in time. */
static bool hear(int fd, void *to, size_t n, int *passed)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	*passed = -1;
	return poll(&p, 1, PATIENCE_MS) > 0 && packet_take(fd, to, n, passed) == (ssize_t)n;
}

static bool hear_all(struct said *x, int fd)
{
	struct places p;
	char last;

	if (!hear(fd, &p, sizeof p, &x->marks.fd))
		return false;
	memcpy(x->marks.path, p.marks, sizeof p.marks);
	memcpy(x->spans.path, p.spans, sizeof p.spans);
	return hear(fd, &last, 1, &x->marks.folder) && hear(fd, &last, 1, &x->spans.fd);
}

static void forget(struct said *x)
{
	mark_file_close(&x->marks);
	span_folder_close(&x->spans);
}

int said_make(struct said *x, struct err *e)
{
	bool heard;
	pid_t maker = 0;
	int fd = is_elsewhere() ? elsewhere(&maker) : -ENOENT;

	*x = (struct said){ .marks = { .fd = -1, .folder = -1 }, .spans.fd = -1 };
	if (fd < 0) {
		mark_file_make(&x->marks);
		span_folder_make(&x->spans);
		return 0;
	}
	heard = hear_all(x, fd);
	close(fd);
	/* Process 1 is the parent of all; what it leaves would be seen as the job's. */
	waitpid(maker, NULL, heard ? 0 : WNOHANG);
	mark_file_export(&x->marks);
	span_folder_export(&x->spans);
	if (!heard)
		forget(x);
	return heard ? 0
		     : err_set(e, -ETIMEDOUT,
			       "%.300s (TMPDIR) does not answer: no marks and spans are recorded",
			       getenv("TMPDIR"));
}

void said_taken(struct said *x)
{
	file_close(&x->marks.fd);
}

struct removal {
	struct said what;
	int done; /* an eventfd */
};

static void *remove_it(void *given)
{
	struct removal *r = given;

	remove_elsewhere(&r->what);
	eventfd_write(r->done, 1);
	return NULL;
}

/* In a thread, since a process might be seen as one of the job's. One that hangs ends with the
 * launcher. */
static bool remove_in_time(const struct said *x)
{
	static struct removal r; /* a thread that hangs still has it */
	struct pollfd p = { .events = POLLIN };
	pthread_t thread;

	r = (struct removal){ *x, eventfd(0, EFD_CLOEXEC) };
	p.fd = r.done;
	if (p.fd < 0 || pthread_create(&thread, NULL, remove_it, &r)) {
		file_close(&r.done);
		return false;
	}
	pthread_detach(thread);
	poll(&p, 1, PATIENCE_MS);
	return true;
}

void said_remove(struct said *x)
{
	bool any = x->marks.path[0] || x->spans.path[0];

	if (any && !(getenv("TMPDIR") && remove_in_time(x)))
		remove_elsewhere(x);
	forget(x);
}
