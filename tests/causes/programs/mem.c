// SPDX-License-Identifier: Apache-2.0
// Memory: growth, limits, faults, large processes, mapped files.
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job.h"

enum { page = 4096 };
static const size_t mega = 1 << 20;

static int exec_grow(int argc, char **argv)
{
	double rate = number(argc, argv, 1);
	double end = now() + number(argc, argv, 2);
	size_t chunk = mega / 10 * (size_t)rate;
	for (double next = now(); now() < end; next += 0.1) {
		char *more = malloc(chunk);
		if (!more)
			return 1;
		memset(more, 1, chunk);
		while (now() < next)
			work(20);
	}
	return 0;
}

// Works, then asks for more than there may be; main knows no better than to abort.
static int exec_eat(int argc, char **argv)
{
	compute(number(argc, argv, 1));
	for (;;) {
		char *more = malloc(16 * mega);
		if (!more)
			abort();
		memset(more, 1, 16 * mega);
		work(200);
	}
}

static int deeper(volatile char *above, int depth)
{
	if (depth < 0)
		return 0;
	char here[1024];
	memset(here, depth, sizeof here);
	here[0] = *above;
	return deeper(here, depth + 1) + here[10];
}

static int exec_recurse(int argc, char **argv)
{
	compute(number(argc, argv, 1));
	char start = 0;
	return deeper(&start, 0);
}

static int exec_truncated(int argc, char **argv)
{
	int fd = open("mapped.dat", O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, 64 * page) != 0)
		return 1;
	volatile char *map = mmap(NULL, 64 * page, PROT_READ, MAP_SHARED, fd, 0);
	compute(number(argc, argv, 1));
	if (ftruncate(fd, 0) != 0)
		return 1;
	return map[10 * page];
}

static int exec_faults(int argc, char **argv)
{
	size_t size = mega * (size_t)number(argc, argv, 1);
	for (double end = now() + number(argc, argv, 2); now() < end;) {
		char *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				 -1, 0);
		madvise(map, size, MADV_NOHUGEPAGE);
		for (size_t i = 0; i < size; i += page)
			map[i] = 1;
		munmap(map, size);
	}
	return 0;
}

static int exec_bigfork(int argc, char **argv)
{
	size_t size = mega * (size_t)number(argc, argv, 1);
	char *big = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(big, size, MADV_NOHUGEPAGE);
	memset(big, 1, size);
	for (double end = now() + number(argc, argv, 2); now() < end;) {
		pid_t child = fork();
		if (child == 0)
			_exit(0);
		waitpid(child, NULL, 0);
		big[0]++;
	}
	return 0;
}

static void *computing(void *seconds)
{
	compute(*(double *)seconds);
	return NULL;
}

static int exec_hold(int argc, char **argv)
{
	size_t size = mega * (size_t)number(argc, argv, 1);
	int count = (int)number(argc, argv, 2);
	double seconds = number(argc, argv, 3);
	char *steady = malloc(size);
	pthread_t threads[256];
	memset(steady, 1, size);
	for (int i = 0; i < count && i < 256; i++)
		pthread_create(&threads[i], NULL, computing, &seconds);
	for (int i = 0; i < count && i < 256; i++)
		pthread_join(threads[i], NULL);
	return steady[size / 2] - 1;
}

static int exec_mapped(int argc, char **argv)
{
	size_t size = mega * (size_t)number(argc, argv, 1);
	double end = now() + number(argc, argv, 2);
	int fd = open("big.dat", O_RDONLY);
	if (fd < 0)
		return 1;
	char *map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	unsigned sum = 0;
	madvise(map, size, MADV_RANDOM);
	for (unsigned at = 1; map != MAP_FAILED && now() < end; at = at * 1664525U + 1013904223U)
		sum += (unsigned char)map[(at / 7 % (size / page)) * page];
	printf("%u\n", sum);
	return map == MAP_FAILED;
}

int main(int argc, char **argv)
{
	static const struct verb verbs[] = { { "grow", exec_grow },
					     { "eat", exec_eat },
					     { "recurse", exec_recurse },
					     { "truncated", exec_truncated },
					     { "faults", exec_faults },
					     { "bigfork", exec_bigfork },
					     { "hold", exec_hold },
					     { "mapped", exec_mapped },
					     { NULL, NULL } };
	return verb_run(verbs, argc, argv);
}
