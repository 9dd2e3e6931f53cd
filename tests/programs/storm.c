/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storm RATE SECONDS PROGRAM ARGS...: starts PROGRAM RATE times a second and waits for each. Prints
 * how many it started, the seconds that took, and the kernel's own figure of CPU, its own included.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double cpu_s(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void sleep_until(double at_s)
{
	struct timespec t = { .tv_sec = (time_t)at_s };

	t.tv_nsec = (long)((at_s - (double)t.tv_sec) * 1e9);
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

int main(int argc, char **argv)
{
	double rate = argc > 3 ? strtod(argv[1], NULL) : 0;
	long count = argc > 3 ? (long)(rate * strtod(argv[2], NULL)) : 0;
	double begin = now_s();
	pid_t pid;

	for (long i = 0; i < count; i++) {
		/* five at a time: sleeping costs CPU too, and the kernel wakes late */
		if (i % 5 == 0)
			sleep_until(begin + (double)i / rate);
		if (posix_spawn(&pid, argv[3], NULL, NULL, argv + 3, environ)) {
			fprintf(stderr, "storm: cannot start %s\n", argv[3]);
			return 1;
		}
		if (waitpid(pid, NULL, 0) != pid)
			return 1;
	}
	printf("%ld %.6f %.6f\n", count, now_s() - begin,
	       cpu_s(RUSAGE_CHILDREN) + cpu_s(RUSAGE_SELF));
	return 0;
}
