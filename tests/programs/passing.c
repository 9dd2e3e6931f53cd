/* SPDX-License-Identifier: Apache-2.0 */
/*
 * passing exec|thread COUNT MILLISECONDS: one process that executes itself so often, each time
 * after it has spun for that long; thread: a second thread spins and executes. Prints the CPU
 * seconds of the process, by its own clock.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char **arguments;

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *go_on(void *unused)
{
	double until = cpu_s() + strtod(arguments[3], NULL) / 1000;
	long left = strtol(arguments[2], NULL, 10);
	char less[24];

	(void)unused;
	while (cpu_s() < until)
		;
	if (left <= 0) {
		printf("%.6f\n", cpu_s());
		fflush(stdout);
		_exit(0);
	}
	snprintf(less, sizeof less, "%ld", left - 1);
	execv("/proc/self/exe", (char *[]){ arguments[0], arguments[1], less, arguments[3], NULL });
	_exit(127);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	arguments = argv;
	if (argc != 4)
		return 2;
	if (strcmp(argv[1], "exec") == 0)
		go_on(NULL);
	if (pthread_create(&thread, NULL, go_on, NULL))
		return 1;
	pthread_join(thread, NULL);
	return 0;
}
