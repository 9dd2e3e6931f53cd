// SPDX-License-Identifier: Apache-2.0
// Jobs of second.py that want C: each verb goes wrong in one way, or in none.
#include "job.h"
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// Arithmetic that takes so much of a core's time, however long that lasts.
static void cpu_seconds(double seconds)
{
	struct timespec t = { 0 };
	do {
		work(20);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while ((double)t.tv_sec + (double)t.tv_nsec / 1e9 < seconds);
}

static int cpu(int argc, char **argv)
{
	cpu_seconds(number(argc, argv, 1));
	return 0;
}

// Checks its energy after some steps; the check does not hold.
static int energy(int argc, char **argv)
{
	volatile double total = 1;
	compute(number(argc, argv, 1));
	total *= 1.5;
	assert(total < 1.001);
	return 0;
}

static atomic_int item_ready;
static atomic_int items_done;

static void *consume(void *arg)
{
	int items = *(int *)arg;
	for (int i = 0; i < items; i++) {
		while (atomic_load(&item_ready) <= i)
			sched_yield();
		work(200);
		atomic_fetch_add(&items_done, 1);
	}
	return NULL;
}

// The consumer asks again and again whether the next item is there.
static int yields(int argc, char **argv)
{
	int items = (int)number(argc, argv, 1);
	pthread_t consumer;
	if (pthread_create(&consumer, NULL, consume, &items) != 0)
		return 1;
	for (int i = 0; i < items; i++) {
		compute(0.25);
		atomic_fetch_add(&item_ready, 1);
	}
	pthread_join(consumer, NULL);
	return atomic_load(&items_done) == items ? 0 : 1;
}

// A fresh buffer for every frame: mapped, touched and given back.
static int frames(int argc, char **argv)
{
	size_t size = (size_t)number(argc, argv, 1) << 20;
	double end = now() + number(argc, argv, 2);
	for (long n = 0; now() < end; n++) {
		char *frame = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				   -1, 0);
		if (frame == MAP_FAILED)
			return 1;
		for (size_t i = 0; i < size; i += 4096)
			frame[i] = (char)n;
		munmap(frame, size);
	}
	return 0;
}

static int wait_all(int children)
{
	int failed = 0;
	for (int i = 0; i < children; i++) {
		int status = 0;
		if (wait(&status) < 0 || status != 0)
			failed = 1;
	}
	return failed;
}

// Workers that all bind themselves to the first core they may use.
static int bound(int argc, char **argv)
{
	int workers = (int)number(argc, argv, 1);
	cpu_set_t allowed;
	cpu_set_t first;
	sched_getaffinity(0, sizeof(allowed), &allowed);
	CPU_ZERO(&first);
	for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&first) == 0; i++) {
		if (CPU_ISSET(i, &allowed))
			CPU_SET(i, &first);
	}
	for (int i = 0; i < workers; i++) {
		if (fork() == 0) {
			sched_setaffinity(0, sizeof(first), &first);
			cpu_seconds(number(argc, argv, 2));
			_exit(0);
		}
	}
	return wait_all(workers);
}

// Looks up records of 4 KiB all over a file, past the page cache.
static int lookups(int argc, char **argv)
{
	double end = now() + number(argc, argv, 2);
	int fd = open(argv[1], O_RDONLY | O_DIRECT);
	struct stat st;
	void *page = NULL;
	if (fd < 0 || fstat(fd, &st) != 0 || posix_memalign(&page, 4096, 4096) != 0)
		return 1;
	uint64_t pages = (uint64_t)st.st_size / 4096;
	for (uint64_t at = 1; now() < end;) {
		at = at * 6364136223846793005U + 1442695040888963407U;
		if (pread(fd, page, 4096, (off_t)((at >> 20) % pages * 4096)) != 4096)
			return 1;
	}
	free(page);
	close(fd);
	return 0;
}

// Visits a mapped file here and there, again and again.
static int visits(int argc, char **argv)
{
	double end = now() + number(argc, argv, 2);
	int fd = open(argv[1], O_RDONLY);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) != 0)
		return 1;
	const volatile char *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return 1;
	unsigned sum = 0;
	for (uint64_t at = 1; now() < end;) {
		at = at * 6364136223846793005U + 1442695040888963407U;
		sum += (unsigned)map[(at >> 20) % (uint64_t)st.st_size];
	}
	printf("%u\n", sum);
	return 0;
}

// A loop too small for so many threads: they meet after every few microseconds.
static int tiny_loops(int argc, char **argv)
{
	int threads = (int)number(argc, argv, 1);
	(void)threads; // without OpenMP
	double end = now() + number(argc, argv, 2);
	double sum = 0;
	while (now() < end) {
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
		for (int i = 0; i < 20000; i++)
			sum += 1.0 / (1.0 + i);
	}
	printf("%g\n", sum);
	return 0;
}

static void *crunch(void *arg)
{
	cpu_seconds(*(double *)arg);
	return NULL;
}

// So many threads, each with the same share of the arithmetic.
static int shares(int argc, char **argv)
{
	enum { MOST = 64 };
	pthread_t threads[MOST];
	int wanted = (int)number(argc, argv, 1);
	double share = number(argc, argv, 2) / wanted;
	for (int i = 0; i < wanted && i < MOST; i++) {
		if (pthread_create(&threads[i], NULL, crunch, &share) != 0)
			return 1;
	}
	for (int i = 0; i < wanted && i < MOST; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

// Products of matrices that fit the caches, on all cores.
static int products(int argc, char **argv)
{
	enum { N = 192 };
	double end = now() + number(argc, argv, 1);
	static double a[N][N];
	static double b[N][N];
	static double c[N][N];
	for (int i = 0; i < N * N; i++) {
		a[i / N][i % N] = i % 7;
		b[i / N][i % N] = i % 5;
	}
	while (now() < end) {
#pragma omp parallel for schedule(static)
		for (int i = 0; i < N; i++) {
			for (int k = 0; k < N; k++) {
				for (int j = 0; j < N; j++)
					c[i][j] += a[i][k] * b[k][j];
			}
		}
	}
	printf("%g\n", c[1][1]);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct verb verbs[] = { { "cpu", cpu },
					     { "energy", energy },
					     { "yields", yields },
					     { "frames", frames },
					     { "bound", bound },
					     { "lookups", lookups },
					     { "visits", visits },
					     { "tiny-loops", tiny_loops },
					     { "shares", shares },
					     { "products", products },
					     { 0 } };
	return verb_run(verbs, argc, argv);
}
