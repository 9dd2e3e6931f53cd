/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disown ignore|nocldwait|double|waited|zombies COUNT MILLISECONDS KIB [TOGETHER]: children that
 * nobody waits for, since SIGCHLD is ignored or has SA_NOCLDWAIT set, or since who started them has
 * ended (double: what takes orphans in waits for them), or since it never does (zombies: they stay
 * until it ends); TOGETHER at a time, 1 when not given. Each spins until its own CPU clock shows
 * that many milliseconds and writes so many KiB to /dev/null. Prints how many there were and the
 * seconds they spun; and is there for half a second more.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct work {
	int64_t ns;
	long kib;
	int told; /* a pipe: what was spun */
	int twice;
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

static void start(const struct work *w)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (!w->twice || fork() == 0)
			work(w);
		_exit(0);
	}
	if (w->twice)
		waitpid(pid, NULL, 0);
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

int main(int argc, char **argv)
{
	const struct timespec rest = { .tv_nsec = 500000000 };
	long count = argc > 4 ? strtol(argv[2], NULL, 10) : 0;
	long together = argc > 5 ? strtol(argv[5], NULL, 10) : 1;
	int64_t spun, total = 0;
	struct work w;
	int fds[2];

	if (!count || pipe(fds))
		return 2;
	w = (struct work){ .ns = strtoll(argv[3], NULL, 10) * 1000000,
			   .kib = strtol(argv[4], NULL, 10),
			   .told = fds[1],
			   .twice = strcmp(argv[1], "double") == 0 };
	ignore(argv[1]);
	for (long started = 0, ended = 0; ended < count; ended++) {
		for (; started < count && started - ended < together; started++)
			start(&w);
		if (read(fds[0], &spun, sizeof spun) != sizeof spun)
			return 1;
		total += spun;
		if (strcmp(argv[1], "waited") == 0)
			wait(NULL);
	}
	printf("%ld %.6f\n", count, (double)total / 1e9);
	fflush(stdout);
	nanosleep(&rest, NULL);
	return 0;
}
