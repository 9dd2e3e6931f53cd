/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/tree/threads.h"

#include "base/reserve.h"

#include <errno.h>
#include <stddef.h>

/* Ids go round, so that each bucket has its turn: all of them are memory in use some day. */
enum { BUCKETS = 8192 };

int threads_init(struct threads *t)
{
	*t = (struct threads){ .used = 1, .cap = THREADS_CAP / reserve_parts() };
	t->row = reserve(t->cap * sizeof *t->row);
	t->bucket = reserve(BUCKETS * sizeof *t->bucket);
	if (t->row && t->bucket)
		return 0;
	threads_free(t);
	return -ENOMEM;
}

void threads_free(struct threads *t)
{
	reserve_free(t->row, t->cap * sizeof *t->row);
	reserve_free(t->bucket, BUCKETS * sizeof *t->bucket);
	*t = (struct threads){ 0 };
}

static uint32_t *bucket_of(const struct threads *t, pid_t tid)
{
	return &t->bucket[(uint32_t)tid % BUCKETS];
}

static uint32_t find(const struct threads *t, pid_t tid)
{
	uint32_t i = *bucket_of(t, tid);

	while (i && t->row[i].tid != tid)
		i = t->row[i].bucket_next;
	return i;
}

void threads_ended(struct thread *row, struct process *p)
{
	if (row->state < THREAD_STATES)
		p->threads_in[row->state]--;
	row->state = THREAD_STATES;
	p->part_due = true;
}

/* The row at *link, out of the chain of its process. */
static void drop(struct threads *t, struct process *p, uint32_t *link)
{
	uint32_t i = *link, *other = bucket_of(t, t->row[i].tid);

	threads_ended(&t->row[i], p);
	while (*other != i)
		other = &t->row[*other].bucket_next;
	*other = t->row[i].bucket_next;
	*link = t->row[i].next;
	t->row[i].next = t->spare;
	t->spare = i;
}

static void add(struct threads *t, struct table *processes, struct process *p, pid_t tid)
{
	uint32_t i = t->spare, *bucket = bucket_of(t, tid);

	if (i)
		t->spare = t->row[i].next;
	else if (t->used < t->cap)
		i = t->used++;
	else {
		t->refused++;
		return;
	}
	t->row[i] = (struct thread){ .tid = tid,
				     .owner = (uint32_t)(p - processes->row),
				     .bucket_next = *bucket,
				     .next = p->threads,
				     .pass = t->pass,
				     .state = THREAD_STATES };
	*bucket = i;
	p->threads = i;
}

void threads_list_begin(struct threads *t)
{
	t->pass++;
}

void threads_list(struct threads *t, struct table *processes, struct process *p, pid_t tid)
{
	uint32_t i = find(t, tid);
	struct process *owner;
	uint32_t *link;

	if (i && t->row[i].owner == (uint32_t)(p - processes->row)) {
		t->row[i].pass = t->pass;
		return;
	}
	if (i) { /* it ended there, and the id was given out again */
		owner = &processes->row[t->row[i].owner];
		for (link = &owner->threads; *link != i; link = &t->row[*link].next)
			;
		drop(t, owner, link);
	}
	add(t, processes, p, tid);
}

void threads_list_end(struct threads *t, struct process *p)
{
	for (uint32_t *link = &p->threads; *link;)
		if (t->row[*link].pass != t->pass)
			drop(t, p, link);
		else
			link = &t->row[*link].next;
}

void threads_forget(struct threads *t, struct process *p)
{
	while (p->threads)
		drop(t, p, &p->threads);
}

void threads_note(struct thread *row, struct process *p, const struct thread_reading *r)
{
	for (int i = 0; i < USE_NUMBER_OF; i++) {
		int64_t more = r->use[i] - row->use[i];

		if (r->use[i] < 0)
			continue;
		/* Another thread has the id by now, or its first one has executed a program. */
		p->used[i] += more < 0 ? r->use[i] : more;
		row->use[i] = r->use[i];
	}
	threads_ended(row, p);
	row->state = (uint8_t)r->state;
	if (r->state < THREAD_STATES)
		p->threads_in[r->state]++;
}
