/* SPDX-License-Identifier: Apache-2.0 */
/* memory_parts.c - touches so many MB in each of three functions, and gives back what a fourth one
 * touches: memory_parts INDEX TABLE LOG TIMES_100. Or memory_parts leak SECONDS: keeps 1 MB of the
 * 100 that it touches, again and again. Is silent, and holds all of it for two seconds. Also
 * compiled as C++. */
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

OWN char *write_log(size_t mb)
{
	char *p = NULL;

	for (size_t i = 0; i < mb * 16; i++) { /* in pieces of 64 KB */
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

int main(int argc, char **argv)
{
	double until;

	if (argc == 3) {
		for (until = now() + (double)number(argv[2]); now() < until; usleep(10000)) {
			write_log(1);
			churn(32);
		}
		return 0;
	}
	if (argc < 5)
		return 2;
	load_index(number(argv[1]));
	load_table(number(argv[2]));
	write_log(number(argv[3]));
	for (size_t i = number(argv[4]); i > 0; i--)
		churn(100);
	sleep(2);
	return 0;
}
