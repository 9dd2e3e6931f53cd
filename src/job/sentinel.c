/* SPDX-License-Identifier: Apache-2.0 */
#include "job/sentinel.h"

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/orphan.h"

#include <poll.h>
#include <signal.h>
#include <stdint.h>
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

static _Noreturn void watch(int launcher)
{
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

void sentinel_start(struct sentinel *s)
{
	int pair[2];

	*s = (struct sentinel){ .fd = -1 };
	/* As process 1 the launcher is everybody's parent: no process can be nobody's child. */
	if (getpid() == 1 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return;
	s->pid = orphan_fork();
	if (!s->pid)
		watch(pair[1]);
	close(pair[1]);
	s->fd = pair[0];
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
