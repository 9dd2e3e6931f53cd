/* SPDX-License-Identifier: Apache-2.0 */
/* crashes KIND [FILE]: reads a null pointer, writes to one or to a constant, overflows its stack,
 * divides by zero, aborts, or sends itself a signal; a kind that begins with "thread-" in a thread.
 * With FILE it waits until that is there. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int *volatile nowhere;
static volatile int zero;
static const int constant[4] = { 1, 2, 3, 4 };
static const int *volatile fixed = constant;

static __attribute__((noinline)) int parse_row(const int *row)
{
	return row[3]; /* HERE: null */
}

static __attribute__((noinline)) void put_row(int *row)
{
	row[2] = 1; /* HERE: write */
}

static __attribute__((noinline)) int fill(int depth)
{
	volatile char cells[512];

	cells[depth & 511] = (char)depth;
	return zero ? 0 : fill(depth + 1) + cells[depth & 511];
}

static __attribute__((noinline)) int mean(int sum)
{
	return sum / zero; /* HERE: division */
}

static void crash(const char *kind)
{
	if (!strcmp(kind, "null"))
		_exit(parse_row(nowhere));
	if (!strcmp(kind, "write"))
		put_row(nowhere);
	if (!strcmp(kind, "constant"))
		put_row((int *)(uintptr_t)fixed);
	if (!strcmp(kind, "stack"))
		_exit(fill(0));
	if (!strcmp(kind, "division"))
		_exit(mean(3));
	if (!strcmp(kind, "abort"))
		abort();
	if (!strcmp(kind, "raise"))
		kill(getpid(), SIGSEGV);
}

static void *run(void *kind)
{
	crash(kind);
	return NULL;
}

int main(int argc, char **argv)
{
	char *kind = argc > 1 ? argv[1] : (char *)"";
	pthread_t thread;

	while (argc > 2 && access(argv[2], F_OK))
		usleep(10000);
	if (strncmp(kind, "thread-", 7) != 0)
		crash(kind);
	else if (!pthread_create(&thread, NULL, run, kind + 7))
		pthread_join(thread, NULL);
	return 1;
}
