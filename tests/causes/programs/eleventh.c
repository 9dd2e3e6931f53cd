// SPDX-License-Identifier: Apache-2.0
// Jobs of the eleventh set of causes, for judge.py: the first word names the job.
#include <fcntl.h>
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static uint64_t mix(uint64_t x)
{
	x ^= x << 13;
	x ^= x >> 7;
	return x ^ x << 17;
}

static atomic_flag taken = ATOMIC_FLAG_INIT;
static double end;
static volatile uint64_t table[4096];

static void *spin(void *seed)
{
	uint64_t x = (uintptr_t)seed;
	while (now() < end) {
		while (atomic_flag_test_and_set_explicit(&taken, memory_order_acquire))
			;
		for (int i = 0; i < 20000; i++) {
			x = mix(x);
			table[x % 4096] += x;
		}
		atomic_flag_clear_explicit(&taken, memory_order_release);
	}
	return NULL;
}

// Threads that update one table behind a hand-made spinning lock, for so many seconds.
static int spinning(int threads, double seconds)
{
	pthread_t of[64];
	end = now() + seconds;
	for (int i = 0; i < threads; i++)
		pthread_create(&of[i], NULL, spin, (void *)(uintptr_t)(i + 77));
	for (int i = 0; i < threads; i++)
		pthread_join(of[i], NULL);
	return 0;
}

// A ledger: each record is on the disk before the next is taken.
static int ledger(int records)
{
	int fd = open("ledger", O_CREAT | O_WRONLY | O_APPEND, 0644);
	char record[200];
	for (int i = 0; i < records; i++) {
		memset(record, 'a' + i % 26, sizeof record);
		if (write(fd, record, sizeof record) < 0 || fdatasync(fd))
			return 1;
	}
	return close(fd);
}

// Looks keys up in a file that is in no cache.
static int lookups(const char *path, double seconds)
{
	int fd = open(path, O_RDONLY);
	off_t size = lseek(fd, 0, SEEK_END);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	char page[4096];
	uint64_t x = 12345, sum = 0;
	for (end = now() + seconds; now() < end;) {
		x = mix(x);
		if (pread(fd, page, sizeof page, (off_t)(x % (size / 4096)) * 4096) < 0)
			return 1;
		sum += page[x % 4096];
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	}
	printf("%lu\n", sum);
	return 0;
}

// Each step maps a work area, touches it and gives it back.
static int areas(double seconds)
{
	size_t size = 48 << 20;
	for (end = now() + seconds; now() < end;) {
		char *area = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				  -1, 0);
		madvise(area, size, MADV_NOHUGEPAGE);
		for (size_t i = 0; i < size; i += 4096)
			area[i] = 1;
		munmap(area, size);
	}
	return 0;
}

// Heat on a plate, with as many threads as OpenMP gives.
static int heat(int steps)
{
	enum { SIDE = 1500 };
	static double a[SIDE][SIDE], b[SIDE][SIDE];
	for (int i = 0; i < SIDE; i++)
		a[i][0] = b[i][0] = 100;
	for (int s = 0; s < steps; s++) {
#pragma omp parallel for schedule(static)
		for (int i = 1; i < SIDE - 1; i++)
			for (int k = 1; k < SIDE - 1; k++)
				b[i][k] =
					(a[i - 1][k] + a[i + 1][k] + a[i][k - 1] + a[i][k + 1]) / 4;
#pragma omp parallel for schedule(static)
		for (int i = 1; i < SIDE - 1; i++)
			memcpy(a[i], b[i], sizeof a[i]);
	}
	printf("%f\n", a[3][3]);
	return 0;
}

// Numbers of an item: the seventh has a record that is not there.
static int item(int number, double seconds)
{
	uint64_t x = number + 1;
	for (end = now() + seconds; now() < end;)
		for (int i = 0; i < 100000; i++)
			x = mix(x);
	uint64_t *record = number == 7 ? NULL : &x;
	printf("%d %lu\n", number, *(volatile uint64_t *)record);
	return 0;
}

// Writes a file of output until the system stops it.
static int output(const char *path, int mb)
{
	FILE *f = fopen(path, "w");
	uint64_t x = 99;
	for (long i = 0; i < mb * 100000L; i++) {
		for (int k = 0; k < 60; k++)
			x = mix(x);
		if (fprintf(f, "%9lu\n", x % 1000000000) < 0) {
			perror(path);
			return 1;
		}
	}
	return fclose(f) != 0;
}

int main(int argc, char **argv)
{
	const char *job = argc > 2 ? argv[1] : "";
	if (!strcmp(job, "spinning") && argc > 3)
		return spinning((int)strtol(argv[2], NULL, 10), strtod(argv[3], NULL));
	if (!strcmp(job, "ledger"))
		return ledger((int)strtol(argv[2], NULL, 10));
	if (!strcmp(job, "lookups") && argc > 3)
		return lookups(argv[2], strtod(argv[3], NULL));
	if (!strcmp(job, "areas"))
		return areas(strtod(argv[2], NULL));
	if (!strcmp(job, "heat"))
		return heat((int)strtol(argv[2], NULL, 10));
	if (!strcmp(job, "item") && argc > 3)
		return item((int)strtol(argv[2], NULL, 10), strtod(argv[3], NULL));
	if (!strcmp(job, "output") && argc > 3)
		return output(argv[2], (int)strtol(argv[3], NULL, 10));
	return 2;
}
