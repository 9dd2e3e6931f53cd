// SPDX-License-Identifier: Apache-2.0
// What the jobs of known cause share: the clock, a little arithmetic, verbs by name.
#ifndef JOB_H
#define JOB_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

// Some microseconds of arithmetic that no compiler removes.
static inline void work(int thousands)
{
	static _Thread_local volatile unsigned sink;
	for (int i = 0; i < thousands * 1000; i++)
		sink = sink * 1664525U + 1013904223U;
}

static inline void compute(double seconds)
{
	for (double end = now() + seconds; now() < end;)
		work(20);
}

static inline double number(int argc, char **argv, int i)
{
	return i < argc ? strtod(argv[i], NULL) : 0;
}

struct verb {
	const char *name;
	int (*exec)(int argc, char **argv); // argv[0] is the verb
};

static inline int verb_run(const struct verb *verbs, int argc, char **argv)
{
	for (; argc > 1 && verbs->name; verbs++) {
		if (strcmp(verbs->name, argv[1]) == 0)
			return verbs->exec(argc - 1, argv + 1);
	}
	fprintf(stderr, "%s: no such verb\n", argv[0]);
	return 2;
}
#endif
