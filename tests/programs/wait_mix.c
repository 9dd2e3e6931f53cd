/* SPDX-License-Identifier: Apache-2.0 */
/* wait_mix - threads whose time has known parts. Each works and waits in turns, in lengths of its
 * own (milliseconds), for so many seconds, and prints what it did by its own clocks: name, thread,
 * wall, CPU, waited (seconds), waits, voluntary switches. Operands: seconds, then KIND:WORK:WAIT
 * for each thread; WAIT is how long one wait takes. Kinds: sleep, pipe, mutex, condition, socket,
 * poll, child, none. */
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MAX = 1024 };

struct part {
	char kind[16];
	double work_s, wait_s;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t condition;
	int ends[2];
	int wanted; /* the partner's turn */
	double wall_s, cpu_s, waited_s;
	long waits, switches;
	pid_t tid;
};

static double seconds;
static volatile uint64_t sink;

static double now_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void rest(double s)
{
	const struct timespec t = { (time_t)s, (long)((s - (double)(time_t)s) * 1e9) };

	nanosleep(&t, NULL);
}

static __attribute__((noinline)) void work(double s)
{
	double until = now_of(CLOCK_THREAD_CPUTIME_ID) + s;

	while (now_of(CLOCK_THREAD_CPUTIME_ID) < until)
		for (int i = 0; i < 20000; i++)
			sink += (uint64_t)i * sink + 1;
}

/* What the other side does, after the length of a wait: a thread of its own for each that needs
 * one.
 */
static void *partner(void *arg)
{
	struct part *p = arg;

	for (;;) {
		char c = 0;

		if (!strcmp(p->kind, "mutex")) {
			pthread_mutex_lock(&p->mutex);
			__atomic_store_n(&p->wanted, 1, __ATOMIC_SEQ_CST);
			rest(p->wait_s);
			pthread_mutex_unlock(&p->mutex);
			while (__atomic_load_n(&p->wanted, __ATOMIC_SEQ_CST))
				rest(0.0005);
			continue;
		}
		while (!__atomic_load_n(&p->wanted, __ATOMIC_SEQ_CST))
			rest(0.0002);
		__atomic_store_n(&p->wanted, 0, __ATOMIC_SEQ_CST);
		rest(p->wait_s);
		if (!strcmp(p->kind, "condition")) {
			pthread_mutex_lock(&p->mutex);
			p->ends[0] = 1;
			pthread_cond_signal(&p->condition);
			pthread_mutex_unlock(&p->mutex);
		} else if (write(p->ends[1], &c, 1) != 1) {
			return NULL;
		}
	}
}

static __attribute__((noinline)) void wait_in_sleep(struct part *p)
{
	rest(p->wait_s);
	sink++; /* no tail call */
}

static void want(struct part *p)
{
	__atomic_store_n(&p->wanted, 1, __ATOMIC_SEQ_CST);
}

static __attribute__((noinline)) void wait_on_file(struct part *p)
{
	char c;

	want(p);
	if (read(p->ends[0], &c, 1) != 1)
		abort();
}

static __attribute__((noinline)) void wait_in_poll(struct part *p)
{
	struct pollfd f = { p->ends[0], POLLIN, 0 };
	char c;

	want(p);
	if (poll(&f, 1, -1) != 1 || read(p->ends[0], &c, 1) != 1)
		abort();
}

static __attribute__((noinline)) void wait_on_mutex(struct part *p)
{
	while (!__atomic_load_n(&p->wanted, __ATOMIC_SEQ_CST))
		rest(0.0002);
	pthread_mutex_lock(&p->mutex);
	__atomic_store_n(&p->wanted, 0, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&p->mutex);
}

static __attribute__((noinline)) void wait_on_condition(struct part *p)
{
	pthread_mutex_lock(&p->mutex);
	p->ends[0] = 0;
	want(p);
	while (!p->ends[0])
		pthread_cond_wait(&p->condition, &p->mutex);
	pthread_mutex_unlock(&p->mutex);
}

static __attribute__((noinline)) void wait_on_child(struct part *p)
{
	pid_t child = fork();

	if (!child) {
		rest(p->wait_s);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	sink++; /* no tail call */
}

static const struct {
	const char *kind;
	void (*wait)(struct part *);
} kinds[] = { { "sleep", wait_in_sleep }, { "pipe", wait_on_file },
	      { "socket", wait_on_file }, { "poll", wait_in_poll },
	      { "mutex", wait_on_mutex }, { "condition", wait_on_condition },
	      { "child", wait_on_child } };

static void wait_once(struct part *p)
{
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (!strcmp(kinds[i].kind, p->kind))
			kinds[i].wait(p);
}

static void *run(void *arg)
{
	struct part *p = arg;
	double began = now_of(CLOCK_MONOTONIC);
	struct rusage used;

	p->tid = (pid_t)syscall(SYS_gettid);
	while (now_of(CLOCK_MONOTONIC) - began < seconds) {
		double at;

		work(p->work_s);
		at = now_of(CLOCK_MONOTONIC);
		wait_once(p);
		p->waited_s += now_of(CLOCK_MONOTONIC) - at;
		p->waits++;
	}
	getrusage(RUSAGE_THREAD, &used);
	p->switches = used.ru_nvcsw;
	p->wall_s = now_of(CLOCK_MONOTONIC) - began;
	p->cpu_s = now_of(CLOCK_THREAD_CPUTIME_ID);
	return NULL;
}

static void begin(struct part *p)
{
	pthread_t other;
	int bad = 0;

	pthread_mutex_init(&p->mutex, NULL);
	pthread_cond_init(&p->condition, NULL);
	if (!strcmp(p->kind, "socket"))
		bad = socketpair(AF_UNIX, SOCK_STREAM, 0, p->ends);
	else
		bad = pipe(p->ends);
	if (strcmp(p->kind, "sleep") != 0 && strcmp(p->kind, "child") != 0 &&
	    strcmp(p->kind, "none") != 0)
		bad |= pthread_create(&other, NULL, partner, p);
	if (bad || pthread_create(&p->thread, NULL, run, p))
		abort();
}

int main(int argc, char **argv)
{
	static struct part part[THREADS_MAX];
	int n = argc - 2;

	if (argc < 3 || n > THREADS_MAX)
		return 2;
	seconds = strtod(argv[1], NULL);
	for (int i = 0; i < n; i++) {
		double work_ms, wait_ms;

		if (sscanf(argv[2 + i], "%15[a-z]:%lf:%lf", part[i].kind, &work_ms, &wait_ms) != 3)
			return 2;
		part[i].work_s = work_ms / 1000;
		part[i].wait_s = wait_ms / 1000;
		begin(&part[i]);
	}
	for (int i = 0; i < n; i++)
		pthread_join(part[i].thread, NULL);
	for (int i = 0; i < n; i++)
		printf("%s %d %.6f %.6f %.6f %ld %ld\n", part[i].kind, (int)part[i].tid,
		       part[i].wall_s, part[i].cpu_s, part[i].waited_s, part[i].waits,
		       part[i].switches);
	return 0;
}
