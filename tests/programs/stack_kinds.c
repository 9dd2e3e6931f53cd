/* SPDX-License-Identifier: Apache-2.0 */
/* Uses SECONDS of CPU time in burn(), reached in the way that is named: stack_kinds KIND SECONDS
 * [MORE]. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile double sink = 1;
static volatile int stop;
static double seconds;

static double cpu(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

__attribute__((noinline)) static void burn(double much)
{
	double end = cpu(CLOCK_THREAD_CPUTIME_ID) + much;

	while (cpu(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 20000; i++)
			sink = sink * 1.0000001 + 0.1;
}

__attribute__((noinline)) static int recursive(long depth)
{
	volatile char room[64] = { 1 };

	if (!depth) {
		burn(seconds);
		return room[0];
	}
	return recursive(depth - 1) + room[0];
}

__attribute__((noinline)) static void on_alarm(int signal)
{
	(void)signal;
	burn(seconds);
	stop = 1;
}

__attribute__((noinline)) static void interrupted(void)
{
	while (!stop)
		sink = sink * 1.0000001 + 0.1;
}

static void *in_thread(void *unused)
{
	burn(seconds);
	return unused;
}

static void by_signal(void)
{
	struct itimerval soon = { .it_value = { .tv_usec = 20000 } };

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &soon, NULL);
	interrupted();
}

static void by_threads(void)
{
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, in_thread, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}

static void by_fork(void)
{
	if (!fork()) {
		burn(seconds);
		_exit(0);
	}
	wait(NULL);
}

/* A chain of programs, each with a part of the time. */
static void by_exec(char **argv, int left)
{
	char more[16];

	burn(seconds / 4);
	if (left <= 0)
		return;
	snprintf(more, sizeof more, "%d", left - 1);
	execl("/proc/self/exe", argv[0], "exec", argv[2], more, (char *)NULL);
}

/* MORE processes one after the other, each with SECONDS. */
static void by_short_ones(int many)
{
	for (int i = 0; i < many; i++)
		by_fork();
}

static void by_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	void (*work)(double) = NULL;

	if (library)
		*(void **)&work = dlsym(library, "library_burn");
	if (!work)
		exit(1);
	work(seconds);
}

static void by_vdso(void)
{
	double end = cpu(CLOCK_THREAD_CPUTIME_ID) + seconds;
	struct timespec t;

	while (cpu(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 20000; i++)
			clock_gettime(CLOCK_MONOTONIC, &t);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 2 ? argv[1] : "", *more = argc > 3 ? argv[3] : "3";

	seconds = argc > 2 ? strtod(argv[2], NULL) : 0;
	if (!strcmp(kind, "plain"))
		burn(seconds);
	else if (!strcmp(kind, "deep"))
		recursive(strtol(more, NULL, 10));
	else if (!strcmp(kind, "signal"))
		by_signal();
	else if (!strcmp(kind, "threads"))
		by_threads();
	else if (!strcmp(kind, "fork"))
		by_fork();
	else if (!strcmp(kind, "exec"))
		by_exec(argv, (int)strtol(more, NULL, 10));
	else if (!strcmp(kind, "short"))
		by_short_ones((int)strtol(more, NULL, 10));
	else if (!strcmp(kind, "library"))
		by_library(more);
	else if (!strcmp(kind, "vdso"))
		by_vdso();
	else if (!strcmp(kind, "deleted") && !unlink(argv[0]))
		burn(seconds);
	else
		return 2;
	return 0;
}
