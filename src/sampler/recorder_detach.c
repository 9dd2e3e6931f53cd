/* SPDX-License-Identifier: Apache-2.0 */
/* recorder_detach.c - a process of the recorder's own, out of reach of the job's signals. */
#include "base/process.h"
#include "sampler/recorder_state.h"

#include <errno.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* In the new process: the job's pipes and locks are not the recorder's to hold. What it keeps below
 * 3 is to speak on. */
static void settle(int kept, int speaks)
{
	setsid();
	umask(umask(077) & 077); /* so that its user may read what it writes */
	descriptors_close(3, kept);
	descriptors_null(speaks);
	prctl(PR_SET_NAME, "sonde-recorder");
}

int recorder_detach(int *fd, pid_t *pid, struct err *e)
{
	int pair[2], forked;
	char go;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return err_set(e, -errno, "cannot make a socket: %s", strerror(errno));
	forked = orphan_fork();
	if (forked) {
		close(pair[1]);
		*fd = pair[0];
		if (forked > 0) {
			*pid = forked;
			send(pair[0], "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
			return 0;
		}
		close(pair[0]);
		*fd = -1;
		return err_set(e, forked, "cannot fork: %s", strerror(-forked));
	}
	settle(pair[1], STDERR_FILENO);
	/* Until the launcher has waited for what forked this, that looks like a part of the job. */
	(void)!recv(pair[1], &go, 1, 0);
	*fd = pair[1];
	return 1;
}

int recorder_detach_shared(int listener, struct err *e)
{
	int forked = orphan_fork();

	if (!forked) {
		settle(listener, STDERR_FILENO + 1);
		return 1;
	}
	close(listener);
	return forked > 0 ? 0 : err_set(e, forked, "cannot fork: %s", strerror(-forked));
}

void recorder_ignore_signals(void)
{
	static const int ignored[] = { SIGINT,  SIGHUP,  SIGQUIT, SIGTERM, SIGUSR1,
				       SIGUSR2, SIGPIPE, SIGXCPU, SIGXFSZ, SIGALRM };
	sigset_t none;

	for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Whoever asks the scheduler for short turns need not wait until those of others are over (Linux
 * 6.12; before it, nothing comes of it). */
void recorder_short_turns(void)
{
	enum { TURN_NS = 100000 }; /* the shortest there is */
	struct { /* sched_attr: headers of different ages have it in different places */
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} a = { .size = sizeof a };

	if (syscall(SYS_sched_getattr, 0, &a, sizeof a, 0) || a.policy != SCHED_OTHER)
		return;
	a.runtime = TURN_NS;
	syscall(SYS_sched_setattr, 0, &a, 0);
}

/* The job's limits are not meant for its recorder: as far as it may, it lifts its own. */
void recorder_lift_limits(struct recorder *r)
{
	static const __rlimit_resource_t lifted[] = { RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_AS,
						      RLIMIT_DATA, RLIMIT_CPU };
	const struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };

	for (__rlimit_resource_t i = 0; i < RLIM_NLIMITS; i++)
		getrlimit(i, &r->limits[i]);
	for (size_t i = 0; i < sizeof lifted / sizeof lifted[0]; i++) {
		struct rlimit l = r->limits[lifted[i]];

		l.rlim_cur = l.rlim_max;
		if (lifted[i] == RLIMIT_NOFILE || setrlimit(lifted[i], &none))
			setrlimit(lifted[i], &l);
	}
	signal(SIGXFSZ, SIG_IGN); /* what is too large for a file is an error of the write */
}

/* Tables have room for the largest machines: what a small one leaves empty is memory only once it
 * is written to. So large ones come from the kernel, which need not be zeroed again. */
void recorder_take_tables_from_kernel(void)
{
	enum { LARGE = 20000 }; /* bytes: more than a file's text */

	mallopt(M_MMAP_THRESHOLD, LARGE);
	mallopt(M_ARENA_MAX, 1); /* threads that are there for a moment need none of their own */
}

/* Sources open as many files as they get; what the recording itself needs is kept from them. */
void recorder_keep_files(const struct recorder *r, rlim_t kept)
{
	struct rlimit l = r->limits[RLIMIT_NOFILE];

	l.rlim_cur = l.rlim_max > 2 * kept ? l.rlim_max - kept : l.rlim_max;
	setrlimit(RLIMIT_NOFILE, &l);
}
