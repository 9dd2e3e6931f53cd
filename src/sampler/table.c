/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/table.h"

#include "base/reserve.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* Pids go round, so that each bucket has its turn: all of them are memory in use some day. */
enum { BUCKETS = 8192 };

int table_init(struct table *t)
{
	*t = (struct table){ .used = 1, .cap = TABLE_CAP / reserve_parts() };
	t->row = reserve(t->cap * sizeof *t->row);
	t->bucket = reserve(BUCKETS * sizeof *t->bucket);
	t->live = reserve(t->cap * sizeof *t->live);
	t->spare = reserve(t->cap * sizeof *t->spare);
	if (t->row && t->bucket && t->live && t->spare)
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
	*t = (struct table){ 0 };
}

static uint32_t *bucket_of(const struct table *t, pid_t pid)
{
	return &t->bucket[(uint32_t)pid % BUCKETS];
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
	t->row[i] =
		(struct process){ .pid = pid, .ppid = ppid, .next = *bucket, .place = t->nlive };
	*bucket = i;
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
}

const char *process_called(const struct process *p)
{
	return p->script[0] ? p->script : p->comm;
}

void table_remove(struct table *t, struct process *p)
{
	uint32_t i = (uint32_t)(p - t->row), *link = bucket_of(t, p->pid);

	while (*link && *link != i)
		link = &t->row[*link].next;
	if (!*link)
		return; /* not there, or not any more */
	*link = p->next;
	t->nlive--;
	for (uint32_t k = p->place; k < t->nlive; k++) {
		t->live[k] = t->live[k + 1];
		t->row[t->live[k]].place = k;
	}
	t->spare[t->nspare++] = i;
}
