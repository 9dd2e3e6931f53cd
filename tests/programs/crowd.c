/* SPDX-License-Identifier: Apache-2.0 */
/* crowd PROCESSES THREADS IDLE SECONDS [TURNS]: each process has so many busy threads, which work
 * in two functions of their own for SECONDS of CPU time, and others that wait. With TURNS each
 * thread is a row of that many, one after the other, with its part of the time, and each process
 * executes itself that often. Prints the seconds of one_third and two_thirds, by the threads' own
 * clocks. How long they work at a time is random, so that no sampling is in step with them. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned sink;
static double seconds;

static double cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void work(unsigned n)
{
	unsigned x = 1;

	for (unsigned i = 0; i < n; i++)
		x = x * 1664525 + 1013904223;
	sink = x;
}

__attribute__((noinline)) static void one_third(unsigned n)
{
	work(n);
	sink++;
}

__attribute__((noinline)) static void two_thirds(unsigned n)
{
	work(2 * n);
	sink++;
}

static void *busy(void *spent)
{
	static void (*const part[])(unsigned) = { one_third, two_thirds };
	double *s = spent;
	unsigned short seed[3] = { (unsigned short)gettid(), (unsigned short)getpid(),
				   (unsigned short)time(NULL) };

	for (int i = 0; i < 100; i++)
		nrand48(seed);

	while (cpu() < seconds)
		for (int i = 0; i < 2; i++) {
			double from = cpu();

			part[i](100000 + (unsigned)nrand48(seed) % 800000);
			s[i] += cpu() - from;
		}
	return NULL;
}

static void *idle(void *unused)
{
	pause();
	return unused;
}

static void process(int threads, int idlers, double spent[2])
{
	double(*each)[2] = calloc((size_t)threads + 1, sizeof *each);
	pthread_t *t = calloc((size_t)threads + 1, sizeof *t), other;
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (int i = 0; i < idlers; i++)
		pthread_create(&other, &small, idle, NULL);
	for (int i = 0; i < threads; i++)
		pthread_create(&t[i], &small, busy, each[i]);
	for (int i = 0; i < threads; i++) {
		pthread_join(t[i], NULL);
		spent[0] += each[i][0];
		spent[1] += each[i][1];
	}
	free(each);
	free(t);
}

static double number(int argc, char **argv, int i)
{
	return i < argc ? strtod(argv[i], NULL) : 0;
}

int main(int argc, char **argv)
{
	int processes = (int)number(argc, argv, 1), turns = (int)number(argc, argv, 5);
	double spent[2] = { number(argc, argv, 6), number(argc, argv, 7) };
	char left[16], first[32], second[32];
	pid_t child = 0;

	seconds = number(argc, argv, 4) / (turns > 0 && argc < 7 ? turns : 1);
	for (int i = 1; i < processes && !child; i++)
		child = fork() ? 0 : 1;
	process((int)number(argc, argv, 2), (int)number(argc, argv, 3), spent);
	if (turns > 1) {
		snprintf(left, sizeof left, "%d", turns - 1);
		snprintf(first, sizeof first, "%.9f", spent[0]);
		snprintf(second, sizeof second, "%.9f", spent[1]);
		char each[32];
		snprintf(each, sizeof each, "%.9f", seconds);
		execl("/proc/self/exe", argv[0], "1", argv[2], argv[3], each, left, first, second,
		      NULL);
		return 1;
	}
	printf("%.6f %.6f\n", spent[0], spent[1]);
	fflush(stdout);
	while (wait(NULL) > 0)
		;
	return 0;
}
