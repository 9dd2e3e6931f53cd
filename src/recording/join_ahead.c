/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join_ahead.c - other threads read the files of a run when it is opened, and the chunks of a pass,
 * ahead of the one that asks for them, which gets them in their order, and so the same to the last
 * bit.
 *
 * They share a ring of batches: who is free takes the next batch of chunks and reads it where the
 * ring has room. They change nothing of the run; what they find to be damaged is said by the
 * thread that asks. Memory is bounded: only runs of small chunks are read ahead.
 */
#include "recording/join_part.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>

enum {
	THREADS = 4,
	RING = 6,             /* batches that are being read, or ready */
	BATCH = 8,            /* chunks: a thread is woken for some of them, not for each */
	WORTH = 20 << 20,     /* values of a pass for which threads are started */
	VALUES = 1 << 17,     /* of a chunk at most */
	STACK = 512 * 1024,   /* qsort and zstd, on any C library */
	SCANS = 8,            /* files that are being read, or ready */
	SCAN_WORTH = 1 << 20, /* bytes of a file for which threads are started */
};

static unsigned cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof set, &set) ? 1 : (unsigned)CPU_COUNT(&set);
}

/* ---- the chunks of a pass ---- */

struct batch {
	struct join_load load[BATCH];
	uint32_t n;
	bool ready;
};

struct ahead {
	struct join *j;
	const uint8_t *wanted;
	pthread_t thread[THREADS];
	unsigned nthreads;
	pthread_mutex_t lock;
	pthread_cond_t made, room;
	/* under the lock */
	uint32_t chunk;        /* of the run: the next that nobody has taken */
	uint32_t taken, given; /* batches: begun by threads, and done with */
	bool stop;
	struct batch ring[RING];
	/* of the thread that asks */
	uint32_t at;   /* in batch `given`: the next to be given */
	uint32_t said; /* the file that progress was said of */
};

/* The next chunks that nobody has taken, and where they go; NULL: there are none. Under the lock.
 */
static struct batch *batch_take(struct ahead *a)
{
	struct batch *b = &a->ring[a->taken % RING];

	b->n = 0;
	b->ready = false;
	for (; a->chunk < a->j->nchunks && b->n < BATCH; a->chunk++)
		if (join_is_chosen(a->j, a->chunk))
			b->load[b->n++].chunk = a->chunk;
	if (!b->n)
		return NULL;
	a->taken++;
	return b;
}

static void *work(void *ahead)
{
	struct ahead *a = ahead;
	struct join_open open = { .fd = -1 };
	struct batch *b;

	pthread_mutex_lock(&a->lock);
	for (;;) {
		while (!a->stop && a->taken - a->given >= RING)
			pthread_cond_wait(&a->room, &a->lock);
		b = a->stop ? NULL : batch_take(a);
		if (!b)
			break;
		pthread_mutex_unlock(&a->lock);
		for (uint32_t i = 0; i < b->n; i++) {
			struct join_load *l = &b->load[i];

			join_load_ranges(a->j, &open, l, l->chunk);
			if (!l->rc)
				join_load_values(a->j, l, a->wanted);
		}
		pthread_mutex_lock(&a->lock);
		b->ready = true;
		pthread_cond_signal(&a->made);
	}
	pthread_mutex_unlock(&a->lock);
	join_open_free(&open);
	return NULL;
}

struct join_load *ahead_next(struct ahead *a)
{
	struct batch *b = &a->ring[a->given % RING];
	const struct join_chunk *c;
	struct join_load *l;

	pthread_mutex_lock(&a->lock);
	if (a->at && a->at == b->n) { /* all of this one were given */
		a->given++;
		a->at = 0;
		b = &a->ring[a->given % RING];
		pthread_cond_signal(&a->room);
	}
	while (a->taken == a->given || !b->ready)
		pthread_cond_wait(&a->made, &a->lock);
	pthread_mutex_unlock(&a->lock);
	l = &b->load[a->at++];
	c = &a->j->chunks[l->chunk];
	if (!c->memory && c->file != a->said)
		join_progress(a->j, c->file);
	a->said = c->memory ? a->said : c->file;
	return l;
}

static void ahead_free(struct ahead *a)
{
	for (size_t i = 0; i < RING; i++)
		for (size_t k = 0; k < BATCH; k++)
			join_load_free(&a->ring[i].load[k]);
	pthread_cond_destroy(&a->made);
	pthread_cond_destroy(&a->room);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

void ahead_stop(struct join *j)
{
	struct ahead *a = j->ahead;

	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->stop = true;
	pthread_cond_broadcast(&a->room);
	pthread_mutex_unlock(&a->lock);
	while (a->nthreads)
		pthread_join(a->thread[--a->nthreads], NULL);
	ahead_free(a);
	j->ahead = NULL;
	j->now = NULL;
}

static bool is_worth_it(const struct join *j)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < j->nchunks; i++) {
		if (!join_is_chosen(j, i))
			continue;
		if (j->chunks[i].values > VALUES)
			return false;
		n += j->chunks[i].values;
	}
	return n >= WORTH;
}

static struct ahead *ahead_make(struct join *j, const uint8_t *wanted)
{
	struct ahead *a = calloc(1, sizeof *a);
	bool made = a;

	if (!a)
		return NULL;
	a->j = j;
	a->wanted = wanted;
	a->said = UINT32_MAX;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->made, NULL);
	pthread_cond_init(&a->room, NULL);
	for (size_t i = 0; i < RING; i++)
		for (size_t k = 0; k < BATCH; k++)
			made &= !chunk_reader_init(&a->ring[i].load[k].read);
	if (made)
		return a;
	ahead_free(a);
	return NULL;
}

/* A thread that cannot be started is missed by nobody, as long as there is one. */
void ahead_start(struct run *r, const uint8_t *wanted)
{
	struct join *j = r->reader;
	unsigned n = cpus();
	pthread_attr_t small;
	struct ahead *a;

	if (j->ahead || j->at || n < 2 || !is_worth_it(j))
		return;
	a = ahead_make(j, wanted);
	if (!a)
		return;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, STACK);
	while (a->nthreads < (n < THREADS ? n : THREADS) &&
	       !pthread_create(&a->thread[a->nthreads], &small, work, a))
		a->nthreads++;
	pthread_attr_destroy(&small);
	if (a->nthreads)
		j->ahead = a;
	else
		ahead_free(a);
}

/* ---- the files of a run ---- */

struct scanned {
	struct file_scan scan;
	bool ready, whole; /* not whole: whoever wants it reads it itself */
};

struct scanner {
	const struct join *j;
	pthread_t thread[THREADS];
	struct chunk_reader reader[THREADS];
	unsigned nthreads;
	pthread_mutex_t lock;
	pthread_cond_t made, room;
	/* under the lock */
	unsigned begun;        /* threads */
	uint32_t taken, given; /* files: begun by threads, and done with */
	bool stop;
	struct scanned ring[SCANS];
};

static void *scan(void *scanner)
{
	struct scanner *x = scanner;
	struct chunk_reader *reader;

	pthread_mutex_lock(&x->lock);
	reader = &x->reader[x->begun++];
	for (;;) {
		const struct join_file *f;
		struct scanned *s;

		while (!x->stop && x->taken - x->given >= SCANS)
			pthread_cond_wait(&x->room, &x->lock);
		if (x->stop || x->taken == x->j->nfiles)
			break;
		f = &x->j->files[x->taken];
		s = &x->ring[x->taken++ % SCANS];
		s->ready = false;
		pthread_mutex_unlock(&x->lock);
		s->whole = file_scan(&s->scan, x->j->dir, f->sonde, f->tail, reader);
		pthread_mutex_lock(&x->lock);
		s->ready = true;
		pthread_cond_signal(&x->made);
	}
	pthread_mutex_unlock(&x->lock);
	return NULL;
}

/* Several files, of which the first is large: those of a run are much alike. */
static bool is_worth_scanning(const struct join *j)
{
	struct stat st;

	return j->nfiles > 1 && cpus() > 1 && !fstatat(j->dir, j->files[0].sonde, &st, 0) &&
	       st.st_size >= SCAN_WORTH;
}

struct scanner *scanner_start(const struct join *j)
{
	struct scanner *x = is_worth_scanning(j) ? calloc(1, sizeof *x) : NULL;
	unsigned n = cpus();
	pthread_attr_t small;

	if (!x)
		return NULL;
	x->j = j;
	pthread_mutex_init(&x->lock, NULL);
	pthread_cond_init(&x->made, NULL);
	pthread_cond_init(&x->room, NULL);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, STACK);
	while (x->nthreads < (n < THREADS ? n : THREADS) &&
	       !chunk_reader_init(&x->reader[x->nthreads]) &&
	       !pthread_create(&x->thread[x->nthreads], &small, scan, x))
		x->nthreads++;
	pthread_attr_destroy(&small);
	if (x->nthreads)
		return x;
	scanner_stop(x);
	return NULL;
}

struct file_scan *scanner_next(struct scanner *x)
{
	struct scanned *s;

	if (!x)
		return NULL;
	s = &x->ring[x->given % SCANS];
	pthread_mutex_lock(&x->lock);
	while (x->taken == x->given || !s->ready)
		pthread_cond_wait(&x->made, &x->lock);
	pthread_mutex_unlock(&x->lock);
	return s->whole ? &s->scan : NULL;
}

void scanner_done(struct scanner *x)
{
	if (!x)
		return;
	pthread_mutex_lock(&x->lock);
	x->given++;
	pthread_cond_signal(&x->room);
	pthread_mutex_unlock(&x->lock);
}

void scanner_stop(struct scanner *x)
{
	if (!x)
		return;
	pthread_mutex_lock(&x->lock);
	x->stop = true;
	pthread_cond_broadcast(&x->room);
	pthread_mutex_unlock(&x->lock);
	while (x->nthreads)
		pthread_join(x->thread[--x->nthreads], NULL);
	for (size_t i = 0; i < SCANS; i++)
		file_scan_free(&x->ring[i].scan);
	for (size_t i = 0; i < THREADS; i++)
		chunk_reader_free(&x->reader[i]);
	pthread_cond_destroy(&x->made);
	pthread_cond_destroy(&x->room);
	pthread_mutex_destroy(&x->lock);
	free(x);
}
