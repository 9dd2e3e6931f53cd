/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/tree/iterator.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/helper.h"
#include "base/reserve.h"
#include "base/text/number.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	BUFFER = 1 << 16,
	ITER_CREATE = 33, /* BPF_ITER_CREATE, which older headers do not have */
	SYS_ADMIN = 21,   /* CAP_ */
	PERFMON = 38,
	BPF = 39,
	PATIENCE_MS = 500, /* for one reading of all tasks */
	EMPTY_MAX = 64,    /* of a million kernel threads each */
	ANSWER_MS = 10000,
};

static const char kernel_types[] = "/sys/kernel/btf/vmlinux";

static uint64_t capabilities(void)
{
	char text[4096];
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
	const char *line;

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	line = strstr(text, "\nCapEff:");
	return line ? strtoull(line + strlen("\nCapEff:"), NULL, 16) : 0;
}

static bool is_capable(void)
{
	uint64_t has = capabilities();

	return has >> SYS_ADMIN & 1 || (has >> PERFMON & 1 && has >> BPF & 1);
}

int iterator_missing(struct err *e)
{
	char path[PATH_MAX];

	if (access(kernel_types, F_OK))
		return err_set(e, -EOPNOTSUPP,
			       "the kernel has no %s (CONFIG_DEBUG_INFO_BTF, Linux 5.10 or later)",
			       kernel_types);
	if (!is_capable())
		return err_set(e, -EPERM, "CAP_BPF and CAP_PERFMON are missing");
	if (access(kernel_types, R_OK))
		return err_set(e, -errno, "%s cannot be read: %s", kernel_types, strerror(errno));
	return helper_find("iterator", "clang and libbpf-dev", path, sizeof path, e) ? -EOPNOTSUPP
										     : 0;
}

static int spawn(struct iterator *it, const char *path, int socket)
{
	char *const argv[] = { (char *)path, NULL };
	posix_spawn_file_actions_t files;
	int bad = posix_spawn_file_actions_init(&files);

	if (bad)
		return -bad;
	bad = posix_spawn_file_actions_adddup2(&files, socket, TASK_SOCKET);
	for (int fd = 0; fd < TASK_SOCKET && !bad; fd++)
		bad = posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
	if (!bad)
		bad = posix_spawn(&it->pid, path, &files, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	return -bad;
}

int iterator_start(struct iterator *it, struct err *e)
{
	char path[PATH_MAX];
	int pair[2], bad = iterator_missing(e);

	*it = (struct iterator){ .started_ns = clock_mono_ns() };
	if (bad)
		return bad;
	bad = helper_find("iterator", NULL, path, sizeof path, e);
	if (bad)
		return bad;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return err_set(e, -errno, "cannot make a socket: %s", strerror(errno));
	it->socket = fcntl(pair[0], F_DUPFD_CLOEXEC, TASK_SOCKET); /* 0 is none */
	close(pair[0]);
	it->buffer = reserve(BUFFER);
	bad = it->socket < 0 ? -errno : !it->buffer ? -ENOMEM : spawn(it, path, pair[1]);
	close(pair[1]);
	if (!bad)
		return 0;
	it->pid = 0;
	iterator_close(it);
	return err_set(e, bad, "cannot start %s: %s", path, strerror(-bad));
}

/* The descriptor that came with a message; 0: none did. */
static int descriptor_of(struct msghdr *m)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	int fd = 0;

	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof fd))
		memcpy(&fd, CMSG_DATA(c), sizeof fd);
	return fd;
}

static int take_answer(struct iterator *it, struct err *e)
{
	struct task_answer a = { 0 };
	struct iovec part = { &a, sizeof a };
	_Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int))];
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = room,
			    .msg_controllen = sizeof room };
	ssize_t n = recvmsg(it->socket, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n != (ssize_t)sizeof a)
		return err_set(e, -EPIPE,
			       "the helper sonde-iterator ended without an answer; is libbpf "
			       "installed?");
	it->link = descriptor_of(&m);
	a.text[sizeof a.text - 1] = '\0';
	if (a.code)
		return err_set(e, a.code < 0 ? a.code : -EPROTO, "%s", a.text);
	return it->link > 0 ? 1 : err_set(e, -EPROTO, "the helper sonde-iterator gave nothing");
}

int iterator_wait(struct iterator *it, int patience_ms, struct err *e)
{
	struct pollfd p = { .fd = it->socket, .events = POLLIN };
	int got;

	if (it->link > 0)
		return 1;
	if (patience_ms)
		poll(&p, 1, patience_ms);
	got = take_answer(it, e);
	if (!got && clock_mono_ns() - it->started_ns < ANSWER_MS * NS_PER_MS)
		return 0;
	if (!got)
		got = err_set(e, -ETIME, "the helper sonde-iterator does not answer");
	child_end(it->pid);
	it->pid = 0;
	close(it->socket);
	it->socket = 0;
	return got;
}

void iterator_close(struct iterator *it)
{
	if (it->pid > 0)
		child_end(it->pid);
	if (it->socket > 0)
		close(it->socket);
	if (it->link > 0)
		close(it->link);
	reserve_free(it->buffer, BUFFER);
	*it = (struct iterator){ 0 };
}

/* 0, or -EBADMSG: records come whole. */
static int take_records(const char *data, size_t n, iterator_take *take, void *ctx)
{
	struct task_thread t;
	struct task_process p;

	for (size_t at = 0; at < n; at += t.size) {
		if (n - at < sizeof t)
			return -EBADMSG;
		memcpy(&t, data + at, sizeof t);
		if (t.size > n - at || (t.size != TASK_THREAD_SIZE && t.size != TASK_PROCESS_SIZE))
			return -EBADMSG;
		if (t.size == TASK_PROCESS_SIZE)
			memcpy(&p, data + at + sizeof t, sizeof p);
		take(ctx, &t, t.size == TASK_PROCESS_SIZE ? &p : NULL);
	}
	return 0;
}

int iterator_read(const struct iterator *it, iterator_take *take, void *ctx)
{
	const struct {
		uint32_t link, flags;
	} create = { (uint32_t)it->link, 0 };
	int64_t until_ns = clock_mono_ns() + PATIENCE_MS * NS_PER_MS;
	int fd = (int)syscall(SYS_bpf, ITER_CREATE, &create, sizeof create), bad = 0;
	int empty = 0;

	if (fd < 0)
		return -errno;
	while (!bad) {
		ssize_t n = read(fd, it->buffer, BUFFER);

		if (n == 0)
			break;
		if (n > 0)
			bad = take_records(it->buffer, (size_t)n, take, ctx);
		else if (errno != EAGAIN || ++empty > EMPTY_MAX)
			bad = -errno;
		if (!bad && clock_mono_ns() > until_ns)
			bad = -ETIME;
	}
	close(fd);
	return bad;
}
