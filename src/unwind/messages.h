/* SPDX-License-Identifier: Apache-2.0 */
/*
 * messages.h - what is told to the recorder: answers, and how often each thread was seen where.
 */
#ifndef SONDE_UNWIND_MESSAGES_H
#define SONDE_UNWIND_MESSAGES_H

#include "source/program/stacks_page.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Answers to the recorder, in the memory that both have. Each is put whole or, where
 * there is no room, not at all: then it is put later.
 */

struct message_piece {
	const void *data;
	size_t n;
};

bool message_module(struct stacks_page *p, uint32_t id, const char *path, const char *build_id);
/* f: everything but the lengths of its texts. */
bool message_frame(struct stacks_page *p, struct stacks_frame f, const char *function,
		   const char *file);
/* Behind `head`, n items. */
bool message_items(struct stacks_page *p, enum stacks_kind kind, struct message_piece head,
		   const struct event_item *items, uint32_t n);
/* All was told: the next answer begins at the begin of the room, so that of a helper that says
 * little its other pages are never there. Nothing, where there is no room for that. */
void messages_end(struct stacks_page *p);

/*
 * How often each thread was seen where since that was told last.
 *
 * As a rule there are few, so the table is small until there are many: each is anywhere in it, and
 * all of its pages are memory.
 */

enum { COUNTS_MAX = 65536 };

struct count {
	uint32_t group, task, node;
	uint64_t weight; /* 0: free */
};

/* {0} is empty. */
struct counts {
	struct count count[COUNTS_MAX]; /* those below cap */
	uint32_t taken[COUNTS_MAX];     /* which of them are, n */
	uint32_t cap, n, told;
};

/* More of it; false: there is no room. */
bool counts_add(struct counts *c, const struct count *more);
/* By group, unless some of them were told already. */
void counts_sort(struct counts *c);
/* The one that is told i behind the next; NULL: there is none. */
const struct count *counts_ahead(const struct counts *c, uint32_t i);
/* Those that were told: they are new when they are seen again. */
void counts_forget(struct counts *c);

#endif
