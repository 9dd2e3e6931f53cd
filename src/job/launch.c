/* SPDX-License-Identifier: Apache-2.0 */
#include "job/launch.h"

#include "base/clock.h"
#include "base/process.h"
#include "base/root.h"
#include "base/text/number.h"
#include "job/message.h"
#include "job/sentinel.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROOM_MS = 500 };           /* a recorder that works makes room for a message at once */
#define GRACE_NS  (2 * NS_PER_S)  /* between asking a command to end and killing it */
#define MOMENT_NS (2 * NS_PER_MS) /* of CPU, in which an orphan that ends gets to exit(2) */

int launch_begin(struct launch_signals *saved, struct err *e)
{
	struct sigaction standard = { .sa_handler = SIG_DFL };
	sigset_t all;

	signals_all(&all);
	/* With SIGCHLD ignored the kernel reaps children itself and wait4 learns nothing. */
	if (sigaction(SIGCHLD, &standard, &saved->child) ||
	    signals_mask(SIG_BLOCK, &all, &saved->mask))
		return err_set(e, -errno, "cannot set up signals: %s", strerror(errno));
	return 0;
}

struct child {
	pid_t pid, recorder;
	bool ended;
	enum glance_children children;
	int64_t reaped;
	int status;
	int64_t start_ns, max_rss_bytes;
	int64_t end_ns, deadline_ns; /* deadline 0: none */
	int64_t over_ns;             /* all of it was waited for; not when the recorder hears so */
	bool timed_out;
	struct rusage usage;
	/* of children waited for before the command */
	int64_t base_user_ns, base_system_ns, base_minor_faults, base_major_faults;
	int64_t base_voluntary_switches, base_involuntary_switches;
	int signals; /* signalfd, to wait for a signal and a shared recorder at once; 0: none */
};

void launch_signals_restore(const struct launch_signals *saved)
{
	sigaction(SIGCHLD, &saved->child, NULL);
	signals_mask(SIG_SETMASK, &saved->mask, NULL);
}

/* What came before the command was there: it has none of it. */
struct early {
	uint32_t n;
	siginfo_t signal[64];
};

/* What the kernel sends to the launcher alone and not because of the command: its children's ends,
 * its own broken pipes. */
static bool is_own(const siginfo_t *info)
{
	if (info->si_signo == SIGCHLD)
		return info->si_code > 0;
	return info->si_signo == SIGPIPE && info->si_pid == getpid();
}

static void take_early(struct early *before)
{
	const struct timespec now = { 0, 0 };
	siginfo_t info;
	sigset_t all;

	signals_all(&all);
	before->n = 0;
	while (before->n < sizeof before->signal / sizeof before->signal[0] &&
	       sigtimedwait(&all, &info, &now) > 0)
		if (!is_own(&info))
			before->signal[before->n++] = info;
}

static void send_early(struct early *before, pid_t pid)
{
	for (uint32_t i = 0; i < before->n; i++)
		signals_send(pid, &before->signal[i]);
}

/* Start the command; returns once its exec has succeeded, or with the exit code that says why not.
 * vfork shares the memory until then: no page of the launcher is copied for the job. */
static int start(const struct launch *l, struct child *c, struct err *e)
{
	volatile int failed = 0;
	struct early before;

	take_early(&before);
	c->start_ns = clock_mono_ns();
	c->pid = vfork();
	if (c->pid < 0)
		send_early(&before, getpid()); /* for what then takes the launcher's place */
	if (c->pid < 0)
		return err_set(e, LAUNCH_NO_PROCESS, "cannot fork: %s", strerror(errno));
	if (!c->pid) {
		launch_signals_restore(l->saved);
		execvp(l->argv[0], l->argv);
		failed = errno;
		_exit(failed == ENOENT ? LAUNCH_NOT_FOUND : LAUNCH_NOT_EXECUTABLE);
	}
	if (!failed) {
		send_early(&before, c->pid);
		return 0;
	}
	waitpid(c->pid, NULL, 0);
	if (failed == ENOENT)
		return err_set(e, LAUNCH_NOT_FOUND, "%s: command not found",
			       *l->argv[0] ? l->argv[0] : "''");
	return err_set(e, LAUNCH_NOT_EXECUTABLE, "%s: cannot execute: %s", l->argv[0],
		       strerror(failed));
}

static int64_t timeval_ns(struct timeval t)
{
	return (int64_t)t.tv_sec * NS_PER_S + t.tv_usec * 1000;
}

/* From its exec on; that of the sentinel is nobody's child. */
static int64_t own_cpu_ns(const struct launch *l)
{
	pid_t sentinel = l->sentinel ? l->sentinel->pid : 0;

	return clock_cpu_ns() + (sentinel > 0 ? clock_cpu_ns_of(sentinel) : 0);
}

static void tell(const struct launch *l, enum message_kind kind, const struct child *c, pid_t pid,
		 int status)
{
	struct rusage total = { 0 };
	struct message m = { .kind = kind, .pid = pid, .status = status, .at_ns = clock_mono_ns() };

	int fd = l->share ? l->share->fd : l->recorder;

	if (fd < 0)
		return;
	if (kind == MESSAGE_STARTED)
		m.at_ns = c->start_ns; /* its CPU counts from its fork, and so does its time */
	if (kind == MESSAGE_ENDED && c->over_ns)
		m.at_ns = c->over_ns;
	getrusage(RUSAGE_CHILDREN, &total);
	m.total_user_ns = timeval_ns(total.ru_utime) - c->base_user_ns;
	m.total_system_ns = timeval_ns(total.ru_stime) - c->base_system_ns;
	m.total_minor_faults = total.ru_minflt - c->base_minor_faults;
	m.total_major_faults = total.ru_majflt - c->base_major_faults;
	m.total_voluntary_switches = total.ru_nvcsw - c->base_voluntary_switches;
	m.total_involuntary_switches = total.ru_nivcsw - c->base_involuntary_switches;
	m.max_rss_bytes = c->max_rss_bytes;
	m.reaped = c->reaped;
	m.own_cpu_ns = own_cpu_ns(l);
	if (kind == MESSAGE_EXITED && pid == c->pid)
		m.children = c->children;
	if (kind == MESSAGE_ENDED)
		message_send_within(fd, &m, ROOM_MS);
	else
		message_send(fd, &m);
}

/* A command stopped from its terminal stops the launcher too, so that the shell sees a stopped job.
 * Who sends SIGSTOP to the command alone will continue it alone, and not the launcher. */
static void stop_along(const struct child *c, int signal)
{
	struct sigaction standard = { .sa_handler = SIG_DFL }, old;
	sigset_t one, mask;

	if (signal != SIGTSTP && signal != SIGTTIN && signal != SIGTTOU)
		return;
	sigemptyset(&one);
	sigaddset(&one, signal);
	sigaction(signal, &standard, &old);
	raise(signal);
	sigprocmask(SIG_UNBLOCK, &one, &mask);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	sigaction(signal, &old, NULL);
	kill(c->pid, SIGCONT);
}

/* Nobody can ask that of it once it was waited for. */
static void look_before(struct child *c)
{
	siginfo_t info = { .si_pid = 0 };

	if (!c->ended && !waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) &&
	    info.si_pid == c->pid)
		c->children = glance_children(c->pid);
}

/* Of the command the kernel counts what it was before its exec, too, which is the launcher: so much
 * tells nothing. */
static int64_t max_rss_of(const struct child *c, pid_t pid, const struct rusage *own)
{
	int64_t bytes = own->ru_maxrss * INT64_C(1024);

	return pid == c->pid && bytes <= glance_own_high_water() ? 0 : bytes;
}

/* Take all that can be waited for now. */
static void reap(const struct launch *l, struct child *c)
{
	struct rusage own;
	int64_t max_rss;
	int status;
	pid_t pid;

	look_before(c);
	while ((pid = wait4(-1, &status, WNOHANG | WUNTRACED, &own)) > 0) {
		if (WIFSTOPPED(status)) {
			if (pid == c->pid)
				stop_along(c, WSTOPSIG(status));
			continue;
		}
		c->reaped++;
		max_rss = max_rss_of(c, pid, &own);
		if (max_rss > c->max_rss_bytes)
			c->max_rss_bytes = max_rss;
		if (pid == c->pid) {
			c->ended = true;
			c->status = status;
			c->end_ns = clock_mono_ns();
			c->usage = own;
		}
		tell(l, MESSAGE_EXITED, c, pid, status);
	}
}

/* The kernel says so of what was typed, too; but a timer that was set before the launcher was
 * executed is the launcher's alone. */
static bool is_of_kernel(const siginfo_t *info)
{
	return info->si_code > 0 && info->si_signo != SIGALRM && info->si_signo != SIGVTALRM &&
	       info->si_signo != SIGPROF;
}

/* A signal for the whole process group has reached the command already; the terminal always sends
 * such. What carries a value cannot be sent to a group. */
static bool command_has_it(const struct launch *l, const struct child *c, const siginfo_t *info)
{
	if (info->si_code < 0)
		return false;
	return sentinel_got(l->sentinel, info->si_signo, c->start_ns) || is_of_kernel(info);
}

/* As process 1 of a container the launcher is the recorder's parent, too, and must not wait for it.
 */
static bool is_another(void *recorder, pid_t pid)
{
	return pid != *(const pid_t *)recorder;
}

static pid_t recorder_of(const struct launch *l, const struct child *c)
{
	return l->share ? l->share->recorder : c->recorder;
}

static bool children_left(const struct launch *l, const struct child *c)
{
	pid_t recorder = recorder_of(l, c);
	siginfo_t info;

	if (getpid() == 1)
		return glance_any_child(is_another, &recorder);
	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/* Orphans of what starts a recorder come to the launcher, and what it waits for in doing so is none
 * of the job's. */
static bool listen_to_recorder(const struct launch *l, struct child *c)
{
	struct rusage before, after;
	bool another;

	getrusage(RUSAGE_CHILDREN, &before);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	another = share_listen(l->share);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	getrusage(RUSAGE_CHILDREN, &after);
	c->base_user_ns += timeval_ns(after.ru_utime) - timeval_ns(before.ru_utime);
	c->base_system_ns += timeval_ns(after.ru_stime) - timeval_ns(before.ru_stime);
	c->base_minor_faults += after.ru_minflt - before.ru_minflt;
	c->base_major_faults += after.ru_majflt - before.ru_majflt;
	return another;
}

static int wait_for_signal(const struct child *c, const sigset_t *set, siginfo_t *info)
{
	int64_t left = c->deadline_ns - clock_mono_ns();
	struct timespec t = { 0, 0 };

	if (!c->deadline_ns || c->ended)
		return sigwaitinfo(set, info);
	if (left > 0)
		t = (struct timespec){ left / NS_PER_S, left % NS_PER_S };
	return sigtimedwait(set, info, &t);
}

/* First it is asked to end. */
static void end_late(struct child *c)
{
	if (!c->deadline_ns || c->ended || clock_mono_ns() < c->deadline_ns)
		return;
	kill(c->pid, c->timed_out ? SIGKILL : SIGTERM);
	c->timed_out = true;
	c->deadline_ns = clock_mono_ns() + GRACE_NS;
}

static int next_signal(const struct launch *l, struct child *c, const sigset_t *set,
		       siginfo_t *info)
{
	const struct timespec now = { 0, 0 };

	if (!l->share || c->signals <= 0)
		return wait_for_signal(c, set, info);
	for (;;) {
		struct pollfd p[2] = { { .fd = c->signals, .events = POLLIN },
				       { .fd = l->share->fd, .events = POLLIN } };

		poll(p, 2, share_timeout_ms(l->share));
		if (p[1].revents || share_timeout_ms(l->share) == 0)
			if (listen_to_recorder(l, c))
				tell(l, MESSAGE_STARTED, c, c->pid, 0);
		if (p[0].revents)
			return sigtimedwait(set, info, &now);
	}
}

/* Children that were running when the command had ended. */
struct orphans {
	pid_t recorder;
	uint32_t n;
	struct {
		pid_t pid;
		int64_t cpu_ns; /* that it had when it was first looked at */
	} seen[32];
};

/* Is this child within exit(2), or may it be on its way there? One that could run has not had a CPU
 * on a busy machine, and is given one for a moment; who then still computes goes on without us. */
static bool is_ending(void *ctx, pid_t pid)
{
	struct orphans *o = ctx;
	struct glance g = glance_at(pid);
	uint32_t i = 0;

	if (pid == o->recorder)
		return false;
	if (g.ending || g.state != 'R')
		return g.ending;
	while (i < o->n && o->seen[i].pid != pid)
		i++;
	if (i == sizeof o->seen / sizeof o->seen[0])
		return false;
	if (i == o->n) {
		o->seen[i].pid = pid;
		o->seen[i].cpu_ns = g.cpu_ns;
		o->n++;
	}
	return g.cpu_ns - o->seen[i].cpu_ns < MOMENT_NS;
}

/* An orphan that ends together with the command may not be waited for yet when that is: its CPU
 * would be in nobody's total. */
static void reap_ending(const struct launch *l, struct child *c)
{
	enum { TRIES = 150 };
	const struct timespec pause = { .tv_nsec = 2 * NS_PER_MS };
	struct orphans o = { .recorder = recorder_of(l, c) };

	for (int i = 0; i < TRIES && glance_any_child(is_ending, &o); i++) {
		nanosleep(&pause, NULL);
		reap(l, c);
	}
}

static void supervise(const struct launch *l, struct child *c)
{
	sigset_t set;
	siginfo_t info;

	signals_all(&set);
	if (l->share)
		c->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	reap(l, c);
	while (!c->ended || (l->wait_all && children_left(l, c))) {
		int signal = next_signal(l, c, &set, &info);

		end_late(c);
		if (signal < 0)
			continue;
		if (!is_own(&info) && !command_has_it(l, c, &info) && !c->ended)
			signals_send(c->pid, &info);
		reap(l, c);
	}
	reap_ending(l, c);
	file_close(&c->signals);
}

/* A message of the recorder. False when there is none: it takes too long or is gone. */
static bool hear_recorder(struct launch *l, int timeout_ms, struct message *m, bool *lost)
{
	int got = l->recorder >= 0 ? message_wait(l->recorder, m, timeout_ms) : -ENOENT;

	*lost |= got == 0;
	if (got == 0 || (got == 1 && m->kind == MESSAGE_DONE))
		l->recorder = -1;
	return got == 1;
}

/* A shared one that is lost just now is followed by another, which gets to know the end, too. */
static void wait_for_shared(struct launch *l, struct child *c, bool *lost)
{
	int64_t deadline = clock_mono_ns() + l->done_ms * NS_PER_MS;

	while (!l->share->over && clock_mono_ns() < deadline) {
		if (l->share->fd >= 0) {
			struct patience p = patience_begin(l->share->recorder, true, l->done_ms);

			share_wait_done(l->share, &p);
			if (l->share->fd < 0)
				continue;
			*lost = true;
			return;
		}
		poll(NULL, 0, share_timeout_ms(l->share));
		if (listen_to_recorder(l, c))
			tell(l, MESSAGE_ENDED, c, c->pid, c->status);
	}
}

static void wait_for_end(struct launch *l, struct child *c, bool *lost)
{
	struct patience p = patience_begin(c->recorder, false, l->done_ms);
	struct message m;
	int left;

	if (l->share)
		wait_for_shared(l, c, lost);
	while (l->recorder >= 0 && (left = patience_left_ms(&p)) > 0)
		hear_recorder(l, left, &m, lost);
	*lost |= l->recorder >= 0;
}

/* It closes its end when it has read what is left; nobody waits long for it. */
static void end_follower(int fd, int status)
{
	enum { FOLLOWER_MS = 300 };
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (fd <= 0)
		return;
	if (status)
		(void)!send(fd, "!", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	shutdown(fd, SHUT_WR);
	poll(&p, 1, FOLLOWER_MS);
}

/* The socket on which a rank speaks with the one who started it (PMI): when it closes before the
 * launcher has ended, MPICH's hydra takes the rank for lost and kills the others. -1: none. */
static int rank_descriptor(void)
{
	const char *text = getenv("PMI_FD");
	int64_t fd;

	return text && number_i64(&text, &fd) && !*text && fd > STDERR_FILENO && fd < INT_MAX
		       ? (int)fd
		       : -1;
}

/* Before its end, of which the recorder makes the last sample. */
static void tell_printed(const struct launch *l, const struct child *c,
			 const struct printed_place *place)
{
	int fd = l->share ? l->share->fd : l->recorder;
	struct pollfd room = { .fd = fd, .events = POLLOUT };
	struct printed p;

	if (fd < 0 || !l->error_text ||
	    (!c->status && (l->share || l->error_text != PRINTED_WANTED)))
		return;
	printed_read(place, &p);
	p.ended_well = !c->status;
	if (packet_send(fd, &p, sizeof p, -1) == -EAGAIN && poll(&room, 1, ROOM_MS) > 0)
		packet_send(fd, &p, sizeof p, -1);
}

/* The command runs in this process's place: how it ends, no recorder learns. */
static void leave(struct launch *l)
{
	int fd = l->share ? l->share->fd : l->recorder;

	if (fd >= 0)
		shutdown(fd, SHUT_RDWR);
	if (l->share)
		l->share->over = true;
	l->recorder = -1;
}

int launch_command(const struct launch *l, struct launch_end *end, struct err *e)
{
	struct launch here = *l;
	struct child c = { .recorder = l->recorder_pid };
	struct printed_place printed;
	struct rusage before = { 0 };
	struct message m;
	int code;

	printed_begin(&printed, l->error_text);
	*end = (struct launch_end){ 0 };
	/* Until its first sample is taken. */
	hear_recorder(&here, here.ready_ms, &m, &end->recorder_lost);
	if (here.ready)
		here.ready(here.ready_ctx);
	getrusage(RUSAGE_CHILDREN, &before);
	c.base_user_ns = timeval_ns(before.ru_utime);
	c.base_system_ns = timeval_ns(before.ru_stime);
	c.base_minor_faults = before.ru_minflt;
	c.base_major_faults = before.ru_majflt;
	c.base_voluntary_switches = before.ru_nvcsw;
	c.base_involuntary_switches = before.ru_nivcsw;
	/* Orphans of the job come to the launcher, so that their CPU is in its children's total. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	code = start(&here, &c, e);
	if (code == LAUNCH_NO_PROCESS) {
		leave(&here);
	} else if (code) {
		tell(&here, MESSAGE_ENDED, &c, 0, code << 8);
	} else {
		tell(&here, MESSAGE_STARTED, &c, c.pid, 0);
		if (l->let_go)
			descriptors_let_go(rank_descriptor());
		c.deadline_ns = l->limit_ns ? c.start_ns + l->limit_ns : 0;
		supervise(&here, &c);
		c.over_ns = clock_mono_ns();
		end->status = c.status;
		end->timed_out = c.timed_out;
		end->wall_ns = c.end_ns - c.start_ns;
		end->usage = c.usage;
		end_follower(here.follower, c.status);
		tell_printed(&here, &c, &printed);
		tell(&here, MESSAGE_ENDED, &c, c.pid, c.status);
	}
	printed_end(&printed);
	wait_for_end(&here, &c, &end->recorder_lost);
	return code;
}

void launch_repeat(int status)
{
	struct rlimit no_core = { 0, 0 };
	sigset_t one;

	if (!WIFSIGNALED(status))
		_exit(WEXITSTATUS(status));
	setrlimit(RLIMIT_CORE, &no_core);
	prctl(PR_SET_DUMPABLE, 0);
	signals_default(WTERMSIG(status));
	signals_one(&one, WTERMSIG(status));
	kill(getpid(), WTERMSIG(status));
	signals_mask(SIG_UNBLOCK, &one, NULL);
	_exit(128 + WTERMSIG(status));
}
