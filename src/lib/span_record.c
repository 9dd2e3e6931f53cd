/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recording of a process's own spans: a thread takes them out of the process's rings, as the
 * recorder of a job would, and writes them.
 */
#include "base/clock.h"
#include "base/err.h"
#include "lib/run.h"
#include "lib/span.h"
#include "recording/writer.h"
#include "source/program/spans.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SLOTS = 1024, EVENTS = 16384, REST_NS = 50000000 };

/* The one there may be at a time; NULL: none. */
static struct recording {
	struct span_reader *reader;
	struct span_intake intake;
	struct sample sample;
	struct writer *writer;
	uint32_t self; /* the process */
	int64_t sampled_ns;
	pid_t pid; /* whose thread it is: a child has the memory and not the thread */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t woken;
	bool over;
} * recording;
static pthread_mutex_t recording_lock = PTHREAD_MUTEX_INITIALIZER;

/* A child that came while another thread had the lock would wait for it at its exit. */
static void before_fork(void)
{
	pthread_mutex_lock(&recording_lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&recording_lock);
}

static void recording_free(struct recording *x)
{
	span_reader_close(x->reader);
	sample_free(&x->sample);
	if (x->writer)
		writer_abandon(x->writer);
	pthread_cond_destroy(&x->woken);
	pthread_mutex_destroy(&x->lock);
	free(x);
}

/* What there is, and once a second the values of counters. What cannot be written now is tried
 * again, and in the end it is not there. */
static void take(struct recording *x, bool last)
{
	struct sample *s = &x->sample;
	int64_t now_ns = clock_mono_ns();
	struct err e;

	while (!span_reader_take(x->reader, &x->intake, s) && !writer_events(x->writer, s, &e))
		;
	if (!last && now_ns - x->sampled_ns < NS_PER_S) {
		if (s->nevents)
			writer_events(x->writer, s, &e);
		return;
	}
	x->sampled_ns = now_ns;
	sample_begin(s, clock_utc_ns(), now_ns);
	s->last = last;
	span_reader_values(x->reader, &x->intake, s);
	if (last) {
		span_reader_end(x->reader, &x->intake, s);
		sample_end(s, x->self, now_ns);
	}
	span_intake_report(&x->intake, s);
	writer_sample(x->writer, s, &e);
}

static void *run(void *context)
{
	struct recording *x = context;
	bool over = false;

	while (!over) {
		int64_t then_ns = clock_mono_ns() + REST_NS;
		const struct timespec then = { then_ns / NS_PER_S, then_ns % NS_PER_S };

		pthread_mutex_lock(&x->lock);
		if (!x->over)
			pthread_cond_timedwait(&x->woken, &x->lock, &then);
		over = x->over;
		pthread_mutex_unlock(&x->lock);
		if (!over)
			take(x, false);
	}
	take(x, true);
	return NULL;
}

/* What a recording begins with: clocks, and the process. */
static void begin(struct recording *x)
{
	struct sample *s = &x->sample;
	char pid[24];

	sample_begin(s, clock_utc_ns(), clock_mono_ns());
	sample_clock(s, s->mono_ns, s->utc_ns, -1, false);
	sample_meta_text(s, "sonde.version", SONDE_VERSION);
	sample_meta_text(s, "job.command", program_invocation_name);
	x->self = sample_instance(s, "process", program_invocation_short_name, 0, s->mono_ns, 0);
	snprintf(pid, sizeof pid, "%d", (int)x->pid);
	sample_label(s, x->self, "pid", pid);
	span_reader_about(x->reader, x->self);
}

static int open_writer(struct recording *x, const char *directory, struct err *e)
{
	char host[256] = "";
	int fd, rc;

	if (mkdir(directory, 0700) && errno != EEXIST)
		return err_set(e, -errno, "cannot make %.300s: %s", directory, strerror(errno));
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, -errno, "cannot open %.300s: %s", directory, strerror(errno));
	gethostname(host, sizeof host - 1);
	rc = writer_open(&x->writer, fd, host, NULL, e);
	close(fd);
	return rc;
}

/* 1: a recorder of a job takes them. */
static int open_reader(struct recording *x, struct err *e)
{
	int fd = span_rings();

	if (fd == -EBUSY)
		return 1;
	if (fd < 0)
		return err_set(e, fd, "this process has no memory for spans: %s", strerror(-fd));
	x->reader = span_reader_open(fd);
	return x->reader ? 0 : err_set(e, -ENOMEM, "out of memory");
}

static struct recording *recording_new(void)
{
	struct recording *x = calloc(1, sizeof *x);
	pthread_condattr_t attr;

	if (!x)
		return NULL;
	pthread_mutex_init(&x->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&x->woken, &attr);
	pthread_condattr_destroy(&attr);
	x->pid = getpid();
	return x;
}

static int start_thread(struct recording *x, struct err *e)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&x->thread, NULL, run, x);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc ? err_set(e, -rc, "cannot start a thread: %s", strerror(rc)) : 0;
}

/* As open_reader. */
static int start(struct recording *x, const char *directory, struct err *e)
{
	static bool forks;
	int rc = x ? open_reader(x, e) : err_set(e, -ENOMEM, "out of memory");

	/* behind span.c's, so that this lock is taken first there, too */
	forks = forks || !pthread_atfork(before_fork, after_fork, after_fork);
	if (!rc && sample_init(&x->sample, SLOTS, EVENTS))
		rc = err_set(e, -ENOMEM, "out of memory");
	if (!rc)
		rc = open_writer(x, directory, e);
	if (rc)
		return rc;
	begin(x);
	rc = writer_sample(x->writer, &x->sample, e);
	x->sampled_ns = x->sample.mono_ns;
	if (!rc)
		rc = start_thread(x, e);
	span_want(!rc);
	return rc;
}

/* A child of a fork that has its parent's: without the thread it is nothing. */
static bool is_running(void)
{
	return recording && recording->pid == getpid();
}

bool sonde_spans_start(const char *directory, struct sonde_error *error)
{
	static bool at_exit;
	struct err e = { "" };
	struct recording *x = NULL;
	int rc = -EBUSY;

	pthread_mutex_lock(&recording_lock);
	if (is_running()) {
		err_set(&e, rc, "this process records its spans already");
	} else {
		x = recording_new();
		rc = start(x, directory, &e);
	}
	if (!rc) {
		recording = x;
		at_exit = at_exit || !atexit(sonde_spans_stop);
	} else if (x) {
		recording_free(x);
	}
	pthread_mutex_unlock(&recording_lock);
	if (rc < 0)
		sonde_error_set(error, rc, e.text);
	return rc >= 0;
}

void sonde_spans_stop(void)
{
	struct recording *x;
	struct err e;

	pthread_mutex_lock(&recording_lock);
	x = is_running() ? recording : NULL;
	recording = NULL;
	pthread_mutex_unlock(&recording_lock);
	if (!x)
		return;
	span_want(false);
	pthread_mutex_lock(&x->lock);
	x->over = true;
	pthread_cond_signal(&x->woken);
	pthread_mutex_unlock(&x->lock);
	pthread_join(x->thread, NULL);
	writer_close(x->writer, &e);
	x->writer = NULL;
	recording_free(x);
}
