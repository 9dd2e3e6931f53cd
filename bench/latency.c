/* SPDX-License-Identifier: Apache-2.0 */
/*
 * latency MEGABYTES: a process that holds so much touched memory in 4 KiB pages. It prints "ready";
 * then for each line on standard input, a number of seconds, it maps, touches and unmaps a small
 * region over and over for so long and prints what one turn took: turns, median, 99th, 99.99th
 * percentile and longest in microseconds, and the share of the time, in parts of a million, that
 * went into turns longer than a millisecond.
 *
 * The last figure is there because a turn that waits keeps the turns after it from being counted:
 * the percentiles alone are kind to a few long waits.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

enum { PAGE = 4096, REGION = 4 * PAGE, SUB_BITS = 7, BUCKETS = 64 << SUB_BITS, CHANGE = 20000 };

struct turns {
	uint64_t bucket[BUCKETS]; /* by length: 128 for each power of two */
	uint64_t n;
	int64_t longest, long_ns;
};

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static size_t bucket_of(uint64_t ns)
{
	int shift = 63 - __builtin_clzll(ns | 1) - SUB_BITS;

	return shift <= 0 ? ns : ((size_t)shift << SUB_BITS) + (ns >> shift);
}

static uint64_t bucket_end(size_t b)
{
	size_t shift = b >> SUB_BITS ? (b >> SUB_BITS) - 1 : 0;

	return ((b - (shift << SUB_BITS)) + 1) << shift;
}

static double percentile_us(const struct turns *t, double share)
{
	uint64_t want = (uint64_t)((double)t->n * share), seen = 0;
	size_t b = 0;

	for (; b < BUCKETS - 1; b++) {
		seen += t->bucket[b];
		if (seen > want)
			break;
	}
	return (double)bucket_end(b) / 1e3;
}

static char *map(size_t bytes)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		perror("latency: mmap");
		exit(1);
	}
	return p;
}

static void turn(struct turns *t)
{
	int64_t before = now_ns(), took;
	char *p = map(REGION);

	for (size_t at = 0; at < REGION; at += PAGE)
		((volatile char *)p)[at] = 1;
	munmap(p, REGION);
	took = now_ns() - before;
	t->bucket[bucket_of((uint64_t)took)]++;
	t->n++;
	if (took > t->longest)
		t->longest = took;
	if (took > 1000000)
		t->long_ns += took;
}

/* What is held grows and shrinks a little, so that its PSS is worth reading again. */
static void change(char *held, uint64_t n)
{
	if (n % CHANGE)
		return;
	if (n / CHANGE % 2)
		madvise(held, (size_t)16 * PAGE, MADV_DONTNEED);
	else
		memset(held, 1, (size_t)16 * PAGE);
}

int main(int argc, char **argv)
{
	size_t bytes = (size_t)(argc > 1 ? strtoul(argv[1], NULL, 10) : 2048) << 20;
	static struct turns t;
	char *held = map(bytes), line[64];

	prctl(PR_SET_PDEATHSIG, 9);
	madvise(held, bytes, MADV_NOHUGEPAGE);
	memset(held, 1, bytes);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin)) {
		int64_t length = (int64_t)(strtod(line, NULL) * 1e9), begin = now_ns();

		memset(&t, 0, sizeof t);
		for (int64_t end = begin + length; now_ns() < end; change(held, t.n))
			turn(&t);
		printf("%llu %.2f %.2f %.2f %.0f %.1f\n", (unsigned long long)t.n,
		       percentile_us(&t, 0.5), percentile_us(&t, 0.99), percentile_us(&t, 0.9999),
		       (double)t.longest / 1e3,
		       (double)t.long_ns * 1e6 / (double)(now_ns() - begin));
		fflush(stdout);
	}
	return 0;
}
