/* SPDX-License-Identifier: Apache-2.0 */
/* polled.c - the descriptors that a thread waits for in poll, select or epoll. */
#include "base/text/number.h"
#include "source/program/waiting.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FDINFO_BYTES = 8192, SETS = 3 /* to read, to write, exceptions */ };

enum how { BY_POLL, BY_SELECT, BY_EPOLL };
static const struct {
	long call;
	enum how how;
} polling[] = {
	{ SYS_ppoll, BY_POLL },         { SYS_pselect6, BY_SELECT }, { SYS_epoll_pwait, BY_EPOLL },
#ifdef SYS_epoll_pwait2
	{ SYS_epoll_pwait2, BY_EPOLL },
#endif
#ifdef SYS_poll
	{ SYS_poll, BY_POLL },          { SYS_select, BY_SELECT },   { SYS_epoll_wait, BY_EPOLL },
#endif
};

static void add(struct polled *p, int64_t fd)
{
	if (fd >= 0 && fd <= INT32_MAX && p->n < POLLED_MAX)
		p->fd[p->n++] = (int)fd;
}

int waiting_memory(const struct root *proc, pid_t pid, uint64_t at, void *out, size_t size)
{
	char path[32];
	ssize_t got;
	int fd;

	snprintf(path, sizeof path, "%d/mem", (int)pid);
	fd = root_file(proc, path);
	if (fd < 0)
		return fd;
	got = at <= INT64_MAX ? pread(fd, out, size, (off_t)at) : -1;
	close(fd);
	return got == (ssize_t)size ? 0 : -EIO;
}

static int by_poll(const struct root *proc, pid_t pid, const uint64_t *arg, struct polled *out)
{
	struct pollfd fds[POLLED_MAX];
	size_t n = arg[1] < POLLED_MAX ? (size_t)arg[1] : POLLED_MAX;
	int bad = n ? waiting_memory(proc, pid, arg[0], fds, n * sizeof *fds) : 0;

	for (size_t i = 0; !bad && i < n; i++)
		add(out, fds[i].fd);
	return bad;
}

/* Sets of bits in words; of so many descriptors as it says, and no more than FD_SETSIZE. */
static int by_select(const struct root *proc, pid_t pid, const uint64_t *arg, struct polled *out)
{
	enum { WORD = 8 * sizeof(unsigned long), WORDS = 1024 / WORD };
	unsigned long all[WORDS] = { 0 }, set[WORDS] = { 0 };
	size_t nfds = arg[0] < 1024 ? (size_t)arg[0] : 1024;
	size_t words = (nfds + WORD - 1) / WORD;

	for (int i = 1; i <= SETS && words; i++) {
		int bad = arg[i] ? waiting_memory(proc, pid, arg[i], set, words * sizeof *set) : 0;

		if (bad)
			return bad;
		for (size_t k = 0; arg[i] && k < words; k++)
			all[k] |= set[k];
	}
	for (size_t fd = 0; fd < nfds; fd++)
		if (all[fd / WORD] >> fd % WORD & 1)
			add(out, (int64_t)fd);
	return 0;
}

/* Lines "tfd:        5 events:       19 data: ..." */
static int by_epoll(const struct root *proc, pid_t pid, const uint64_t *arg, struct polled *out)
{
	char path[48], text[FDINFO_BYTES];
	ssize_t n;

	snprintf(path, sizeof path, "%d/fdinfo/%llu", (int)pid, (unsigned long long)arg[0]);
	n = root_read(proc, path, text, sizeof text);
	if (n < 0)
		return (int)n;
	out->by_epoll = true;
	for (const char *p = text; (p = number_find_line(p, "tfd:"));) {
		int64_t fd;

		p = number_skip_blanks(p);
		if (number_i64(&p, &fd))
			add(out, fd);
		p = number_next_line(p);
	}
	return 0;
}

int polled_read(const struct root *proc, pid_t pid, long call, const uint64_t *arg,
		struct polled *out)
{
	static int (*const readers[])(const struct root *, pid_t, const uint64_t *,
				      struct polled *) = {
		[BY_POLL] = by_poll,
		[BY_SELECT] = by_select,
		[BY_EPOLL] = by_epoll,
	};

	*out = (struct polled){ .n = 0 };
	for (size_t i = 0; i < sizeof polling / sizeof polling[0]; i++)
		if (polling[i].call == call)
			return readers[polling[i].how](proc, pid, arg, out);
	return -ENOENT;
}
