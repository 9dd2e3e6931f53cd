/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disown ignore|nocldwait|mixed|double|sibling|waited|zombies COUNT MILLISECONDS KIB [TOGETHER]:
 * children that nobody waits for, since SIGCHLD is ignored or has SA_NOCLDWAIT set, or every second
 * one (mixed: one at a time; the others are waited for), or since who started them has ended
 * (double: what takes orphans in waits for them), or since they are its parent's (sibling), or
 * since it never does (zombies: they stay until it ends); TOGETHER at a time, 1 when not given.
 * Each spins until its own CPU clock shows that many milliseconds and writes so many KiB to
 * /dev/null. Prints how many there were and the seconds they spun; and is there for half a second
 * more.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct work {
	int64_t ns;
	long kib;
	int told; /* a pipe: what was spun */
	bool twice, sibling;
};

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static _Noreturn void work(const struct work *w)
{
	static const char block[1024];
	int null = open("/dev/null", O_WRONLY);
	int64_t spun;

	for (long i = 0; i < w->kib; i++)
		if (write(null, block, sizeof block) != sizeof block)
			_exit(1);
	while ((spun = cpu_ns()) < w->ns)
		;
	_exit(write(w->told, &spun, sizeof spun) != sizeof spun);
}

static pid_t start(const struct work *w)
{
	pid_t pid =
		w->sibling ? (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) : fork();

	if (pid == 0) {
		if (!w->twice || fork() == 0)
			work(w);
		_exit(0);
	}
	if (w->twice)
		waitpid(pid, NULL, 0);
	return pid;
}

static void ignore(const char *how)
{
	struct sigaction a = { .sa_handler = SIG_DFL };

	if (strcmp(how, "ignore") == 0)
		a.sa_handler = SIG_IGN;
	if (strcmp(how, "nocldwait") == 0)
		a.sa_flags = SA_NOCLDWAIT;
	sigaction(SIGCHLD, &a, NULL);
}

/* Whether it is waited for or not, it is gone when this returns. */
static void end(const char *how, pid_t pid, bool ignored)
{
	const struct timespec moment = { .tv_nsec = 500000 };

	if (strcmp(how, "waited") == 0)
		wait(NULL);
	if (strcmp(how, "mixed") != 0)
		return;
	if (!ignored)
		waitpid(pid, NULL, 0);
	while (ignored && (kill(pid, 0) == 0 || errno != ESRCH))
		nanosleep(&moment, NULL);
}

static bool is_odd_of_mixed(const char *how, long i)
{
	if (strcmp(how, "mixed") == 0)
		ignore(i % 2 ? "ignore" : "");
	return i % 2;
}

int main(int argc, char **argv)
{
	const struct timespec rest = { .tv_nsec = 500000000 };
	long count = argc > 4 ? strtol(argv[2], NULL, 10) : 0;
	long together = argc > 5 ? strtol(argv[5], NULL, 10) : 1;
	int64_t spun, total = 0;
	pid_t pid = 0;
	struct work w;
	int fds[2];

	if (!count || pipe(fds))
		return 2;
	if (strcmp(argv[1], "mixed") == 0)
		together = 1;
	w = (struct work){ .ns = strtoll(argv[3], NULL, 10) * 1000000,
			   .kib = strtol(argv[4], NULL, 10),
			   .told = fds[1],
			   .twice = strcmp(argv[1], "double") == 0,
			   .sibling = strcmp(argv[1], "sibling") == 0 };
	ignore(argv[1]);
	for (long started = 0, ended = 0; ended < count; ended++) {
		bool ignored = is_odd_of_mixed(argv[1], ended);

		for (; started < count && started - ended < together; started++)
			pid = start(&w);
		if (read(fds[0], &spun, sizeof spun) != sizeof spun)
			return 1;
		total += spun;
		end(argv[1], pid, ignored);
	}
	printf("%ld %.6f\n", count, (double)total / 1e9);
	fflush(stdout);
	nanosleep(&rest, NULL);
	return 0;
}
