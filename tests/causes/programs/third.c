// SPDX-License-Identifier: Apache-2.0
// Jobs of third.py: third VERB ARGUMENT...
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static pthread_spinlock_t spin_lock;
static volatile double sink;
static double end_at;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void work(double seconds)
{
	double end = now() + seconds, x = 1;

	while (now() < end)
		for (int i = 0; i < 20000; i++)
			x = x * 1.0000001 + 1e-9;
	sink = x;
}

static void *spins(void *unused)
{
	while (now() < end_at)
		for (int i = 0; i < 50; i++) {
			pthread_spin_lock(&spin_lock);
			for (int k = 0; k < 200; k++)
				sink += 1;
			pthread_spin_unlock(&spin_lock);
		}
	return unused;
}

static void run_threads(void *(*f)(void *), int n)
{
	pthread_t t[64];

	for (int i = 0; i < n; i++)
		pthread_create(&t[i], NULL, f, NULL);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
}

static volatile long ticks;

static void on_tick(int unused)
{
	(void)unused;
	ticks++;
}

// A timer that interrupts the loop every 20 us: what a profiler with too high a rate does.
static void interrupted(double seconds)
{
	struct itimerval each = { { 0, 20 }, { 0, 20 } };
	double end = now() + seconds, x = 1;

	signal(SIGALRM, on_tick);
	setitimer(ITIMER_REAL, &each, NULL);
	while (now() < end)
		for (int i = 0; i < 20000; i++)
			x = x * 1.0000001 + 1e-9;
	sink = x;
}

enum { CHUNKS = 128 };
static long length;
static int *numbers;
static int next_chunk;

static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

static void *sorts(void *unused)
{
	int c;

	while ((c = __sync_fetch_and_add(&next_chunk, 1)) < CHUNKS)
		qsort(numbers + c * (length / CHUNKS), (size_t)(length / CHUNKS), sizeof *numbers,
		      compare);
	return unused;
}

// The chunks are sorted by two threads; one merges them, and looks at the head of each chunk for
// every number.
static void merge_sort(long millions)
{
	long at[CHUNKS] = { 0 }, sum = 0;

	length = millions * 1000000 / CHUNKS * CHUNKS;
	numbers = malloc((size_t)length * sizeof *numbers);
	for (long i = 0; i < length; i++)
		numbers[i] = (int)((unsigned)i * 2654435761u >> 1);
	run_threads(sorts, 2);
	for (long i = 0; i < length; i++) {
		int best = -1;

		for (int c = 0; c < CHUNKS; c++)
			if (at[c] < length / CHUNKS &&
			    (best < 0 || numbers[c * (length / CHUNKS) + at[c]] <
						 numbers[best * (length / CHUNKS) + at[best]]))
				best = c;
		sum += numbers[best * (length / CHUNKS) + at[best]++];
	}
	printf("%ld\n", sum);
}

static void *computes(void *unused)
{
	work(end_at);
	return unused;
}

int main(int argc, char **argv)
{
	const char *verb = argc > 2 ? argv[1] : "";
	double a = argc > 2 ? strtod(argv[2], NULL) : 0, b = argc > 3 ? strtod(argv[3], NULL) : 0;

	if (strcmp(verb, "spins") == 0) {
		pthread_spin_init(&spin_lock, 0);
		end_at = now() + b;
		run_threads(spins, (int)a);
	} else if (strcmp(verb, "interrupted") == 0) {
		interrupted(a);
	} else if (strcmp(verb, "merge") == 0) {
		merge_sort((long)a);
	} else if (strcmp(verb, "divide") == 0) {
		volatile int zero = 0;

		work(a);
		printf("%d\n", (int)a / zero);
	} else if (strcmp(verb, "twice") == 0) {
		char *volatile p = malloc(100);

		work(a);
		free(p);
		free(p);
	} else if (strcmp(verb, "threads") == 0) {
		end_at = b;
		run_threads(computes, (int)a);
	} else {
		return 2;
	}
	return 0;
}
