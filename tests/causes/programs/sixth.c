/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of sixth.py: sixth VERB SECONDS [N] */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static volatile unsigned sink = 1;

static void work(double seconds)
{
	for (double end = now() + seconds; now() < end;)
		for (int i = 0; i < 100000; i++)
			sink = sink * 1664525u + 1013904223u;
}

static int divide(double s)
{
	work(s);
	return 7 / (int)(sink - sink);
}

static int assertion(double s)
{
	int rows = 0;

	work(s);
	assert(rows > 0);
	return 0;
}

static int full_pipes(void)
{
	static char much[1 << 20];
	int there[2], back[2];

	if (pipe(there) || pipe(back))
		return 1;
	if (fork() == 0)
		return write(back[1], much, sizeof much) != (ssize_t)sizeof much ||
		       read(there[0], much, sizeof much) < 0;
	return write(there[1], much, sizeof much) != (ssize_t)sizeof much ||
	       read(back[0], much, sizeof much) < 0;
}

static int maps(double s)
{
	enum { SIZE = 1 << 20 };

	for (double end = now() + s; now() < end;) {
		char *p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);

		for (int i = 0; i < SIZE; i += 4096)
			p[i] = 1;
		munmap(p, SIZE);
	}
	return 0;
}

static int numbers(double s)
{
	FILE *f = fopen("numbers", "w");

	for (double end = now() + s; now() < end;)
		for (int i = 0; i < 1000; i++) {
			fprintf(f, "%d\n", i);
			fflush(f);
			if (ftell(f) > 50000000)
				rewind(f);
		}
	return 0;
}

static void *item(void *x)
{
	for (int i = 0; i < 20000; i++)
		sink = sink * 1664525u + 1013904223u;
	return x;
}

static int search(double s)
{
	char path[64];

	for (double end = now() + s; now() < end;)
		for (int i = 0; i < 50; i++) {
			snprintf(path, sizeof path, "/usr/lib/site/%d/modules/part.cfg", i);
			sink += access(path, R_OK) == 0;
		}
	return 0;
}

static int threads(double s)
{
	for (double end = now() + s; now() < end;) {
		pthread_t t;

		if (!pthread_create(&t, NULL, item, NULL))
			pthread_join(t, NULL);
	}
	return 0;
}

static int pingpong(double s)
{
	int there[2], back[2];
	char c = 'x';

	if (pipe(there) || pipe(back))
		return 1;
	if (fork() == 0) {
		close(there[1]);
		while (read(there[0], &c, 1) == 1 && write(back[1], &c, 1) == 1)
			;
		_exit(0);
	}
	for (double end = now() + s; now() < end;)
		if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
			return 1;
	return 0;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double lock_end;

static void *locked(void *x)
{
	while (now() < lock_end) {
		pthread_mutex_lock(&lock);
		work(0.002);
		pthread_mutex_unlock(&lock);
	}
	return x;
}

static int biglock(double s, int n)
{
	pthread_t t[64];

	lock_end = now() + s;
	for (int i = 0; i < n; i++)
		pthread_create(&t[i], NULL, locked, NULL);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	return 0;
}

static int stages(double s)
{
	static char block[1 << 16];
	int p[2];

	if (pipe(p))
		return 1;
	if (fork() == 0) {
		close(p[1]);
		while (read(p[0], block, sizeof block) > 0)
			work(0.01);
		_exit(0);
	}
	close(p[0]);
	for (double end = now() + s; now() < end;) {
		work(0.01);
		if (write(p[1], block, sizeof block) < 0)
			return 1;
	}
	close(p[1]);
	wait(NULL);
	return 0;
}

int main(int argc, char **argv)
{
	double s = argc > 2 ? strtod(argv[2], NULL) : 0;
	int n = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 0;
	const char *verb = argc > 1 ? argv[1] : "";

	if (!strcmp(verb, "biglock"))
		return biglock(s, n);
	if (!strcmp(verb, "full_pipes"))
		return full_pipes();
	struct {
		const char *name;
		int (*run)(double s);
	} verbs[] = { { "divide", divide },     { "assertion", assertion }, { "search", search },
		      { "maps", maps },         { "numbers", numbers },     { "threads", threads },
		      { "pingpong", pingpong }, { "stages", stages } };
	for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
		if (!strcmp(verb, verbs[i].name))
			return verbs[i].run(s);
	return 64;
}
