/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/messages.h"

#include <stdlib.h>
#include <string.h>

/* Up to the end of the room. */
static void fill(struct stacks_page *p, uint64_t head)
{
	size_t at = head % STACKS_ROOM;
	const struct stacks_message filler = { (uint32_t)(STACKS_ROOM - at), STACKS_NONE };

	memcpy(p->room + at, &filler, sizeof filler);
}

/* A message of three pieces at most to the recorder, in the memory that both have; or nothing: it
 * is never waited for, and what does not fit now is put later. */
static bool put(struct stacks_page *p, enum stacks_kind kind, const struct message_piece piece[3])
{
	size_t size = sizeof(struct stacks_message), at, rest;
	uint64_t head = atomic_load_explicit(&p->head, memory_order_relaxed);
	uint64_t tail = atomic_load_explicit(&p->tail, memory_order_acquire);
	struct stacks_message m = { .kind = kind };

	for (int i = 0; i < 3; i++)
		size += piece[i].n;
	size = (size + 7) & ~(size_t)7;
	at = head % STACKS_ROOM;
	rest = STACKS_ROOM - at;
	if (head - tail > STACKS_ROOM ||
	    STACKS_ROOM - (head - tail) < size + (rest < size ? rest : 0))
		return false;
	if (rest < size) {
		fill(p, head);
		head += rest;
		at = 0;
	}
	m.size = (uint32_t)size;
	memcpy(p->room + at, &m, sizeof m);
	at += sizeof m;
	for (int i = 0; i < 3; i++) {
		if (piece[i].n)
			memcpy(p->room + at, piece[i].data, piece[i].n);
		at += piece[i].n;
	}
	atomic_store_explicit(&p->head, head + size, memory_order_release);
	return true;
}

void messages_end(struct stacks_page *p)
{
	uint64_t head = atomic_load_explicit(&p->head, memory_order_relaxed);
	uint64_t tail = atomic_load_explicit(&p->tail, memory_order_acquire);
	size_t at = head % STACKS_ROOM, rest = STACKS_ROOM - at;

	if (!at || STACKS_ROOM - (head - tail) < rest)
		return;
	fill(p, head);
	atomic_store_explicit(&p->head, head + rest, memory_order_release);
}

static size_t length(const char *text)
{
	return text ? strnlen(text, STACKS_TEXT_MAX) : 0;
}

bool message_module(struct stacks_page *p, uint32_t id, const char *path, const char *build_id)
{
	const struct stacks_module m = { id, (uint16_t)length(path), (uint16_t)length(build_id) };

	return put(p, STACKS_MODULE,
		   (struct message_piece[]){
			   { &m, sizeof m }, { path, m.name }, { build_id, m.build_id } });
}

/* f: everything but the lengths of its texts. */
bool message_frame(struct stacks_page *p, struct stacks_frame f, const char *function,
		   const char *file)
{
	f.function = (uint16_t)length(function);
	f.file = (uint16_t)length(file);
	return put(p, STACKS_FRAME,
		   (struct message_piece[]){
			   { &f, sizeof f }, { function, f.function }, { file, f.file } });
}

/* Behind `head`, n items. */
bool message_items(struct stacks_page *p, enum stacks_kind kind, struct message_piece head,
		   const struct event_item *items, uint32_t n)
{
	return put(p, kind,
		   (struct message_piece[]){ head, { items, n * sizeof *items }, { NULL, 0 } });
}

enum { FIRST = 1 << 10, GROWS = 4 };

static uint32_t hash_of(const struct count *c, uint32_t cap)
{
	uint64_t h = ((uint64_t)c->group << 32 | c->task) ^ c->node * UINT64_C(0xff51afd7ed558ccd);

	return (uint32_t)(h * UINT64_C(0x9e3779b97f4a7c15) >> 40) % cap;
}

static bool counts_put(struct counts *c, const struct count *more)
{
	uint32_t at = hash_of(more, c->cap);

	while (c->count[at].weight) {
		struct count *x = &c->count[at];

		if (x->group == more->group && x->task == more->task && x->node == more->node) {
			x->weight += more->weight;
			return true;
		}
		at = (at + 1) % c->cap;
	}
	if (c->n >= c->cap / 4 * 3)
		return false;
	c->count[at] = *more;
	c->taken[c->n++] = at;
	return true;
}

/* Those that were not told, in a table of that size. False: no memory, all is as it was. */
static bool again(struct counts *c, uint32_t cap)
{
	uint32_t n = c->n - c->told;
	struct count *rest = n ? malloc(n * sizeof *rest) : NULL;

	if (n && !rest)
		return false;
	for (uint32_t i = 0; i < n; i++)
		rest[i] = *counts_ahead(c, i);
	for (uint32_t i = 0; i < c->n; i++)
		c->count[c->taken[i]].weight = 0;
	c->n = c->told = 0;
	c->cap = cap;
	for (uint32_t i = 0; i < n; i++)
		(void)counts_put(c, &rest[i]);
	free(rest);
	return true;
}

bool counts_add(struct counts *c, const struct count *more)
{
	if (!c->cap)
		c->cap = FIRST;
	return counts_put(c, more) ||
	       (c->cap < COUNTS_MAX && again(c, GROWS * c->cap) && counts_put(c, more));
}

static int by_group(const void *a, const void *b, void *of)
{
	const struct counts *c = of;
	const struct count *x = &c->count[*(const uint32_t *)a];
	const struct count *y = &c->count[*(const uint32_t *)b];

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

void counts_sort(struct counts *c)
{
	if (!c->told && c->n)
		qsort_r(c->taken, c->n, sizeof c->taken[0], by_group, c);
}

const struct count *counts_ahead(const struct counts *c, uint32_t i)
{
	return c->told + i < c->n ? &c->count[c->taken[c->told + i]] : NULL;
}

void counts_forget(struct counts *c)
{
	if (c->told)
		(void)again(c, c->cap);
}
