/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join_ahead.c - other threads read the chunks of a pass ahead of the one that asks for them, which
 * gets them in their order, and so the same to the last bit.
 *
 * They share a ring of batches: who is free takes the next batch of chunks and reads it where the
 * ring has room. They change nothing of the run; what they find to be damaged is said by the
 * thread that asks. Memory is bounded: only runs of small chunks are read ahead.
 */
#include "recording/join_part.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

enum {
	THREADS = 4,
	RING = 6,           /* batches that are being read, or ready */
	BATCH = 8,          /* chunks: a thread is woken for some of them, not for each */
	WORTH = 20 << 20,   /* values of a pass for which threads are started */
	VALUES = 1 << 17,   /* of a chunk at most */
	STACK = 512 * 1024, /* qsort and zstd, on any C library */
};

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

static unsigned cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof set, &set) ? 1 : (unsigned)CPU_COUNT(&set);
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
