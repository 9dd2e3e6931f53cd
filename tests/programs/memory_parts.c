/* SPDX-License-Identifier: Apache-2.0 */
/* memory_parts.c - touches so many MB in each of three functions, and gives back what a fourth one
 * touches: memory_parts INDEX TABLE LOG TIMES_100. Is silent, and holds all of it for two seconds.
 * Or memory_parts leak SECONDS: keeps 1 MB of the 33 that it touches, again and again; drip: 1 MB a
 * second of a GB; steady: nothing of a GB; plateau: 60 MB in the first half. Or memory_parts turns
 * TIMES COMPUTE: touches 64 MB and computes, so often, and does nothing else. Or memory_parts late
 * INDEX SECONDS: touches and gives back for so long before it loads its index. Also compiled as
 * C++.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define OWN static __attribute__((noinline))
enum { MB = 1 << 20 };
static char *volatile kept;

OWN char *load_index(size_t mb)
{
	char *p = (char *)malloc(mb * MB);

	memset(p, 1, mb * MB);
	kept = p;
	return p;
}

OWN char *load_table(size_t mb)
{
	char *p = (char *)malloc(mb * MB);

	for (size_t i = 0; i < mb * MB; i += 64)
		p[i] = 1;
	kept = p;
	return p;
}

OWN char *write_log(size_t pieces) /* of 64 KB */
{
	char *p = NULL;

	for (size_t i = 0; i < pieces; i++) {
		p = (char *)malloc(MB / 16);
		memset(p, 1, MB / 16);
		kept = p;
	}
	return p;
}

OWN void churn(size_t mb)
{
	volatile char *p = (volatile char *)malloc(mb * MB); /* else nothing would be written */

	for (size_t i = 0; i < mb * MB; i += 4096)
		p[i] = 1;
	free((void *)p);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static size_t number(const char *text)
{
	return (size_t)strtol(text, NULL, 10);
}

static int go_on(const char *how, double seconds)
{
	bool leak = !strcmp(how, "leak"), drip = !strcmp(how, "drip"),
	     plateau = !strcmp(how, "plateau");
	double began = now(), at = began, due = 0;

	for (size_t kept_pieces = 0; at < began + seconds; at = now()) {
		if (leak)
			write_log(16);
		if (drip)
			due = 16 * (at - began);
		else if (plateau && at < began + seconds / 2)
			due = 1920 * (at - began) / seconds;
		for (; (double)kept_pieces < due; kept_pieces++)
			write_log(1);
		churn(leak ? 32 : 64);
		usleep(leak ? 10000 : 30000);
	}
	return 0;
}

static int turns(size_t n, size_t compute)
{
	volatile double x = 1;

	for (size_t i = 0; i < n; i++) {
		churn(64); /* less than 33 MB the library would keep */
		for (size_t k = 0; k < compute; k++)
			x = x * 1.0000001 + 1e-9;
	}
	return 0;
}

static int late(size_t index, double seconds)
{
	double began = now();
	size_t times = 0;

	for (; now() < began + seconds; times++)
		churn(64);
	load_index(index);
	printf("%zu\n", 64 * times);
	sleep(2);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3)
		return go_on(argv[1], (double)number(argv[2]));
	if (argc == 4 && !strcmp(argv[1], "late"))
		return late(number(argv[2]), (double)number(argv[3]));
	if (argc == 4)
		return turns(number(argv[2]), number(argv[3]));
	if (argc < 5)
		return 2;
	load_index(number(argv[1]));
	load_table(number(argv[2]));
	write_log(16 * number(argv[3]));
	for (size_t i = number(argv[4]); i > 0; i--)
		churn(100);
	sleep(2);
	return 0;
}
