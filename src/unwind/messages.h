/* SPDX-License-Identifier: Apache-2.0 */
/*
 * messages.h - what goes to the recorder, by the memory that both have
 * (source/program/stacks_page.h). It is never waited for: what does not fit now is put later.
 */
#ifndef SONDE_UNWIND_MESSAGES_H
#define SONDE_UNWIND_MESSAGES_H

#include "core/phase/event.h"
#include "source/program/stacks_page.h"

#include <stdbool.h>

bool message_module(struct stacks_page *p, uint32_t id, const char *path, const char *build_id);
/* f: everything but the lengths of its texts. */
bool message_frame(struct stacks_page *p, struct stacks_frame f, const char *function,
		   const char *file);
bool message_nodes(struct stacks_page *p, uint32_t first, const struct event_item *items,
		   uint32_t n);
/* h->n of them. */
bool message_samples(struct stacks_page *p, const struct stacks_samples *h,
		     const struct event_item *items);

#endif
