/* SPDX-License-Identifier: Apache-2.0 */
/*
 * many COUNT SECONDS: so many processes at once, or as many as the machine permits. They sleep, and
 * end with the first. Prints how many there were, that one included.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void sleeper(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent)
		pause();
	_exit(0);
}

int main(int argc, char **argv)
{
	long count = argc == 3 ? strtol(argv[1], NULL, 10) : 0, n = 0;
	pid_t self = getpid(), *child = calloc((size_t)count + 1, sizeof *child);

	if (count <= 0 || !child) {
		fprintf(stderr, "usage: many COUNT SECONDS\n");
		return 2;
	}
	for (; n + 1 < count; n++) {
		child[n] = fork();
		if (child[n] == 0)
			sleeper(self);
		if (child[n] < 0)
			break;
	}
	printf("%ld\n", n + 1);
	fflush(stdout);
	sleep((unsigned)strtol(argv[2], NULL, 10));
	for (long i = 0; i < n; i++)
		kill(child[i], SIGKILL);
	while (wait(NULL) > 0 || errno == EINTR)
		;
	return 0;
}
