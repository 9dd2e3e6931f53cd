/* SPDX-License-Identifier: Apache-2.0 */
/* Five kinds of work in rounds, SECONDS of CPU time in all, each measured with the thread's own
 * clock. Prints the seconds of each: qsort, deflate, a loop, memcpy, rand. Compiled without frame
 * pointers. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

enum { N = 1 << 20 };
static unsigned char from[N], to[2 * N];
static volatile unsigned sink;

static double cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static void part_qsort(void)
{
	int *numbers = (int *)(void *)to;

	for (int i = 0; i < N / 8; i++)
		numbers[i] = (int)((unsigned)i * 2654435761U >> 3);
	qsort(numbers, N / 8, sizeof *numbers, compare);
	sink = (unsigned)numbers[1]; /* no tail call */
}

__attribute__((noinline)) static void part_deflate(void)
{
	uLongf n = sizeof to;

	compress2(to, &n, from, N / 2, 6);
	sink = (unsigned)n;
}

__attribute__((noinline)) static void part_loop(void)
{
	unsigned x = 1;

	for (int i = 0; i < 12000000; i++)
		x = x * 1664525 + 1013904223;
	sink = x;
}

__attribute__((noinline)) static void part_memcpy(void)
{
	for (int i = 0; i < 200; i++) {
		memcpy(to + i, from, N);
		sink += to[i];
	}
}

__attribute__((noinline)) static void part_rand(void)
{
	for (int i = 0; i < 2000000; i++)
		from[i % N] = (unsigned char)(rand() % 20);
}

int main(int argc, char **argv)
{
	static void (*const part[])(void) = { part_qsort, part_deflate, part_loop, part_memcpy,
					      part_rand };
	static const char *const name[] = { "part_qsort", "part_deflate", "part_loop",
					    "part_memcpy", "part_rand" };
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 1, spent[5] = { 0 };

	memset(to, 1, sizeof to);
	part_rand();
	while (cpu() < seconds)
		for (int i = 0; i < 5; i++) {
			double start = cpu();

			part[i]();
			spent[i] += cpu() - start;
		}
	for (int i = 0; i < 5; i++)
		printf("%s %.6f\n", name[i], spent[i]);
	return 0;
}
