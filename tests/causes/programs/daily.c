// SPDX-License-Identifier: Apache-2.0
// What users' jobs suffer from, one word each: daily MODE NUMBER...
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
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

static volatile unsigned sink;

static void compute(double seconds)
{
	unsigned x = 1;
	for (double end = now() + seconds; now() < end;)
		for (int i = 0; i < 100000; i++)
			x = x * 1664525 + 1013904223;
	sink = x;
}

static void work(long steps)
{
	unsigned x = 1;
	for (long i = 0; i < steps * 1000; i++)
		x = x * 1664525 + 1013904223;
	sink = x;
}

static void in_threads(long count, void *(*run)(void *), void *with)
{
	pthread_t threads[512];
	for (long i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, run, with))
			exit(3);
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

static long megabytes;
static double until;

static void *fault(void *unused)
{
	size_t size = (size_t)megabytes << 20;
	while (now() < until) {
		char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);
		if (p == MAP_FAILED)
			exit(4);
		for (size_t i = 0; i < size; i += 4096)
			p[i] = 1;
		munmap(p, size);
	}
	return unused;
}

static void *yielding(void *unused)
{
	while (now() < until)
		sched_yield();
	return unused;
}

static void *burn(void *unused)
{
	compute(until - now());
	return unused;
}

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;

static void *left_then_right(void *unused)
{
	pthread_mutex_lock(&left);
	usleep(300000);
	pthread_mutex_lock(&right);
	return unused;
}

static void *right_then_left(void *unused)
{
	pthread_mutex_lock(&right);
	usleep(300000);
	pthread_mutex_lock(&left);
	return unused;
}

static void deadlock(double before)
{
	pthread_t a, b;
	until = now() + before;
	in_threads(2, burn, NULL);
	if (pthread_create(&a, NULL, left_then_right, NULL) ||
	    pthread_create(&b, NULL, right_then_left, NULL))
		exit(3);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
}

// Reads of one page at random places, past the cache.
static void direct_reads(const char *path, double seconds)
{
	int fd = open(path, O_RDONLY | O_DIRECT);
	off_t size = lseek(fd, 0, SEEK_END);
	void *page;
	if (fd < 0 || posix_memalign(&page, 4096, 4096))
		exit(4);
	for (double end = now() + seconds; now() < end;)
		if (pread(fd, page, 4096, (off_t)(random() % (size / 4096)) * 4096) != 4096)
			exit(5);
}

// Two ranks meet after each step; the second has more to do by this factor.
static void ranks(long factor, double seconds)
{
	pthread_barrier_t *meeting =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	atomic_int *over = (atomic_int *)(meeting + 1);
	pthread_barrierattr_t shared;
	pthread_barrierattr_init(&shared);
	pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(meeting, &shared, 2);
	int rank = fork() ? 0 : 1;
	double end = now() + seconds;
	while (!atomic_load(over)) {
		work(20000 * (rank ? factor : 1));
		pthread_barrier_wait(meeting);
		if (!rank && now() >= end)
			atomic_store(over, 1);
		pthread_barrier_wait(meeting);
	}
	if (rank)
		_exit(0);
	wait(NULL);
}

// So many processes with so many threads each.
static void nested(long processes, long threads, double seconds)
{
	until = now() + seconds;
	for (long i = 0; i < processes; i++)
		if (!fork()) {
			in_threads(threads, burn, NULL);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
}

__attribute__((noinline)) static long descend(long depth)
{
	volatile char frame[4096];
	frame[depth % 4096] = (char)depth;
	return depth < 0 ? 0 : descend(depth + 1) + frame[depth % 4096];
}

static void overflow(double before)
{
	until = now() + before;
	in_threads(2, burn, NULL);
	printf("%ld\n", descend(0));
}

int main(int argc, char **argv)
{
	double n[3] = { 0 };
	for (int i = 2; i < argc && i < 5; i++)
		n[i - 2] = strtod(argv[i], NULL);
	const char *mode = argc > 1 ? argv[1] : "";
	if (!strcmp(mode, "faults")) {
		until = now() + n[2];
		megabytes = (long)n[1];
		in_threads((long)n[0], fault, NULL);
	} else if (!strcmp(mode, "yield")) {
		until = now() + n[1];
		in_threads((long)n[0], yielding, NULL);
	} else if (!strcmp(mode, "deadlock"))
		deadlock(n[0]);
	else if (!strcmp(mode, "direct"))
		direct_reads(argv[2], n[1]);
	else if (!strcmp(mode, "ranks"))
		ranks((long)n[0], n[1]);
	else if (!strcmp(mode, "nested"))
		nested((long)n[0], (long)n[1], n[2]);
	else if (!strcmp(mode, "overflow"))
		overflow(n[0]);
	else if (!strcmp(mode, "grow"))
		for (double end = now() + n[1];; usleep(20000)) {
			char *p = malloc((size_t)n[0] << 20);
			if (!p || now() > end)
				return 1;
			memset(p, 1, (size_t)n[0] << 20);
			sink = (unsigned)p[77];
		}
	else
		return 2;
	return 0;
}
