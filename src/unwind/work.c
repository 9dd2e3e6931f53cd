/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/work.h"

#include "base/clock.h"
#include "base/text/number.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
	HANDLER_STACK = 1 << 15,
	WATCHER_STACK = 1 << 16,
	WORKERS_MAX = 2,
	PATIENCE_S = 10,
	PATIENCE_MAX_S = 86400,
	WALL = 6, /* so many times the patience in CPU time */
};

/* A thread that reads files. What it reads, and how many it has begun: a file that is still the
 * same after a tick may have been begun again. */
struct worker {
	_Atomic(const struct module *) at;
	_Atomic uint32_t begun;
	clockid_t cpu;
};

/* What the watcher saw of one. Time is counted in ticks: one that was suspended with all others has
 * not hung. */
struct watched {
	uint32_t begun;
	int64_t ticks, cpu_ns;
};

static struct stacks_page *told;
static struct worker workers[WORKERS_MAX];
static _Atomic uint32_t nworkers;
static _Thread_local struct worker *self;
static _Thread_local uint8_t handler_stack[HANDLER_STACK];

static void tell(const struct module *m)
{
	struct stacks_file *f = &told->died_of;

	if (!m->path || atomic_load(&told->died))
		return;
	f->major = m->major;
	f->minor = m->minor;
	f->inode = m->inode;
	for (size_t i = 0; i + 1 < sizeof f->path && m->path[i]; i++)
		f->path[i] = m->path[i];
	atomic_store(&told->died, 1);
}

/* The default action follows: it dies of what it was about to die of. */
static void note(int signal)
{
	const struct module *m = self ? atomic_load(&self->at) : NULL;

	(void)signal;
	if (m)
		tell(m);
}

static int64_t cpu_of(const struct worker *w)
{
	struct timespec t = { 0 };

	clock_gettime(w->cpu, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* It has read one file for too long. */
static bool hangs(const struct worker *w, struct watched *x, int64_t patience_s)
{
	uint32_t begun = atomic_load(&w->begun);

	if (!atomic_load(&w->at) || begun != x->begun) {
		*x = (struct watched){ .begun = begun, .cpu_ns = cpu_of(w) };
		return false;
	}
	return ++x->ticks > WALL * patience_s || cpu_of(w) - x->cpu_ns > patience_s * NS_PER_S;
}

static int64_t patience(void)
{
	const char *text = getenv("SONDE_UNWIND_PATIENCE");
	int64_t s;

	return text && number_i64(&text, &s) && !*text && s > 0 && s <= PATIENCE_MAX_S ? s
										       : PATIENCE_S;
}

static void *watch(void *unused)
{
	struct watched seen[WORKERS_MAX] = { 0 };
	int64_t patience_s = patience();

	(void)unused;
	for (;;) {
		uint32_t n = atomic_load(&nworkers);

		for (uint32_t i = 0; i < n && i < WORKERS_MAX; i++) {
			const struct module *m = atomic_load(&workers[i].at);

			if (!hangs(&workers[i], &seen[i], patience_s) || !m)
				continue;
			tell(m);
			_exit(EXIT_FAILURE);
		}
		nanosleep(&(struct timespec){ .tv_sec = 1 }, NULL);
	}
	return unused;
}

bool work_start(size_t stack, void *(*work)(void *), void *of)
{
	pthread_attr_t with;
	pthread_t thread;
	int bad;

	pthread_attr_init(&with);
	pthread_attr_setstacksize(&with, stack);
	bad = pthread_create(&thread, &with, work, of);
	pthread_attr_destroy(&with);
	if (!bad)
		pthread_detach(thread);
	return !bad;
}

void work_watch(struct stacks_page *page)
{
	static const int deadly[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL };
	struct sigaction act = { .sa_handler = note, .sa_flags = (int)(SA_RESETHAND | SA_ONSTACK) };

	told = page;
	for (size_t i = 0; i < sizeof deadly / sizeof deadly[0]; i++)
		sigaction(deadly[i], &act, NULL);
	work_thread();
	work_start(WATCHER_STACK, watch, NULL);
}

void work_thread(void)
{
	uint32_t i = atomic_load(&nworkers);

	sigaltstack(&(stack_t){ .ss_sp = handler_stack, .ss_size = sizeof handler_stack }, NULL);
	if (i == WORKERS_MAX || pthread_getcpuclockid(pthread_self(), &workers[i].cpu))
		return;
	self = &workers[i];
	atomic_store(&nworkers, i + 1);
}

void work_on(const struct module *m)
{
	if (!self)
		return;
	if (m)
		atomic_fetch_add_explicit(&self->begun, 1, memory_order_relaxed);
	atomic_store_explicit(&self->at, m, memory_order_release);
}
