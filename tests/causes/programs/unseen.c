// SPDX-License-Identifier: Apache-2.0
// Jobs of kept.py: stacks, maps, threads, pages and OpenMP.
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job.h"

enum { page = 4096, threads_max = 64 };

static unsigned deeper(unsigned depth)
{
	volatile unsigned char frame[1024];
	if (depth == ~0U)
		return 0;
	frame[depth % sizeof frame] = (unsigned char)depth;
	return deeper(depth + 1) + frame[(depth + 1) % sizeof frame];
}

static int recurse(int argc, char **argv)
{
	compute(number(argc, argv, 1));
	return (int)deeper(0);
}

// Reads a map of a file that becomes shorter.
static int cut(int argc, char **argv)
{
	size_t size = 64 * page;
	int fd = open("table.bin", O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)size) != 0)
		return 1;
	const volatile char *map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return 1;
	compute(number(argc, argv, 1));
	if (ftruncate(fd, page) != 0)
		return 1;
	return map[size - 1];
}

static pthread_mutex_t locks[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static double embrace_after;

static void *embrace_in_order(void *first)
{
	int i = first ? 1 : 0;
	compute(embrace_after);
	pthread_mutex_lock(&locks[i]);
	usleep(300000);
	pthread_mutex_lock(&locks[1 - i]);
	return NULL;
}

static int embrace(int argc, char **argv)
{
	pthread_t other;
	embrace_after = number(argc, argv, 1);
	if (pthread_create(&other, NULL, embrace_in_order, locks) != 0)
		return 1;
	embrace_in_order(NULL);
	pthread_join(other, NULL);
	return 0;
}

static atomic_uint counters[threads_max];
static double sharing_end;

static void *count_up(void *counter)
{
	while (now() < sharing_end) {
		for (int i = 0; i < 100000; i++)
			atomic_fetch_add_explicit((atomic_uint *)counter, 1, memory_order_relaxed);
	}
	return NULL;
}

static int sharing(int argc, char **argv)
{
	static pthread_t threads[threads_max];
	int count = (int)number(argc, argv, 1);
	sharing_end = now() + number(argc, argv, 2);
	for (int i = 0; i < count && i < threads_max; i++) {
		if (pthread_create(&threads[i], NULL, count_up, &counters[i]) != 0)
			return 1;
	}
	for (int i = 0; i < count && i < threads_max; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

// Adds up a large matrix by columns, with all threads.
static int columns(int argc, char **argv)
{
	size_t rows = 16384, width = (size_t)number(argc, argv, 1) * 16;
	double end = now() + number(argc, argv, 2), sum = 0;
	float *matrix = malloc(rows * width * sizeof *matrix);
	if (!matrix)
		return 1;
	memset(matrix, 1, rows * width * sizeof *matrix);
	while (now() < end) {
#pragma omp parallel for reduction(+ : sum)
		for (size_t x = 0; x < width; x += 16) {
			for (size_t y = 0; y < rows; y++)
				sum += (double)matrix[y * width + x];
		}
	}
	free(matrix);
	return sum < 0;
}

static int pages(int argc, char **argv)
{
	size_t size = (size_t)number(argc, argv, 1) << 20;
	for (double end = now() + number(argc, argv, 2); now() < end;) {
		char *buffer = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				    -1, 0);
		if (buffer == MAP_FAILED)
			return 1;
		madvise(buffer, size, MADV_NOHUGEPAGE);
		for (size_t i = 0; i < size; i += page)
			buffer[i] = 1;
		munmap(buffer, size);
	}
	return 0;
}

static void *item(void *unused)
{
	work(2);
	return unused;
}

static int items(int argc, char **argv)
{
	for (double end = now() + number(argc, argv, 1); now() < end;) {
		pthread_t threads[4];
		for (int i = 0; i < 4; i++) {
			if (pthread_create(&threads[i], NULL, item, NULL) != 0)
				return 1;
		}
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
	}
	return 0;
}

static int trace(int argc, char **argv)
{
	unsigned step = 0, residual = 1;
	for (double end = now() + number(argc, argv, 1); now() < end; step++) {
		for (int i = 0; i < 200; i++)
			residual = residual * 1664525U + 1013904223U;
		fprintf(stderr, "DEBUG step %u: residual %u is fine\n", step, residual % 1000);
	}
	return 0;
}

static int naps(int argc, char **argv)
{
	for (double end = now() + number(argc, argv, 2); now() < end;) {
		work(10);
		usleep((useconds_t)number(argc, argv, 1) * 1000);
	}
	return 0;
}

// Forks a large process for each snapshot, which writes nothing much.
static int snapshots(int argc, char **argv)
{
	size_t size = (size_t)number(argc, argv, 1) << 20;
	char *state = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (state == MAP_FAILED)
		return 1;
	madvise(state, size, MADV_NOHUGEPAGE);
	memset(state, 1, size);
	for (double end = now() + number(argc, argv, 2); now() < end;) {
		pid_t child = fork();
		if (child == 0)
			_exit(state[size / 2] != 1);
		if (child < 0 || waitpid(child, NULL, 0) < 0)
			return 1;
		for (size_t i = 0; i < size / 8; i += page)
			state[i]++;
	}
	return 0;
}

// One thread works between barriers; the others have nothing to do there.
static int master(int argc, char **argv)
{
	double end = now() + number(argc, argv, 1);
	while (now() < end) {
#pragma omp parallel
		{
			work(5);
#pragma omp barrier
#pragma omp master
			compute(0.4);
#pragma omp barrier
		}
	}
	return 0;
}

// Item i takes i times as long as the first, in fixed shares.
static int triangle(int argc, char **argv)
{
	int count = 40;
	double unit = number(argc, argv, 1) / (0.75 * count * count / 2);
#pragma omp parallel for schedule(static)
	for (int i = 0; i < count; i++)
		compute(unit * (i + 0.5));
	return 0;
}

static int even(int argc, char **argv)
{
	double end = now() + number(argc, argv, 1);
	while (now() < end) {
#pragma omp parallel for schedule(dynamic)
		for (int i = 0; i < 400; i++)
			work(500);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct verb verbs[] = { { "recurse", recurse },     { "cut", cut },
					     { "embrace", embrace },     { "sharing", sharing },
					     { "columns", columns },     { "pages", pages },
					     { "items", items },         { "trace", trace },
					     { "naps", naps },           { "even", even },
					     { "snapshots", snapshots }, { "master", master },
					     { "triangle", triangle },   { NULL, NULL } };
	return verb_run(verbs, argc, argv);
}
