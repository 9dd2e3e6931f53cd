/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gaps SECONDS: reads the clock in a loop, and sums what is missing between two readings where
 * that is more than 500 ns: what interrupts and samples take from a busy thread. What is missing
 * for more than 100 us does not count: then another program had the CPU. Prints the seconds in
 * short gaps, all seconds, how many short gaps there were, and its own CPU seconds. The clock is
 * the processor's time stamp where there is one, which is calibrated in the same run.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#if defined __x86_64__
#include <x86intrin.h>
#endif

enum { STACK = 16384, CALIBRATION_NS = 50000000, GAP_NS = 500, LONG_NS = 100000 };

struct gaps {
	uint64_t all, sum, n;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static uint64_t ticks(void)
{
#if defined __x86_64__
	return __rdtsc();
#else
	return now_ns();
#endif
}

static double ticks_per_ns(void)
{
	uint64_t from_ns = now_ns(), from = ticks(), ns;

	do
		ns = now_ns() - from_ns;
	while (ns < CALIBRATION_NS);
	return (double)(ticks() - from) / (double)ns;
}

static struct gaps watch(double rate, double ns)
{
	uint64_t gap = (uint64_t)(GAP_NS * rate), too_long = (uint64_t)(LONG_NS * rate),
		 length = (uint64_t)(ns * rate), start = ticks(), before = start, now, missing;
	struct gaps g = { 0 };

	while (before - start < length) {
		now = ticks();
		missing = now - before;
		before = now;
		if (missing <= gap || missing > too_long)
			continue;
		g.sum += missing;
		g.n++;
	}
	g.all = before - start;
	return g;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 1, rate = ticks_per_ns();
	volatile char deep[STACK]; /* a stack as large as what a sample copies */
	struct timespec cpu;
	struct gaps g;

	for (int i = 0; i < STACK; i++)
		deep[i] = 1;
	g = watch(rate, seconds * 1e9);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	printf("%.9f %.9f %llu %.9f\n", (double)g.sum / rate * 1e-9, (double)g.all / rate * 1e-9,
	       (unsigned long long)g.n, (double)cpu.tv_sec + (double)cpu.tv_nsec * 1e-9);
	return deep[STACK / 2] != 1;
}
