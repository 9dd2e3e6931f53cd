/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "lib/run.h"
#include "lib/sampler_read.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* ---- samples as they are given ---- */

static const struct {
	enum tracker_field field;
	size_t offset;
} places[] = {
#define PLACE(field, member)                                                                       \
	{                                                                                          \
		field, offsetof(struct sonde_sample, member)                                       \
	}
	PLACE(TRACKER_CPU_MEAN, cpu_mean),
	PLACE(TRACKER_CPU_MIN, cpu_min),
	PLACE(TRACKER_CPU_MAX, cpu_max),
	PLACE(TRACKER_MEMORY, memory),
	PLACE(TRACKER_DISK_USED, disk),
	PLACE(TRACKER_DISK_READ, disk_read),
	PLACE(TRACKER_DISK_WRITTEN, disk_written),
	PLACE(TRACKER_LOOPBACK_SENT, loopback_sent),
	PLACE(TRACKER_NETWORK_SENT, network_sent),
	PLACE(TRACKER_LOOPBACK_RECEIVED, loopback_received),
	PLACE(TRACKER_NETWORK_RECEIVED, network_received),
};
enum { NPLACES = sizeof places / sizeof places[0] };
_Static_assert((int)NPLACES == (int)TRACKER_PLAIN_FIELDS, "a member for each field");

static struct sonde_sample sampler_public(const struct tracker_sample *s)
{
	struct sonde_sample out = { .timestamp = s->utc_s,
				    .seconds = s->seconds,
				    .window = s->stands_s };

	for (size_t i = 0; i < NPLACES; i++)
		*(double *)((char *)&out + places[i].offset) = s->value[places[i].field];
	return out;
}

struct tracker_sample sampler_private(const struct sonde_sample *s)
{
	struct tracker_sample out = tracker_sample_at(s->timestamp, s->seconds);

	out.stands_s = s->window;
	for (size_t i = 0; i < NPLACES; i++)
		out.value[places[i].field] = *(const double *)((const char *)s + places[i].offset);
	return out;
}

/* ---- the thread ---- */

#define INTERVAL_MIN 0.001
#define INTERVAL_MAX 86400.0
#define MOMENT_S     0.1
enum { LENGTH = 1000, LENGTH_MAX = 10000000 };

struct sonde_sampler {
	struct sonde_sampler_options o;
	int64_t interval_ns, window_ns; /* window_ns 0: all of the interval */
	struct node_reader *reader;     /* the thread's */
	pthread_t thread;
	struct sonde_sampler *next; /* of all that there are */
	pthread_mutex_t lock;       /* of what follows */
	pthread_cond_t woken;
	struct store store;
	struct tracker tracker;
	uint64_t taken;
	bool asked, over; /* to stop; nothing more comes */
	bool joined;      /* somebody waits, or has waited, for the thread */
	bool unwanted;    /* freed by a callback: the thread does it when it ends */
	bool ended;       /* the thread needs nothing of this any more */
};

/* All samplers, since a fork must find each of them at rest: the one thing here that is a
 * process's. */
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sonde_sampler *all;

static void woken_init(struct sonde_sampler *s)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->woken, &attr);
	pthread_condattr_destroy(&attr);
}

/* ---- forks ---- */

static void before_fork(void)
{
	pthread_mutex_lock(&all_lock);
	for (struct sonde_sampler *s = all; s; s = s->next)
		pthread_mutex_lock(&s->lock);
}

static void after_fork_here(void)
{
	for (struct sonde_sampler *s = all; s; s = s->next)
		pthread_mutex_unlock(&s->lock);
	pthread_mutex_unlock(&all_lock);
}

/* The child has none of the threads. */
static void after_fork_there(void)
{
	for (struct sonde_sampler *s = all; s; s = s->next) {
		s->asked = s->over = s->joined = s->ended = true;
		woken_init(s);
		pthread_mutex_unlock(&s->lock);
	}
	pthread_mutex_unlock(&all_lock);
}

static void forks_watch(void)
{
	pthread_atfork(before_fork, after_fork_here, after_fork_there);
}

static void list_add(struct sonde_sampler *s)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, forks_watch);
	pthread_mutex_lock(&all_lock);
	s->next = all;
	all = s;
	pthread_mutex_unlock(&all_lock);
}

static void list_remove(const struct sonde_sampler *s)
{
	pthread_mutex_lock(&all_lock);
	for (struct sonde_sampler **at = &all; *at; at = &(*at)->next) {
		if (*at == s) {
			*at = s->next;
			break;
		}
	}
	pthread_mutex_unlock(&all_lock);
}

/* Readers of a const sampler lock it, too. */
static pthread_mutex_t *lock_of(const struct sonde_sampler *s)
{
	return &((struct sonde_sampler *)(uintptr_t)s)->lock;
}

/* ---- the thread ---- */

/* Until then, or until it is asked to stop, which it tells. */
static bool sleep_until(struct sonde_sampler *s, int64_t mono_ns)
{
	const struct timespec then = { mono_ns / NS_PER_S, mono_ns % NS_PER_S };
	bool asked;
	int rc = 0;

	pthread_mutex_lock(&s->lock);
	while (!s->asked && !rc)
		rc = pthread_cond_timedwait(&s->woken, &s->lock, &then);
	asked = s->asked;
	pthread_mutex_unlock(&s->lock);
	return asked;
}

/* The last one comes when it is asked for: of a moment, CPU figures would be chance, since the
 * kernel counts in ticks. */
static void sample_take(struct sonde_sampler *s, uint64_t due, bool last)
{
	struct tracker_sample t;
	struct sonde_sample shown;

	node_reader_sample(s->reader, &t);
	if (last && t.stands_s < fmin(MOMENT_S, (double)s->interval_ns / 2e9))
		t.value[TRACKER_CPU_MEAN] = t.value[TRACKER_CPU_MIN] = t.value[TRACKER_CPU_MAX] =
			NAN;
	pthread_mutex_lock(&s->lock);
	store_add(&s->store, &t, due);
	tracker_add(&s->tracker, &t);
	s->taken++;
	pthread_mutex_unlock(&s->lock);
	if (!s->o.on_sample)
		return;
	shown = sampler_public(&t);
	s->o.on_sample(s->o.context, &shown);
}

static void let_go(struct sonde_sampler *s)
{
	node_reader_close(s->reader);
	store_free(&s->store);
	pthread_cond_destroy(&s->woken);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* Also when a callback ends the thread. */
static void thread_over(void *arg)
{
	struct sonde_sampler *s = arg;
	bool unwanted, joined;

	pthread_mutex_lock(&s->lock);
	s->over = true;
	pthread_mutex_unlock(&s->lock);
	if (s->o.on_exit)
		s->o.on_exit(s->o.context);
	pthread_mutex_lock(&s->lock);
	s->ended = true;
	unwanted = s->unwanted;
	joined = s->joined;
	pthread_mutex_unlock(&s->lock);
	if (!unwanted)
		return;
	if (!joined)
		pthread_detach(pthread_self());
	list_remove(s);
	let_go(s);
}

/* Deadlines are multiples of the interval from the start on, so that they do not drift; one that
 * was slept through is left out. */
static void *thread_run(void *arg)
{
	struct sonde_sampler *s = arg;
	int64_t start = clock_mono_ns();
	bool asked = false;

	pthread_cleanup_push(thread_over, s);
	for (uint64_t due = 1; !asked; due++) {
		int64_t at = start + (int64_t)due * s->interval_ns, now = clock_mono_ns();

		if (now > at) {
			due += (uint64_t)((now - at) / s->interval_ns + 1);
			at = start + (int64_t)due * s->interval_ns;
		}
		if (s->window_ns && !sleep_until(s, at - s->window_ns))
			node_reader_window(s->reader);
		asked = sleep_until(s, at);
		sample_take(s, due, asked);
	}
	pthread_cleanup_pop(1);
	return NULL;
}

/* No signal is for it, nor for threads that callbacks start. */
static int thread_start(struct sonde_sampler *s)
{
	sigset_t every, before;
	int rc;

	sigfillset(&every);
	pthread_sigmask(SIG_SETMASK, &every, &before);
	rc = pthread_create(&s->thread, NULL, thread_run, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!rc)
		pthread_setname_np(s->thread, "sonde-sampler");
	return -rc;
}

/* ---- the calls ---- */

static int options_take(struct sonde_sampler *s, const struct sonde_sampler_options *o,
			struct err *e)
{
	double interval, window;

	if (o)
		s->o = *o;
	interval = s->o.interval == 0 ? 1 : s->o.interval;
	window = s->o.cpu_interval;
	if (!(interval >= INTERVAL_MIN && interval <= INTERVAL_MAX))
		return err_set(e, -EINVAL, "the interval of a sampler is 0.001 s to a day");
	if (!(window >= 0))
		return err_set(e, -EINVAL, "the CPU interval of a sampler is not negative");
	if (s->o.max_length > LENGTH_MAX)
		return err_set(e, -EINVAL, "a sampler keeps at most %d samples", LENGTH_MAX);
	s->interval_ns = (int64_t)(interval * 1e9);
	s->window_ns = window < interval ? (int64_t)(window * 1e9) : 0;
	return 0;
}

static int begin(struct sonde_sampler *s, const struct sonde_sampler_options *o, struct err *e)
{
	struct tracker_sample zero = tracker_sample_at(0, 0);
	int rc = options_take(s, o, e);

	if (!rc && store_init(&s->store, s->o.max_length ? s->o.max_length : LENGTH))
		rc = err_set(e, -ENOMEM, "not enough memory to keep that many samples");
	if (!rc)
		rc = node_reader_open(&s->reader, e);
	if (rc)
		return rc;
	tracker_init(&s->tracker);
	for (unsigned i = TRACKER_DISK_READ; i < TRACKER_PLAIN_FIELDS; i++)
		zero.value[i] = 0; /* what counters rise by is counted from here on */
	tracker_add(&s->tracker, &zero);
	s->tracker.said[TRACKER_CPUS] = node_reader_cpus(s->reader);
	list_add(s);
	rc = thread_start(s);
	if (!rc)
		return 0;
	list_remove(s);
	return err_set(e, rc, "cannot start the sampler's thread: %s", strerror(-rc));
}

struct sonde_sampler *sonde_sampler_start(const struct sonde_sampler_options *options,
					  struct sonde_error *error)
{
	struct sonde_sampler *s = calloc(1, sizeof *s);
	struct err e = { "" };
	int rc = -ENOMEM;

	if (s) {
		pthread_mutex_init(&s->lock, NULL);
		woken_init(s);
		rc = begin(s, options, &e);
	}
	if (!rc)
		return s;
	sonde_error_set(error, rc, e.text);
	if (s)
		let_go(s);
	return NULL;
}

void sonde_sampler_stop(struct sonde_sampler *s)
{
	bool mine;

	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->asked = true;
	pthread_cond_signal(&s->woken);
	mine = !s->joined && !pthread_equal(pthread_self(), s->thread);
	s->joined |= mine;
	pthread_mutex_unlock(&s->lock);
	if (mine)
		pthread_join(s->thread, NULL);
}

void sonde_sampler_free(struct sonde_sampler *s)
{
	bool own;

	if (!s)
		return;
	sonde_sampler_stop(s);
	pthread_mutex_lock(&s->lock);
	own = !s->ended && pthread_equal(pthread_self(), s->thread);
	s->unwanted = own;
	pthread_mutex_unlock(&s->lock);
	if (own)
		return;
	list_remove(s);
	let_go(s);
}

bool sonde_sampler_running(const struct sonde_sampler *s)
{
	bool running;

	pthread_mutex_lock(lock_of(s));
	running = !s->over;
	pthread_mutex_unlock(lock_of(s));
	return running;
}

uint64_t sonde_sampler_taken(const struct sonde_sampler *s)
{
	uint64_t taken;

	pthread_mutex_lock(lock_of(s));
	taken = s->taken;
	pthread_mutex_unlock(lock_of(s));
	return taken;
}

size_t sonde_sampler_samples(const struct sonde_sampler *s, struct sonde_sample *samples,
			     size_t cap)
{
	size_t n;

	pthread_mutex_lock(lock_of(s));
	n = s->store.n;
	for (size_t i = 0; i < n && i < cap; i++)
		samples[i] = sampler_public(&s->store.sample[i]);
	pthread_mutex_unlock(lock_of(s));
	return n;
}

unsigned sonde_sampler_cpus(const struct sonde_sampler *s)
{
	return node_reader_cpus(s->reader);
}

struct tracker sampler_tracker(const struct sonde_sampler *s)
{
	struct tracker t;

	pthread_mutex_lock(lock_of(s));
	t = s->tracker;
	pthread_mutex_unlock(lock_of(s));
	return t;
}
