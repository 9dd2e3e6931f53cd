/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawner COUNT PROGRAM ARGS...: starts PROGRAM that often, one after the other, and waits for
 * each. Prints the kernel's own figure of their CPU, and of its own.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double cpu_seconds(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

int main(int argc, char **argv)
{
	long count = argc > 2 ? strtol(argv[1], NULL, 10) : 0;
	pid_t pid;

	for (long i = 0; i < count; i++) {
		if (posix_spawn(&pid, argv[2], NULL, NULL, argv + 2, environ)) {
			fprintf(stderr, "spawner: cannot start %s\n", argv[2]);
			return 1;
		}
		if (waitpid(pid, NULL, 0) != pid)
			return 1;
	}
	printf("children %.6f self %.6f\n", cpu_seconds(RUSAGE_CHILDREN), cpu_seconds(RUSAGE_SELF));
	return 0;
}
