// SPDX-License-Identifier: Apache-2.0
// Jobs of fourth.py: fourth VERB ARGUMENT...
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static volatile double sink;
static double end_at;
static pthread_barrier_t meeting;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void turn(long n)
{
	double x = 1;

	for (long i = 0; i < n; i++)
		x = x * 1.0000001 + 1e-9;
	sink = x;
}

static void work(double seconds)
{
	double end = now() + seconds;

	while (now() < end)
		turn(20000);
}

// The name is longer than the room for it.
static __attribute__((noinline)) void greet(const char *name)
{
	char room[8];

	for (size_t i = 0; i <= strlen(name); i++)
		((volatile char *)room)[i] = name[i];
	printf("%s\n", room);
}

// Keys of sixteen bytes, each by a call of its own.
static void keys(double seconds)
{
	char key[16];
	int f = open("/dev/urandom", O_RDONLY);
	double end = now() + seconds;

	while (now() < end)
		for (int i = 0; i < 1000; i++)
			if (read(f, key, sizeof(key)) != sizeof(key))
				exit(1);
}

// A table in a mapped file; each record is forced to the disk.
static void table(double seconds)
{
	size_t size = 4 << 20;
	int f = open("table.dat", O_RDWR | O_CREAT, 0644);
	double end = now() + seconds;
	char *p;

	if (f < 0 || ftruncate(f, (off_t)size) != 0)
		exit(1);
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
	for (size_t i = 0; now() < end; i++) {
		size_t at = i * 4096 % size;

		p[at]++;
		msync(p + at, 4096, MS_SYNC);
	}
}

static volatile int more = 1;

static void *steps(void *unused)
{
	while (more) {
		turn(20000000);
		if (pthread_barrier_wait(&meeting) == PTHREAD_BARRIER_SERIAL_THREAD)
			more = now() < end_at;
		pthread_barrier_wait(&meeting);
	}
	return unused;
}

// Threads that meet after each even step.
static void even(int n, double seconds)
{
	pthread_t t[64];

	pthread_barrier_init(&meeting, NULL, (unsigned)n);
	end_at = now() + seconds;
	for (int i = 0; i < n; i++)
		pthread_create(&t[i], NULL, steps, NULL);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
}

int main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "";
	double s = argc > 2 ? strtod(argv[2], NULL) : 5;

	if (strcmp(verb, "work") == 0)
		work(s);
	else if (strcmp(verb, "greet") == 0) {
		work(s);
		greet(argv[3]);
	} else if (strcmp(verb, "keys") == 0)
		keys(s);
	else if (strcmp(verb, "table") == 0)
		table(s);
	else if (strcmp(verb, "even") == 0)
		even((int)strtol(argv[3], NULL, 10), s);
	else
		return 2;
	return 0;
}
