/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of fifth.py, in C: fifth VERB SECONDS. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void compute(double until)
{
	volatile double x = 1;
	while (now() < until)
		for (int i = 0; i < 100000; i++)
			x = x * 1.0000001 + 1e-9;
}

/* Asks again and again whether a pipe has data, without a pause. */
static int asks(double until)
{
	int ends[2];
	if (pipe(ends))
		return 1;
	struct pollfd p = { .fd = ends[0], .events = POLLIN };
	while (now() < until)
		poll(&p, 1, 0);
	return 0;
}

static int stats(double until)
{
	struct stat st;
	while (now() < until)
		stat("/etc/hostname", &st);
	return 0;
}

/* Takes 64 MiB, writes to each page, and gives it back. */
static int takes_and_gives(double until)
{
	while (now() < until) {
		char *p = malloc(64 << 20);
		for (size_t i = 0; p && i < 64 << 20; i += 4096)
			((volatile char *)p)[i] = 1;
		free(p);
	}
	return 0;
}

/* Opens its input again in each step and never closes it. */
static int opens(double until)
{
	compute(until);
	for (int i = 0; i < 1 << 20; i++)
		if (open("/etc/passwd", O_RDONLY) < 0) {
			perror("step 1021: /etc/passwd");
			return 1;
		}
	return 0;
}

static pthread_mutex_t ledger = PTHREAD_MUTEX_INITIALIZER;
static double end_time;

static void *books(void *unused)
{
	while (now() < end_time) {
		pthread_mutex_lock(&ledger);
		compute(now() + 0.02);
		pthread_mutex_unlock(&ledger);
	}
	return unused;
}

/* Four threads compute only while they have the one lock. */
static int locked(double until)
{
	pthread_t t[4];
	end_time = until;
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, books, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(double);
	} verbs[] = { { "asks", asks },
		      { "stats", stats },
		      { "takes", takes_and_gives },
		      { "opens", opens },
		      { "locked", locked } };
	for (size_t i = 0; argc > 2 && i < sizeof(verbs) / sizeof(*verbs); i++)
		if (!strcmp(argv[1], verbs[i].name))
			return verbs[i].run(now() + strtod(argv[2], NULL));
	return 2;
}
