/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account faults PAGES | switches COUNT | threads COUNT MILLISECONDS: does that, and prints what
 * the kernel charged it: user and system seconds, minor and major faults, voluntary and involuntary
 * switches, from getrusage(2). Then it waits until its standard input ends.
 * account calls COUNT: calls a function that often and prints where it lies.
 * account getppid COUNT: makes that system call so often.
 * account ticks MILLISECONDS: spins so long and prints its CPU time in ticks of the core's clock.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int touch(long pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, (size_t)pages * page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return 1;
	madvise(memory, (size_t)pages * page, MADV_NOHUGEPAGE);
	for (long i = 0; i < pages; i++)
		memory[(size_t)i * page] = 1;
	return 0;
}

__attribute__((noinline)) static void called(void)
{
	__asm__ volatile("" ::: "memory");
}

static int call(long times)
{
	for (long i = 0; i < times; i++)
		called();
	printf("%#lx\n", (unsigned long)(uintptr_t)called);
	return 0;
}

static int ask(long times)
{
	for (long i = 0; i < times; i++)
		syscall(SYS_getppid);
	return 0;
}

#if defined(__x86_64__)
static uint64_t ticks_now(void)
{
	return __builtin_ia32_rdtsc();
}
#else
static uint64_t ticks_now(void)
{
	return 0;
}
#endif

static int64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int spin_ticks(int64_t ns)
{
	int64_t start_ns = clock_ns(CLOCK_MONOTONIC), end_ns;
	uint64_t start = ticks_now();
	double hertz;

	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < ns)
		;
	end_ns = clock_ns(CLOCK_MONOTONIC);
	hertz = (double)(ticks_now() - start) * 1e9 / (double)(end_ns - start_ns);
	printf("%.0f\n", hertz * 1e-9 * (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}

static int rest(long times)
{
	const struct timespec moment = { .tv_nsec = 1000 };

	for (long i = 0; i < times; i++)
		nanosleep(&moment, NULL);
	return 0;
}

static void *spin(void *ns)
{
	struct timespec t;

	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while (t.tv_sec * INT64_C(1000000000) + t.tv_nsec < *(const int64_t *)ns);
	return NULL;
}

static int spin_all(long count, int64_t ns)
{
	enum { MOST = 64 };
	pthread_t thread[MOST];

	if (count > MOST)
		return 1;
	for (long i = 0; i < count; i++)
		if (pthread_create(&thread[i], NULL, spin, &ns))
			return 1;
	for (long i = 0; i < count; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	struct rusage u;
	int bad = 1;
	char c;

	if (argc > 2 && strcmp(argv[1], "faults") == 0)
		bad = touch(n);
	else if (argc > 2 && strcmp(argv[1], "switches") == 0)
		bad = rest(n);
	else if (argc > 2 && strcmp(argv[1], "calls") == 0)
		return call(n);
	else if (argc > 2 && strcmp(argv[1], "getppid") == 0)
		return ask(n);
	else if (argc > 2 && strcmp(argv[1], "ticks") == 0)
		return spin_ticks(n * INT64_C(1000000));
	else if (argc > 3 && strcmp(argv[1], "threads") == 0)
		bad = spin_all(n, strtoll(argv[3], NULL, 10) * 1000000);
	if (bad || getrusage(RUSAGE_SELF, &u)) {
		fprintf(stderr,
			"usage: account faults|switches|calls|getppid COUNT, threads COUNT MS, "
			"ticks MS\n");
		return 2;
	}
	printf("%ld.%06ld %ld.%06ld %ld %ld %ld %ld\n", (long)u.ru_utime.tv_sec,
	       (long)u.ru_utime.tv_usec, (long)u.ru_stime.tv_sec, (long)u.ru_stime.tv_usec,
	       u.ru_minflt, u.ru_majflt, u.ru_nvcsw, u.ru_nivcsw);
	fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	return 0;
}
