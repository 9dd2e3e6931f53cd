/* SPDX-License-Identifier: Apache-2.0 */
/* span_make.c - spans within each other, marks and values, into the ring of their thread. */
#include "lib/span_part.h"

#include <string.h>

#undef sonde_begin
#undef sonde_end
#undef sonde_span_end
#undef sonde_mark
#undef sonde_counter
#undef sonde_thread_name

/* ---- spans within each other ---- */

static uint64_t handle_of(const struct ring_thread *r, uint32_t serial, uint32_t depth)
{
	return HANDLE_STACK | (uint64_t)(span_forks & HANDLE_FORKS) << HANDLE_FORKS_BIT |
	       (uint64_t)(r->number & 0xff) << 48 | (uint64_t)serial << 16 |
	       (depth < UINT16_MAX ? depth + 1 : 0);
}

uint64_t sonde_begin(uint32_t name)
{
	struct ring_thread *r = span_ring();
	uint32_t depth, serial;

	if (!r)
		return 0;
	depth = r->depth;
	serial = ++r->serial;
	if (depth < RING_OPEN_MAX)
		r->open[depth] = (struct ring_open){ span_now_ns(), name, serial };
	__atomic_store_n(&r->depth, depth + 1, __ATOMIC_RELEASE);
	return handle_of(r, serial, depth);
}

/* The innermost ends, and with it those around it that had ended before. */
static void pop(struct ring_thread *r)
{
	uint32_t depth = r->depth - 1;
	const struct ring_open o = r->open[depth < RING_OPEN_MAX ? depth : 0];
	uint32_t left = depth;

	while (left && left <= RING_OPEN_MAX && r->open[left - 1].from_ns == RING_ENDED)
		left--;
	__atomic_store_n(&r->depth, left, __ATOMIC_RELAXED);
	if (depth >= RING_OPEN_MAX)
		__atomic_store_n(&r->lost, r->lost + 1, __ATOMIC_RELAXED);
	else
		span_publish(r, (struct ring_slot){ o.from_ns, span_now_ns(), o.name, RING_SPAN });
}

void sonde_end(void)
{
	struct ring_thread *r = span_mine;

	if (r && r->depth)
		pop(r);
	else if (r)
		span_count_wrong();
}

/* One within which another is still open: it has its times, and is counted. */
static void end_within(struct ring_thread *r, uint32_t depth)
{
	struct ring_open *o = &r->open[depth];

	span_count_wrong();
	span_publish(r, (struct ring_slot){ o->from_ns, span_now_ns(), o->name, RING_SPAN });
	__atomic_store_n(&o->from_ns, RING_ENDED, __ATOMIC_RELAXED);
}

static void stack_end(uint64_t handle)
{
	struct ring_thread *r = span_mine;
	uint32_t at = handle & 0xffff, serial = (uint32_t)(handle >> 16);

	if (r && at && at == r->depth && at > RING_OPEN_MAX) {
		pop(r);
		return;
	}
	if (!r || !at || at > r->depth || at > RING_OPEN_MAX ||
	    handle_of(r, serial, at - 1) != handle || r->open[at - 1].serial != serial ||
	    r->open[at - 1].from_ns == RING_ENDED)
		span_count_wrong();
	else if (at == r->depth)
		pop(r);
	else
		end_within(r, at - 1);
}

void sonde_span_end(uint64_t span)
{
	if (span & HANDLE_STACK)
		stack_end(span);
	else if (span)
		span_lane_end(span);
}

/* ---- instants ---- */

void sonde_mark(uint32_t name)
{
	struct ring_thread *r = span_ring();

	if (r)
		span_publish(r, (struct ring_slot){ span_now_ns(), 0, name, RING_MARK });
}

void sonde_thread_name(const char *text)
{
	struct ring_thread *r = span_ring();
	uint32_t name = r ? sonde_name(text) : 0;

	if (name)
		span_publish(r, (struct ring_slot){ span_now_ns(), 0, name, RING_CALLED });
}

/* Each value goes through the ring; the last one stays in the head as well, where there is a place
 * for it, so that a ring that is full costs no more than those between. */
void sonde_counter(uint32_t name, double value)
{
	struct ring_thread *r = span_ring();
	struct ring_head *head = r ? span_head() : NULL;
	uint64_t bits;

	if (!head || !name)
		return;
	memcpy(&bits, &value, sizeof bits);
	span_publish(r, (struct ring_slot){ span_now_ns(), (int64_t)bits, name, RING_VALUE });
	if (name > RING_NAMES_MAX)
		return;
	__atomic_store_n(&head->value[name], bits, __ATOMIC_RELAXED);
	__atomic_store_n(&head->valued[name], 1, __ATOMIC_RELEASE);
}
