/* SPDX-License-Identifier: Apache-2.0 */
/*
 * look_floor PID SECONDS HZ: what no look at a blocked thread can do without, and what that costs.
 * At each thread of a process, so often: has it run (schedstat), where is it (syscall), 1 KiB of
 * its stack, and did it run meanwhile (schedstat)? Prints CPU time of each, in us, and their
 * number.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4096, BYTES = 1024 };

static struct thread {
	int times, call;
} thread[THREADS];
static int nthreads;

static double now_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void find_threads(const char *pid)
{
	char path[64];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof path, "/proc/%.20s/task", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)) && nthreads < THREADS) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "%.20s/schedstat", entry->d_name);
		thread[nthreads].times = openat(dirfd(dir), path, O_RDONLY | O_CLOEXEC);
		snprintf(path, sizeof path, "%.20s/syscall", entry->d_name);
		thread[nthreads].call = openat(dirfd(dir), path, O_RDONLY | O_CLOEXEC);
		nthreads += thread[nthreads].times >= 0 && thread[nthreads].call >= 0;
	}
	if (dir)
		closedir(dir);
}

static void look_at(const struct thread *t, pid_t pid)
{
	static char times[96], call[256], stack[BYTES];
	struct iovec to = { stack, sizeof stack }, from = { NULL, sizeof stack };
	char *at = call;
	ssize_t n = pread(t->times, times, sizeof times, 0);

	if (n <= 0 || (n = pread(t->call, call, sizeof call - 1, 0)) <= 0)
		return;
	call[n] = '\0';
	for (int i = 0; i < 8; i++) /* number, six arguments, stack pointer */
		from.iov_base = (void *)(uintptr_t)strtoull(at, &at, i ? 16 : 10);
	process_vm_readv(pid, &to, 1, &from, 1, 0);
	pread(t->times, times, sizeof times, 0);
}

int main(int argc, char **argv)
{
	double end, used;
	long looks = 0;

	if (argc < 4)
		return 2;
	find_threads(argv[1]);
	end = now_of(CLOCK_MONOTONIC) + strtod(argv[2], NULL);
	used = now_of(CLOCK_PROCESS_CPUTIME_ID);
	while (now_of(CLOCK_MONOTONIC) < end) {
		for (int i = 0; i < nthreads; i++)
			look_at(&thread[i], (pid_t)strtol(argv[1], NULL, 10));
		looks += nthreads;
		usleep((useconds_t)(1e6 / strtod(argv[3], NULL)));
	}
	used = now_of(CLOCK_PROCESS_CPUTIME_ID) - used;
	printf("%.2f %ld\n", looks ? used * 1e6 / (double)looks : 0, looks);
	return 0;
}
