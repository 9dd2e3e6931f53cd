/* SPDX-License-Identifier: Apache-2.0 */
/*
 * behave STEP...: a job that does as it is told, one step after the other. A step is a word and its
 * numbers, with colons between; one that begins with '+' goes on beside those that follow. Seconds
 * are of the wall clock, so that a busy machine makes no step longer.
 *
 * work:THREADS:SECONDS         they spin
 * pinned:THREADS:CPUS:SECONDS  the same, on the first CPUs of those that it may use
 * chain:MS:SECONDS             processes one after the other, each for so much CPU time
 * sleep:SECONDS
 * hold:MIB:SECONDS             memory that stays as it is
 * grow:MIB:MIB_A_SECOND:SECONDS  memory that is kept, from so much on
 * saw:MIB:PERIOD:SECONDS       memory that grows and is given back again and again
 * steps:MIB:LEVELS:SECONDS     memory that grows by a few large pieces, the last at half time
 * calls:BYTES:SECONDS          writes and reads of so many bytes
 * build:SECONDS                reads a file of some kilobytes, works on it for a while, writes one
 * sync:KIB:SECONDS             pieces that each go to the disk before the next
 * fetch:KIB:SECONDS            pieces that each come from the disk, from anywhere in a file
 * reread:MIB:SECONDS           a file that is read again and again
 * meek                         from here on it runs when nobody else wants to (SCHED_IDLE)
 * exit:CODE   kill:SIGNAL
 *
 * Each thread adds a line to the file that BEHAVE_REPORT names when it ends: nanoseconds on a CPU,
 * in wait for one as the kernel says, and in system calls that went to the disk.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NUMBERS = 4, THREADS_MAX = 64, MIB = 1 << 20 };

struct step {
	double n[NUMBERS];
	double until; /* seconds of the monotonic clock */
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Until a time of the clock: who loses the CPU on the way sleeps no longer for it. */
static void rest_until(double when)
{
	struct timespec t = { .tv_sec = (time_t)when };

	t.tv_nsec = (long)((when - (double)t.tv_sec) * 1e9);
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

static void rest(double seconds)
{
	rest_until(now() + seconds);
}

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(125);
}

/* Nanoseconds that this thread was on a CPU, and waited for one. */
struct use {
	long long on_cpu, waited;
};

static _Thread_local struct use before; /* by what it was when it was no job yet */

static struct use use_now(void)
{
	struct use u = { 0 };
	FILE *in = fopen("/proc/thread-self/schedstat", "re");

	if (in && fscanf(in, "%lld %lld", &u.on_cpu, &u.waited) != 2)
		u = (struct use){ 0 };
	if (in)
		fclose(in);
	return u;
}

static void report(double in_calls)
{
	const char *path = getenv("BEHAVE_REPORT");
	struct use u = use_now();
	FILE *out = path ? fopen(path, "ae") : NULL;

	if (!out)
		return;
	fprintf(out, "%lld %lld %.0f\n", u.on_cpu - before.on_cpu, u.waited - before.waited,
		in_calls * 1e9);
	fclose(out);
}

static void spin_until(double until)
{
	while (now() < until)
		;
}

static void *spin(void *until)
{
	spin_until(*(double *)until);
	report(0);
	return NULL;
}

static void work(struct step *s)
{
	pthread_t thread[THREADS_MAX];
	int n = s->n[0] < THREADS_MAX ? (int)s->n[0] : THREADS_MAX;

	for (int i = 1; i < n; i++)
		if (pthread_create(&thread[i], NULL, spin, &s->until))
			die("behave: a thread");
	spin_until(s->until);
	for (int i = 1; i < n; i++)
		pthread_join(thread[i], NULL);
}

static void pinned(struct step *s)
{
	cpu_set_t all, some;
	int left = (int)s->n[1];

	CPU_ZERO(&some);
	if (sched_getaffinity(0, sizeof all, &all))
		die("behave: sched_getaffinity");
	for (size_t cpu = 0; cpu < CPU_SETSIZE && left; cpu++)
		if (CPU_ISSET(cpu, &all)) {
			CPU_SET(cpu, &some);
			left--;
		}
	if (sched_setaffinity(0, sizeof some, &some))
		die("behave: sched_setaffinity");
	work(s);
	sched_setaffinity(0, sizeof all, &all);
}

static void spin_for(double cpu_s)
{
	struct timespec t;

	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	while ((double)t.tv_sec + (double)t.tv_nsec * 1e-9 < cpu_s);
}

static void chain(struct step *s)
{
	while (now() < s->until) {
		pid_t pid = fork();

		if (pid < 0)
			die("behave: fork");
		if (!pid) {
			before = (struct use){ 0 };
			spin_for(s->n[0] / 1000);
			report(0);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

static void idle(struct step *s)
{
	rest_until(s->until);
}

static char *memory(double mib)
{
	size_t size = (size_t)(mib * MIB);
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("behave: mmap");
	memset(p, 1, size);
	return p;
}

static void hold(struct step *s)
{
	char *p = memory(s->n[0]);

	idle(s);
	munmap(p, (size_t)(s->n[0] * MIB));
}

/* By the clock, not by the turn, so that a busy machine does not slow it down. */
static void grow(struct step *s)
{
	double begin = s->until - s->n[2], has = s->n[0];

	memory(has);
	for (double at; (at = now()) < s->until; rest(0.05)) {
		double wanted = s->n[0] + (at - begin) * s->n[1];

		if (wanted - has >= 0.25) {
			memory(wanted - has);
			has = wanted;
		}
	}
}

static void saw(struct step *s)
{
	double period = s->n[1];

	while (now() < s->until) {
		double begin = now(), has = 0;
		size_t size = (size_t)(s->n[0] * MIB);
		char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);

		if (p == MAP_FAILED)
			die("behave: mmap");
		while (now() < begin + period && now() < s->until) {
			double wanted = s->n[0] * (now() - begin) / period;

			if (wanted > s->n[0])
				wanted = s->n[0];
			memset(p + (size_t)(has * MIB), 1, (size_t)((wanted - has) * MIB));
			has = wanted;
			rest(0.03);
		}
		munmap(p, size);
	}
}

static void steps(struct step *s)
{
	int n = (int)s->n[1];
	double begin = s->until - s->n[2];

	for (int i = 0; i < n; i++) {
		memory(s->n[0] / n);
		rest_until(begin + s->n[2] / 2 * (i + 1) / n);
	}
	idle(s);
}

static int scratch(int flags)
{
	char name[32];
	int fd;

	snprintf(name, sizeof name, "scratch.%d", (int)getpid());
	fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | flags, 0600);
	if (fd < 0)
		die("behave: a file");
	unlink(name);
	return fd;
}

static void calls(struct step *s)
{
	static char block[MIB];
	size_t bytes = (size_t)s->n[0];
	int fd = scratch(0);

	for (unsigned i = 0; i % 64 || now() < s->until; i++) {
		off_t at = (off_t)(bytes * (i % 1024));

		if (pwrite(fd, block, bytes, at) != (ssize_t)bytes ||
		    pread(fd, block, bytes, at) != (ssize_t)bytes)
			die("behave: a file");
	}
	close(fd);
}

/* As a compiler does: small files, small pieces, and much to think about each. */
static void build(struct step *s)
{
	static char block[MIB];
	int fd = scratch(0);

	while (now() < s->until) {
		double until = now() + 0.02;

		for (int i = 0; i < 40; i++)
			if (pwrite(fd, block, 1500, 1500 * i) != 1500 ||
			    pread(fd, block, 1500, 1500 * i) != 1500)
				die("behave: a file");
		spin_until(until);
	}
	close(fd);
}

static double in_calls; /* seconds of the first thread in calls that went to the disk */

static void *aligned(size_t bytes)
{
	void *block = NULL;

	if (posix_memalign(&block, 4096, bytes))
		die("behave: memory");
	memset(block, 'x', bytes);
	return block;
}

static void sync_pieces(struct step *s)
{
	size_t bytes = (size_t)(s->n[0] * 1024);
	int fd = scratch(O_DIRECT | O_DSYNC);
	void *block = aligned(bytes);
	double begin = now();

	for (unsigned i = 0; now() < s->until; i++)
		if (pwrite(fd, block, bytes, (off_t)(bytes * (i % 16))) != (ssize_t)bytes)
			die("behave: a file");
	in_calls += now() - begin;
	free(block);
	close(fd);
}

static void fetch(struct step *s)
{
	enum { PIECES = 512 };
	size_t bytes = (size_t)(s->n[0] * 1024);
	int fd = scratch(O_DIRECT);
	void *block = aligned(bytes);
	unsigned at = 1;
	double begin;

	for (unsigned i = 0; i < PIECES; i++)
		if (pwrite(fd, block, bytes, (off_t)(bytes * i)) != (ssize_t)bytes)
			die("behave: a file");
	fdatasync(fd);
	begin = now();
	while (now() < s->until) {
		at = at * 1664525 + 1013904223;
		if (pread(fd, block, bytes, (off_t)(bytes * ((at >> 16) % PIECES))) !=
		    (ssize_t)bytes)
			die("behave: a file");
	}
	in_calls += now() - begin;
	free(block);
	close(fd);
}

static void be_meek(struct step *s)
{
	struct sched_param none = { 0 };

	(void)s;
	if (sched_setscheduler(0, SCHED_IDLE, &none))
		die("behave: sched_setscheduler");
}

static void reread(struct step *s)
{
	static char block[MIB];
	int fd = scratch(0);

	memset(block, 'x', sizeof block);
	for (int i = 0; i < (int)s->n[0]; i++)
		if (write(fd, block, sizeof block) != (ssize_t)sizeof block)
			die("behave: a file");
	fdatasync(fd);
	for (unsigned i = 0; now() < s->until; i++)
		if (pread(fd, block, sizeof block, (off_t)(i % (unsigned)s->n[0]) * MIB) < 0)
			die("behave: a file");
	close(fd);
}

static void end(struct step *s)
{
	report(in_calls);
	exit((int)s->n[0]);
}

static void die_by(struct step *s)
{
	report(in_calls);
	kill(getpid(), (int)s->n[0]);
}

static const struct kind {
	const char *name;
	int numbers, seconds; /* which of them is how long; -1: none */
	void (*go)(struct step *s);
} kinds[] = {
	{ "work", 2, 1, work },        { "pinned", 3, 2, pinned }, { "sleep", 1, 0, idle },
	{ "hold", 2, 1, hold },        { "grow", 3, 2, grow },     { "saw", 3, 2, saw },
	{ "steps", 3, 2, steps },      { "calls", 2, 1, calls },   { "build", 1, 0, build },
	{ "sync", 2, 1, sync_pieces }, { "reread", 2, 1, reread }, { "exit", 1, -1, end },
	{ "chain", 2, 1, chain },      { "kill", 1, -1, die_by },  { "fetch", 2, 1, fetch },
	{ "meek", 0, -1, be_meek },
};

static void go(const char *text, double begin)
{
	size_t name = strcspn(text, ":");
	struct step s = { 0 };

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		const struct kind *k = &kinds[i];
		const char *at = text + name;
		int n = 0;

		if (strlen(k->name) != name || strncmp(k->name, text, name) != 0)
			continue;
		while (*at == ':' && n < k->numbers) {
			char *rest_of;

			s.n[n++] = strtod(at + 1, &rest_of);
			at = rest_of;
		}
		if (*at || n != k->numbers)
			break;
		if (k->seconds >= 0)
			s.until = begin + s.n[k->seconds];
		k->go(&s);
		return;
	}
	fprintf(stderr, "behave: cannot do '%s'\n", text);
	exit(125);
}

int main(int argc, char **argv)
{
	before = use_now();
	for (int i = 1; i < argc; i++) {
		double begin = now(); /* a child may have to wait for its first turn */
		pid_t pid = *argv[i] == '+' ? fork() : -1;

		if (*argv[i] != '+')
			go(argv[i], begin);
		else if (pid < 0)
			die("behave: fork");
		else if (!pid) {
			in_calls = 0;
			before = (struct use){ 0 };
			go(argv[i] + 1, begin);
			report(in_calls);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	report(in_calls);
	return 0;
}
