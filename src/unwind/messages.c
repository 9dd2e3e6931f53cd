/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/messages.h"

#include <string.h>

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
		const struct stacks_message filler = { (uint32_t)rest, STACKS_NONE };

		memcpy(p->room + at, &filler, sizeof filler);
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
