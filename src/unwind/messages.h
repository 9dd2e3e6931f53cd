/* SPDX-License-Identifier: Apache-2.0 */
/*
 * messages.h - answers to the recorder, in the memory that both have. Each is put whole or, where
 * there is no room, not at all: then it is put later.
 */
#ifndef SONDE_UNWIND_MESSAGES_H
#define SONDE_UNWIND_MESSAGES_H

#include "source/program/stacks_page.h"

#include <stdbool.h>
#include <stddef.h>

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

#endif
