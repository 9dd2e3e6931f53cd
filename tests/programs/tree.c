/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree COUNT [FANOUT]: COUNT processes asleep, each exec'd, each with at most FANOUT children;
 * prints "ready" when all of them sleep. They end with the first one.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The pipe the sleepers report on is this descriptor. */
enum { READY_FD = 9 };

static void start_child(const char *self, long count, const char *fanout)
{
	char number[32];

	snprintf(number, sizeof(number), "%ld", count);
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(self, "sleeper", "--sleeper", number, fanout, (char *)NULL);
		_exit(127);
	}
}

/* A sleeper's share is count processes: itself and, dealt out to its children, the rest. */
static void start_children(const char *self, long count, const char *fanout)
{
	long rest = count - 1, children = strtol(fanout, NULL, 10);

	for (; rest > 0 && children > 0; children--) {
		long share = (rest + children - 1) / children;

		start_child(self, share, fanout);
		rest -= share;
	}
}

int main(int argc, char **argv)
{
	static const char self[] = "/proc/self/exe";
	int sleeper = argc > 3 && strcmp(argv[1], "--sleeper") == 0;
	long count = argc > 1 ? strtol(argv[1 + sleeper], NULL, 10) : 1;
	const char *fanout = argc > 2 + sleeper ? argv[2 + sleeper] : "10";
	int fds[2];
	char c;

	if (sleeper) {
		prctl(PR_SET_NAME, "sleeper");
		start_children(self, count, fanout);
		if (write(READY_FD, ".", 1) != 1)
			return 1;
		close(READY_FD);
		for (;;)
			pause();
	}
	if (pipe(fds) || dup2(fds[1], READY_FD) < 0)
		return 1;
	close(fds[1]);
	start_children(self, count, fanout);
	close(READY_FD);
	for (long i = 1; i < count; i++)
		if (read(fds[0], &c, 1) != 1)
			return 1;
	close(fds[0]);
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
