/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree COUNT [FANOUT [ACTIVE-PERCENT [PERIOD-MS]]]: COUNT processes, each exec'd, each with at most
 * FANOUT children; prints "ready" when all of them are there. They end with the first one.
 *
 * ACTIVE-PERCENT of them (rounded up; 0 unless given) do a little every PERIOD-MS: they compute,
 * write to /dev/null and touch a page that the kernel has to find anew, so that their CPU clock, io
 * and faults move. Others sleep. A wake-up with its work takes about 30 us, so that 1,000 processes
 * at 10 Hz leave most of two cores free.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The pipe the sleepers report on is this descriptor. */
enum { READY_FD = 9, PAGE = 4096, ROUNDS = 10000 };

/* Processes are numbered from 0; a process and its descendants are `count` from `first` on. */
struct share {
	long first, count;
	const char *fanout, *percent, *period;
};

static void start_child(const char *self, const struct share *s)
{
	char first[32], count[32];

	snprintf(first, sizeof first, "%ld", s->first);
	snprintf(count, sizeof count, "%ld", s->count);
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(self, "sleeper", "--sleeper", first, count, s->fanout, s->percent, s->period,
		      (char *)NULL);
		_exit(127);
	}
}

/* A process's share is itself and, dealt out to its children, the rest. */
static void start_children(const char *self, const struct share *s)
{
	long rest = s->count - 1, children = strtol(s->fanout, NULL, 10);
	struct share child = *s;

	for (child.first++; rest > 0 && children > 0; children--) {
		child.count = (rest + children - 1) / children;
		start_child(self, &child);
		rest -= child.count;
		child.first += child.count;
	}
}

static void work(int null, volatile char *page)
{
	volatile uint32_t x = 1;

	for (int i = 0; i < ROUNDS; i++)
		x = x * 1664525 + 1013904223;
	madvise((void *)(uintptr_t)page, PAGE, MADV_DONTNEED);
	*page = (char)x;
	if (write(null, "a line of output\n", 17) < 0)
		_exit(1);
}

/* Its turns are spread over the period, each process's at another time. */
static void be_active(long number, int64_t period_ns)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct timespec ts;
	int64_t at;

	if (page == MAP_FAILED || null < 0)
		_exit(1);
	clock_gettime(CLOCK_MONOTONIC, &ts);
	at = (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
	at += number * 7919 % 1000 * period_ns / 1000;
	for (;; at += period_ns) {
		ts = (struct timespec){ at / 1000000000, at % 1000000000 };
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
		work(null, page);
	}
}

static void live(const struct share *s)
{
	long percent = strtol(s->percent, NULL, 10), period_ms = strtol(s->period, NULL, 10);

	/* Rounded up, from the first process on, so that the active ones are spread evenly. */
	if ((s->first * percent + 99) / 100 < ((s->first + 1) * percent + 99) / 100)
		be_active(s->first, period_ms * 1000000);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	static const char self[] = "/proc/self/exe";
	int sleeper = argc == 7 && strcmp(argv[1], "--sleeper") == 0;
	struct share s = { .count = 1, .fanout = "10", .percent = "0", .period = "100" };
	int fds[2];
	char c;

	if (sleeper) {
		s = (struct share){ strtol(argv[2], NULL, 10), strtol(argv[3], NULL, 10), argv[4],
				    argv[5], argv[6] };
		prctl(PR_SET_NAME, "sleeper");
		start_children(self, &s);
		if (write(READY_FD, ".", 1) != 1)
			return 1;
		close(READY_FD);
		live(&s);
	}
	s.count = argc > 1 ? strtol(argv[1], NULL, 10) : s.count;
	s.fanout = argc > 2 ? argv[2] : s.fanout;
	s.percent = argc > 3 ? argv[3] : s.percent;
	s.period = argc > 4 ? argv[4] : s.period;
	if (pipe(fds) || dup2(fds[1], READY_FD) < 0)
		return 1;
	close(fds[1]);
	start_children(self, &s);
	close(READY_FD);
	for (long i = 1; i < s.count; i++)
		if (read(fds[0], &c, 1) != 1)
			return 1;
	close(fds[0]);
	puts("ready");
	fflush(stdout);
	live(&s);
}
