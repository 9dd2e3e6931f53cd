/* SPDX-License-Identifier: Apache-2.0 */
#include "job/sentinel.h"

#include "base/clock.h"
#include "base/process.h"
#include "base/root.h"
#include "base/text/number.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { KERNEL_SET = SIGNALS / 8 }; /* bytes of the kernel's set */

void signals_all(sigset_t *set)
{
	sigemptyset(set);
	memset(set, 0xff, KERNEL_SET);
}

void signals_one(sigset_t *set, int signal)
{
	uint64_t bit = UINT64_C(1) << (signal - 1);

	sigemptyset(set);
	memcpy(set, &bit, sizeof bit);
}

int signals_mask(int how, const sigset_t *set, sigset_t *old)
{
	if (old)
		sigemptyset(old);
	return (int)syscall(SYS_rt_sigprocmask, how, set, old, KERNEL_SET);
}

/* The kernel's struct sigaction of zeros, which is SIG_DFL without a flag and with an empty mask.
 */
int signals_default(int signal)
{
	static const uint64_t standard[4];

	return (int)syscall(SYS_rt_sigaction, signal, standard, NULL, KERNEL_SET);
}

/* What kill(2) sends and what the kernel itself sends may not be repeated as it was. */
void signals_send(pid_t pid, siginfo_t *info)
{
	if (info->si_code < 0 && info->si_code != SI_TKILL &&
	    !syscall(SYS_rt_sigqueueinfo, pid, info->si_signo, info))
		return;
	kill(pid, info->si_signo);
}

enum {
	ANSWER_MS = 20,    /* the sentinel got it by then, or not at all */
	TOGETHER_MS = 100, /* timeout(1) signals its child first, then the group: one event */
};

struct sighting {
	int signal;
	int64_t at_ns;
};

static _Noreturn void watch(void *its)
{
	int launcher = *(const int *)its;
	struct pollfd p[2] = { { .fd = launcher, .events = POLLIN } };
	struct signalfd_siginfo info;
	sigset_t all;

	signals_all(&all);
	signals_mask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, "sonde-sentinel");
	descriptors_close(0, launcher);
	p[1] = (struct pollfd){ .fd = signalfd(-1, &all, SFD_CLOEXEC), .events = POLLIN };
	for (;;) {
		struct sighting seen = { 0 };

		if (poll(p, 2, -1) < 0 || p[0].revents)
			_exit(0); /* the launcher never speaks: this is its end */
		if (read(p[1].fd, &info, sizeof info) != (ssize_t)sizeof info)
			_exit(0);
		seen.signal = (int)info.ssi_signo;
		seen.at_ns = clock_mono_ns();
		send(launcher, &seen, sizeof seen, MSG_NOSIGNAL | MSG_DONTWAIT);
	}
}

bool sentinel_plan(struct sentinel *s, struct orphan *o)
{
	int pair[2];

	*s = (struct sentinel){ .fd = -1 };
	/* As process 1 the launcher is everybody's parent: no process can be nobody's child. */
	if (getpid() == 1 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return false;
	s->fd = pair[0];
	s->its = pair[1];
	*o = (struct orphan){ .be = watch, .of = &s->its };
	return true;
}

void sentinel_take(struct sentinel *s, const struct orphan *o)
{
	close(s->its);
	s->pid = o->pid > 0 ? o->pid : 0;
}

void sentinel_start(struct sentinel *s)
{
	struct orphan o;

	if (!sentinel_plan(s, &o))
		return;
	o.pid = orphan_fork();
	if (!o.pid)
		watch(o.of);
	sentinel_take(s, &o);
}

bool sentinel_got(struct sentinel *s, int signal, int64_t since_ns)
{
	int64_t arrived = clock_mono_ns(), until = arrived + ANSWER_MS * NS_PER_MS;
	struct sighting seen;

	for (int64_t now = arrived; s->fd >= 0 && now < until; now = clock_mono_ns()) {
		struct pollfd p = { .fd = s->fd, .events = POLLIN };

		if (arrived - s->group_ns[signal] < TOGETHER_MS * NS_PER_MS)
			return true;
		if (poll(&p, 1, (int)((until - now) / NS_PER_MS) + 1) <= 0)
			continue;
		if (recv(s->fd, &seen, sizeof seen, MSG_DONTWAIT) != (ssize_t)sizeof seen)
			return false;
		if (seen.signal > 0 && seen.signal <= SIGNALS && seen.at_ns >= since_ns)
			s->group_ns[seen.signal] = seen.at_ns;
	}
	return arrived - s->group_ns[signal] < TOGETHER_MS * NS_PER_MS;
}

/* False when there is nothing to read. */
static bool read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : file_reread(fd, text, size);

	if (fd >= 0)
		close(fd);
	return n > 0;
}

struct glance glance_at(pid_t pid)
{
	enum { FLAGS_FIELD = 7, EXITING = 0x4 }; /* after the name; PF_EXITING of linux/sched.h */
	struct glance g = { 0 };
	char path[32], text[1024];
	const char *p;
	int64_t flags;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	p = read_text(path, text, sizeof text) ? strrchr(text, ')') : NULL;
	if (!p || p[1] != ' ')
		return g;
	g.state = p[2];
	for (int field = 0; p && field < FLAGS_FIELD; field++)
		p = strchr(p + 1, ' ');
	g.ending = p && number_i64(&p, &flags) && flags & EXITING;
	g.cpu_ns = clock_cpu_ns_of(pid);
	return g;
}

static bool ignored_children(pid_t pid)
{
	char path[32], text[4096];
	const char *p;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	p = read_text(path, text, sizeof text) ? number_find_line(text, "SigIgn:") : NULL;
	return p && strtoull(number_skip_blanks(p), NULL, 16) >> (SIGCHLD - 1) & 1;
}

/* Page faults of children, of which each has some. */
static bool was_given_nothing(pid_t pid)
{
	enum { FIRST = 4, OF_CHILDREN = 11, LAST = 13 /* the major ones */ };
	char path[32], text[1024];
	int64_t field[LAST + 1] = { 0 };
	const char *p;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	p = read_text(path, text, sizeof text) ? strrchr(text, ')') : NULL;
	if (!p || strlen(p) < 4)
		return false;
	p += 3; /* behind its state */
	for (int i = FIRST; i <= LAST; i++)
		if (!number_i64(&p, &field[i]))
			return false;
	return field[OF_CHILDREN] + field[LAST] == 0;
}

/* A /proc of another pid namespace has other processes by these numbers. */
static bool is_own_proc(void)
{
	char self[16];
	ssize_t n = readlink("/proc/self", self, sizeof self - 1);

	self[n > 0 ? n : 0] = '\0';
	return strtol(self, NULL, 10) == getpid();
}

enum glance_children glance_children(pid_t pid)
{
	bool nothing;

	if (!is_own_proc())
		return CHILDREN_WAITED;
	nothing = was_given_nothing(pid);
	if (ignored_children(pid))
		return nothing ? CHILDREN_IGNORED : CHILDREN_IGNORED_LAST;
	return nothing ? CHILDREN_UNKNOWN : CHILDREN_WAITED;
}

int64_t glance_own_high_water(void)
{
	char text[4096];
	const char *p = NULL;
	int64_t kib;

	if (read_text("/proc/self/status", text, sizeof text))
		p = number_find_line(text, "VmHWM:");
	if (p)
		p = number_skip_blanks(p);
	return p && number_i64(&p, &kib) && kib < INT64_MAX / 1024 ? kib * 1024 : 0;
}

bool glance_any_child(bool (*is_so)(void *ctx, pid_t pid), void *ctx)
{
	char text[4096];
	int64_t pid;

	if (!read_text("/proc/thread-self/children", text, sizeof text))
		return false;
	for (const char *p = text; number_i64(&p, &pid);)
		if (is_so(ctx, (pid_t)pid))
			return true;
	return false;
}

enum { LOOK_MS = 50, STILL_MS = 1000, DISK_MS = 5000 };

struct patience patience_begin(pid_t pid, bool may_sleep, int most_ms)
{
	int64_t now = clock_mono_ns();

	return (struct patience){ .pid = pid,
				  .may_sleep = may_sleep,
				  .deadline_ns = now + most_ms * NS_PER_MS,
				  .moved_ns = now };
}

static int64_t still_ns(const struct patience *p, char state)
{
	if (state == 'D')
		return DISK_MS * NS_PER_MS;
	return state == 'T' || state == 't' || !p->may_sleep ? STILL_MS * NS_PER_MS : INT64_MAX;
}

int patience_left_ms(struct patience *p)
{
	struct glance g = p->pid > 0 ? glance_at(p->pid) : (struct glance){ 0 };
	int64_t now = clock_mono_ns();

	if (g.state == 'R' || g.cpu_ns != p->cpu_ns)
		p->moved_ns = now;
	p->cpu_ns = g.cpu_ns;
	return now >= p->deadline_ns || now - p->moved_ns >= still_ns(p, g.state) ? 0 : LOOK_MS;
}
