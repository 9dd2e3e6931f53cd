/* SPDX-License-Identifier: Apache-2.0 */
#include "top/keeper.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Once told to end, before it is killed; and then before the terminal is taken from it. */
enum { PATIENCE_S = 2 };

struct keeper {
	pid_t pid;
	int result[2]; /* what the work returned, and its sentence */
	int status;
	bool ended;
	int64_t told_ns; /* when it was told to end; 0: it was not */
};

struct result {
	int rc;
	struct err e;
};

static void taken_set(sigset_t *set)
{
	static const int taken[] = { SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP };

	sigemptyset(set);
	for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
		sigaddset(set, taken[i]);
}

static _Noreturn void be_worker(const struct keeper *k, const sigset_t *mask, pid_t keeper,
				int (*work)(const void *ctx, struct err *e), const void *ctx)
{
	struct result r = { .e = { "" } };

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != keeper)
		_exit(1);
	sigprocmask(SIG_SETMASK, mask, NULL);
	r.rc = work(ctx, &r.e);
	(void)!write(k->result[1], &r, sizeof r);
	_exit(0);
}

/* A shell takes the terminal back when this stops; by then the other has given it back. */
static void reap(struct keeper *k)
{
	int status;

	while (waitpid(k->pid, &status, WNOHANG | WUNTRACED) == k->pid) {
		if (!WIFSTOPPED(status)) {
			k->status = status;
			k->ended = true;
			return;
		}
		raise(SIGSTOP);
		kill(k->pid, SIGCONT);
	}
}

/* What comes from the terminal has come to both. */
static void pass_on(struct keeper *k, int signal, const siginfo_t *info)
{
	if (info->si_code <= 0)
		kill(k->pid, signal);
	if (signal != SIGTSTP && !k->told_ns)
		k->told_ns = clock_mono_ns();
}

static void keep(struct keeper *k, const sigset_t *set)
{
	const struct timespec second = { .tv_sec = 1 };
	siginfo_t info;

	while (!k->ended) {
		int signal = sigtimedwait(set, &info, k->told_ns ? &second : NULL);
		int64_t since = k->told_ns ? clock_mono_ns() - k->told_ns : 0;

		if (signal == SIGCHLD)
			reap(k);
		else if (signal > 0)
			pass_on(k, signal, &info);
		if (since > PATIENCE_S * NS_PER_S)
			kill(k->pid, SIGKILL);
		if (since > 2 * PATIENCE_S * NS_PER_S)
			return; /* it waits for a file system and cannot even be killed */
	}
}

static int result_of(const struct keeper *k, struct err *e)
{
	struct result r;

	if (read(k->result[0], &r, sizeof r) == (ssize_t)sizeof r) {
		*e = r.e;
		return r.rc;
	}
	return k->ended && WIFSIGNALED(k->status) ? WTERMSIG(k->status) : SIGKILL;
}

int keeper_run(const struct terminal *t, int (*work)(const void *ctx, struct err *e),
	       const void *ctx, struct err *e)
{
	struct keeper k = { 0 };
	pid_t self = getpid();
	sigset_t set, mask;
	int rc;

	if (pipe2(k.result, O_CLOEXEC | O_NONBLOCK))
		return err_set(e, -errno, "cannot make a pipe: %s", strerror(errno));
	taken_set(&set);
	sigprocmask(SIG_BLOCK, &set, &mask);
	k.pid = fork();
	if (!k.pid)
		be_worker(&k, &mask, self, work, ctx);
	if (k.pid < 0) {
		rc = err_set(e, -errno, "cannot fork: %s", strerror(errno));
	} else {
		keep(&k, &set);
		if (!k.ended || !WIFEXITED(k.status))
			terminal_leave(t);
		rc = result_of(&k, e);
	}
	close(k.result[0]);
	close(k.result[1]);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return rc;
}
