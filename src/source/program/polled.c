/* SPDX-License-Identifier: Apache-2.0 */
/* polled.c - the descriptors that a thread waits for in poll, select or epoll, and what it waits
 * for by what they are: of an event loop whose connections are idle, its next timer. */
#include "base/text/number.h"
#include "source/program/waiting_part.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	FDINFO_BYTES = 8192,
	SETS = 3,        /* to read, to write, exceptions */
	FDS_MAX = 64,    /* that are looked at for a connection */
	SOCKETS_MAX = 8, /* of them */
};

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

/* How long an event loop waits at most: milliseconds, or a time that is pointed to. */
static int64_t wait_of(const struct root *proc, pid_t pid, long call, const uint64_t *arg)
{
#ifdef SYS_epoll_pwait2
	struct timespec t;

	if (call == SYS_epoll_pwait2)
		return arg[3] && !waiting_memory(proc, pid, arg[3], &t, sizeof t)
			       ? (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000
			       : -1;
#endif
	(void)proc, (void)pid, (void)call;
	return (int32_t)arg[3];
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

	*out = (struct polled){ .wait_ms = -1 };
	for (size_t i = 0; i < sizeof polling / sizeof polling[0]; i++) {
		if (polling[i].call != call)
			continue;
		if (polling[i].how == BY_EPOLL)
			out->wait_ms = wait_of(proc, pid, call, arg);
		return readers[polling[i].how](proc, pid, arg, out);
	}
	return -ENOENT;
}

/* ---- what they are ---- */

struct ends {
	size_t peers, listening, pipes, local;
	bool timer, others; /* a timer that is set; a child, a terminal, another epoll */
	struct connection peer[SOCKETS_MAX], where;
};

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static size_t sockets(const struct ends *e)
{
	return e->peers + e->listening + e->local;
}

/* "it_value: (0, 0)" of one that is not. */
static bool is_set(const struct thread *t, uint64_t fd)
{
	char path[48], text[512];
	const char *value;

	snprintf(path, sizeof path, "%d/fdinfo/%llu", (int)t->pid, (unsigned long long)fd);
	if (root_read(t->proc, path, text, sizeof text) <= 0)
		return false;
	value = number_find_line(text, "it_value:");
	return value && !begins(number_skip_blanks(value), "(0, 0)");
}

static void add_end(const struct thread *t, uint64_t fd, struct ends *e)
{
	char link[THREAD_TARGET];
	struct connection peer;

	if (!thread_file(t, fd, link, sizeof link))
		return;
	e->pipes += begins(link, "pipe:");
	e->timer |= strstr(link, "[timerfd]") != NULL && is_set(t, fd);
	e->others |= *link == '/' || strstr(link, "pidfd") || strstr(link, "[eventpoll]");
	if (!begins(link, "socket:"))
		return;
	if (!connection_of(t->known, t->proc, t->pid, fd, link, &peer)) {
		e->local++;
	} else if (peer.listens) {
		e->where = peer;
		e->listening++;
	} else {
		e->peer[e->peers++] = peer;
	}
}

/* Leaves out those that others made to the port where it listens: they ask, and it waits. */
static void leave_out_accepted(struct ends *e)
{
	size_t kept = 0;

	for (size_t i = 0; i < e->peers; i++)
		if (!e->listening || !e->where.id.idiag_sport ||
		    e->peer[i].id.idiag_sport != e->where.id.idiag_sport)
			e->peer[kept++] = e->peer[i];
	e->peers = kept;
}

/* "10.0.0.7:5432", "10.0.0.7:5432 or 10.0.0.8:5432", "..., ... or more" */
static void name_peers(const struct ends *e, char out[THREAD_TARGET])
{
	const char *named[2] = { "", "" };
	size_t n = 0;
	bool more = false;

	for (size_t i = 0; i < e->peers; i++) {
		const char *text = e->peer[i].text;

		if (!*text || !strcmp(text, named[0]) || !strcmp(text, named[1]))
			continue;
		more |= n == 2;
		if (n < 2)
			named[n++] = text;
	}
	if (n < 2)
		snprintf(out, THREAD_TARGET, "%s", named[0]);
	else
		snprintf(out, THREAD_TARGET, more ? "%.55s, %.55s or more" : "%.55s or %.55s",
			 named[0], named[1]);
}

/* Leaves out those of which the kernel tells that they are idle. */
static void leave_out_idle(const struct thread *t, struct ends *e, int64_t wait_ms)
{
	size_t kept = 0;

	for (size_t i = 0; i < e->peers; i++)
		if (!connection_is_idle(t->known, &e->peer[i], wait_ms))
			e->peer[kept++] = e->peer[i];
	e->peers = kept;
}

/* Is there more that an event loop may wait for than connections, its timers and itself? Each has a
 * pipe, or a pair of sockets, to wake itself. */
static bool has_others(const struct ends *e)
{
	return e->others || e->pipes + e->local > 1;
}

/* Does it wait for connections, if there are any, or for something else as well? */
static bool may_wake_otherwise(const struct thread *t, const struct polled *p, const struct ends *e,
			       bool known)
{
	if (!known)
		return begins(t->function, "ep_poll") || begins(t->function, "do_epoll");
	return p->by_epoll && (p->wait_ms >= 0 || e->timer || has_others(e));
}

/* What it polls, where that can be read; else the connections among its files. */
enum stall thread_polls(struct thread *t)
{
	char peers[THREAD_TARGET];
	struct polled polled;
	struct ends e = { 0 };
	bool known = polled_read(t->proc, t->pid, t->call, t->arg, &polled) == 0;
	bool otherwise;

	if (known && !polled.n)
		return STALL_TIMER;
	for (uint64_t i = 0; i < (known ? polled.n : FDS_MAX) && sockets(&e) < SOCKETS_MAX; i++)
		add_end(t, known ? (uint64_t)polled.fd[i] : i, &e);
	leave_out_accepted(&e);
	name_peers(&e, peers);
	otherwise = may_wake_otherwise(t, &polled, &e, known);
	if (otherwise)
		leave_out_idle(t, &e, polled.wait_ms);
	if (e.peers) {
		name_peers(&e, t->target);
		t->passes = otherwise;
		return STALL_NETWORK;
	}
	if (!known)
		return STALL_EVENTS;
	if (e.listening) {
		snprintf(t->target, THREAD_TARGET, "%s", e.where.text);
		return STALL_CONNECTION;
	}
	if (otherwise && !has_others(&e)) {
		snprintf(t->target, THREAD_TARGET, "in an event loop%s%.115s",
			 *peers ? " without traffic to " : "", peers);
		return STALL_TIMER;
	}
	if (polled.by_epoll)
		return STALL_EVENTS;
	return e.pipes ? STALL_PIPE_WRITER : e.local ? STALL_LOCAL_SOCKET : STALL_EVENTS;
}
