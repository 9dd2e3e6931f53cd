/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain [MILLISECONDS]: workers that a process tree loses easily: forked and waited for, orphaned,
 * in a session of their own, daemons, and a chain in which every parent ends before its child.
 * Each spins until its own CPU clock shows that many milliseconds. Prints the seconds they spun.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CHAIN_LENGTH = 5 };

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Spin, say how much, and end. The pipe is at its end when the last worker has. */
static _Noreturn void work(int pipe_fd, int64_t ns)
{
	int64_t spun;

	while ((spun = cpu_ns()) < ns)
		;
	_exit(write(pipe_fd, &spun, sizeof(spun)) != sizeof(spun));
}

static void waited(int pipe_fd, int64_t ns, int own_session)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (own_session)
			setsid();
		work(pipe_fd, ns);
	}
	waitpid(pid, NULL, 0);
}

static void orphan(int pipe_fd, int64_t ns, int own_session)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (own_session)
			setsid();
		if (fork() == 0)
			work(pipe_fd, ns);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

/* Every link starts the next, spins, and ends while the next still spins. */
static void chain(int pipe_fd, int64_t ns)
{
	for (int i = 0; i < CHAIN_LENGTH; i++) {
		pid_t pid = fork();

		if (pid > 0 && i == 0)
			return;
		if (pid > 0)
			work(pipe_fd, ns);
	}
	work(pipe_fd, ns);
}

int main(int argc, char **argv)
{
	int64_t ns = (argc > 1 ? strtoll(argv[1], NULL, 10) : 200) * 1000000;
	int64_t spun, total = 0;
	int fds[2], workers = 0;

	if (pipe(fds))
		return 1;
	waited(fds[1], ns, 0);
	waited(fds[1], ns, 1);
	orphan(fds[1], ns, 0);
	orphan(fds[1], ns, 1);
	chain(fds[1], ns);
	close(fds[1]);
	while (read(fds[0], &spun, sizeof(spun)) == sizeof(spun)) {
		total += spun;
		workers++;
	}
	printf("%d workers %.6f seconds\n", workers, (double)(total + cpu_ns()) / 1e9);
	return 0;
}
