/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storm RATE SECONDS PROGRAM ARGS...: two workers start PROGRAM RATE times a second in all, and
 * wait for each. Prints how many processes were started, the workers included, the seconds that
 * took, and the kernel's own figure of CPU, storm's included.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS = 2, AT_A_TIME = 5 }; /* sleeping costs CPU, and the kernel wakes late */

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

static int work(long count, double rate, char **argv)
{
	double begin = now_s();
	pid_t pid;

	for (long i = 0; i < count; i++) {
		if (i % AT_A_TIME == 0)
			sleep_until(begin + (double)i / rate);
		if (posix_spawn(&pid, argv[0], NULL, NULL, argv, environ)) {
			fprintf(stderr, "storm: cannot start %s\n", argv[0]);
			return 1;
		}
		if (waitpid(pid, NULL, 0) != pid)
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	double rate = argc > 3 ? strtod(argv[1], NULL) / WORKERS : 0;
	long count = argc > 3 ? (long)(rate * strtod(argv[2], NULL)) : 0;
	double begin = now_s();
	int status, bad = 0;

	for (int i = 0; i < WORKERS; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(work(count, rate, argv + 3));
		bad |= pid < 0;
	}
	while (wait(&status) > 0)
		bad |= status;
	printf("%ld %.6f %.6f\n", WORKERS * (count + 1), now_s() - begin,
	       cpu_s(RUSAGE_CHILDREN) + cpu_s(RUSAGE_SELF));
	return bad != 0;
}
