/* SPDX-License-Identifier: Apache-2.0 */
#include "job/said.h"

#include "base/orphan.h"
#include "base/root.h"
#include "job/leftover.h"
#include "job/message.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PATIENCE_MS = 500 };

/* What was made. Two packets of a byte follow, since each bears one descriptor. */
struct places {
	char marks[PATH_MAX];
	char spans[SPAN_FOLDER_SIZE];
};

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
	}
}

static void remove_elsewhere(const struct said *x)
{
	if (x->marks.path[0])
		mark_file_unlink(x->marks.path);
	if (x->spans.path[0])
		leftover_remove(x->spans.path);
}

/* A process that makes them, or removes those there are. Its socket, which it closes; -errno. */
static int elsewhere(const struct said *remove)
{
	int pair[2], forked;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	forked = orphan_fork();
	if (!forked) {
		if (remove)
			remove_elsewhere(remove);
		else
			make_elsewhere(pair[1]);
		_exit(0);
	}
	close(pair[1]);
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
	const char *where = getenv("TMPDIR");
	bool heard;
	int fd = where && *where == '/' ? elsewhere(NULL) : -ENOENT;

	*x = (struct said){ .marks = { .fd = -1, .folder = -1 }, .spans.fd = -1 };
	if (fd < 0) {
		mark_file_make(&x->marks);
		span_folder_make(&x->spans);
		return 0;
	}
	heard = hear_all(x, fd);
	close(fd);
	mark_file_tell(&x->marks);
	span_folder_tell(&x->spans);
	if (!heard)
		forget(x);
	return heard ? 0
		     : err_set(e, -ETIMEDOUT,
			       "%.300s (TMPDIR) does not answer: no marks and spans are recorded",
			       where);
}

void said_taken(struct said *x)
{
	file_close(&x->marks.fd);
}

void said_remove(struct said *x)
{
	struct pollfd p = { .fd = -1, .events = POLLIN };
	bool any = x->marks.path[0] || x->spans.path[0];

	if (any && getenv("TMPDIR"))
		p.fd = elsewhere(x);
	if (any && p.fd < 0)
		remove_elsewhere(x);
	if (p.fd >= 0) {
		poll(&p, 1, PATIENCE_MS);
		close(p.fd);
	}
	forget(x);
}
