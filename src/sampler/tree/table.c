/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/tree/table.h"

#include "base/reserve.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* Pids go round, so that each bucket has its turn: all of them are memory in use some day. */
enum { BUCKETS = 8192, PIDS = 1 << 22 /* the most that Linux gives */ };

int table_init(struct table *t)
{
	*t = (struct table){ .used = 1, .cap = TABLE_CAP / reserve_parts() };
	t->row = reserve(t->cap * sizeof *t->row);
	t->bucket = reserve(BUCKETS * sizeof *t->bucket);
	t->live = reserve(t->cap * sizeof *t->live);
	t->spare = reserve(t->cap * sizeof *t->spare);
	t->removed = reserve(PIDS / 8);
	if (t->row && t->bucket && t->live && t->spare && t->removed)
		return 0;
	table_free(t);
	return -ENOMEM;
}

void table_free(struct table *t)
{
	reserve_free(t->row, t->cap * sizeof *t->row);
	reserve_free(t->bucket, BUCKETS * sizeof *t->bucket);
	reserve_free(t->live, t->cap * sizeof *t->live);
	reserve_free(t->spare, t->cap * sizeof *t->spare);
	reserve_free(t->removed, PIDS / 8);
	*t = (struct table){ 0 };
}

static uint32_t *bucket_of(const struct table *t, pid_t pid)
{
	return &t->bucket[(uint32_t)pid % BUCKETS];
}

static void set_removed(struct table *t, pid_t pid, bool yes)
{
	uint8_t bit = (uint8_t)(1U << (pid & 7));

	if (pid < 0 || pid >= PIDS)
		return;
	if (yes)
		t->removed[pid >> 3] |= bit;
	else if (t->removed[pid >> 3] & bit)
		t->removed[pid >> 3] ^= bit;
}

bool table_removed(const struct table *t, pid_t pid)
{
	return pid >= 0 && pid < PIDS && t->removed[pid >> 3] >> (pid & 7) & 1;
}

struct process *table_find(const struct table *t, pid_t pid)
{
	for (uint32_t i = *bucket_of(t, pid); i; i = t->row[i].next)
		if (t->row[i].pid == pid)
			return &t->row[i];
	return NULL;
}

struct process *table_add(struct table *t, pid_t pid, pid_t ppid)
{
	uint32_t *bucket = bucket_of(t, pid), i;

	if (t->nspare)
		i = t->spare[--t->nspare];
	else if (t->used < t->cap)
		i = t->used++;
	else {
		t->refused++;
		return NULL;
	}
	t->row[i] = (struct process){
		.pid = pid, .ppid = ppid, .next = *bucket, .order = t->arrived++
	};
	*bucket = i;
	set_removed(t, pid, false);
	t->live[t->nlive++] = i;
	return &t->row[i];
}

void process_name(struct process *p, const char *comm)
{
	process_changed(p);
	if (strncmp(p->comm, comm, sizeof p->comm - 1) != 0)
		process_executes(p);
	memset(p->comm, 0, sizeof p->comm);
	memcpy(p->comm, comm, strnlen(comm, sizeof p->comm - 1));
}

void process_executes(struct process *p)
{
	p->script[0] = '\0';
	p->arguments_due = p->limits_due = true;
	p->memory_of = 0;
}

const char *process_called(const struct process *p)
{
	return p->script[0] ? p->script : p->comm;
}

/* The first in live[] that did not come before it. */
static uint32_t place_of(const struct table *t, const struct process *p)
{
	uint32_t from = 0, to = t->nlive;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (t->row[t->live[middle]].order < p->order)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

void table_remove(struct table *t, struct process *p)
{
	uint32_t i = (uint32_t)(p - t->row), *link = bucket_of(t, p->pid), at;

	while (*link && *link != i)
		link = &t->row[*link].next;
	if (!*link)
		return; /* not there, or not any more */
	*link = p->next;
	set_removed(t, p->pid, true);
	at = place_of(t, p);
	t->nlive--;
	memmove(t->live + at, t->live + at + 1, (t->nlive - at) * sizeof *t->live);
	t->spare[t->nspare++] = i;
}
