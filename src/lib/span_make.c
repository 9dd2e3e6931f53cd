/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span_make.c - what is made in the rings: spans of a thread, which end in the order of a stack,
 * and spans with handles, which end in any thread and in any order.
 *
 * What is seen of those with handles is a row, a lane, on which they lie within each other or one
 * after the other: a span is on the lane of the one around it, if that has no other within it, else
 * on the lane of its own number. If the one around it ends first, it is on that, too. No lock: a
 * signal's handler may come in between.
 */
#include "lib/span.h"

#include <string.h>
#include <sys/mman.h>

/* ---- spans with handles ---- */

enum { WORD = 64, WORDS = RING_LANES_MAX / WORD, CHUNKS = RING_LANES_MAX / RING_LANES_CHUNK };
#define GENERATIONS ((UINT64_C(1) << 40) - 1)

/* Of a number. */
struct open {
	uint64_t generation; /* odd while it is open */
	uint64_t around_generation;
	uint32_t around; /* number + 1; 0: none */
	uint32_t within; /* the one within it that is on its lane: number + 1 */
};

static struct {
	uint64_t taken[WORDS];
	struct ring_lane *chunk[CHUNKS]; /* of the file; NULL: not mapped yet */
	struct open open[RING_LANES_MAX];
} lanes;

#undef sonde_span_begin

/* The lowest number that is free, so that there are few lanes; -1: none. */
static int number_take(void)
{
	for (int w = 0; w < WORDS; w++) {
		uint64_t word = __atomic_load_n(&lanes.taken[w], __ATOMIC_RELAXED);

		while (~word) {
			int bit = __builtin_ctzll(~word);

			if (__atomic_compare_exchange_n(&lanes.taken[w], &word,
							word | UINT64_C(1) << bit, false,
							__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
				return w * WORD + bit;
		}
	}
	return -1;
}

static void number_free(uint32_t n)
{
	__atomic_fetch_and(&lanes.taken[n / WORD], ~(UINT64_C(1) << n % WORD), __ATOMIC_RELEASE);
}

static struct ring_lane *chunk_map(uint32_t i)
{
	size_t size = RING_LANES_CHUNK * sizeof(struct ring_lane);
	struct ring_head *head = span_head();
	sigset_t before;

	span_lock(&before);
	if (!lanes.chunk[i] && head) {
		struct ring_lane *chunk = span_map(ring_lanes_at(i), size);

		__atomic_store_n(&lanes.chunk[i], chunk, __ATOMIC_RELEASE);
		if (chunk && head->nlane_chunks <= i)
			__atomic_store_n(&head->nlane_chunks, i + 1, __ATOMIC_RELEASE);
	}
	span_unlock(&before);
	return lanes.chunk[i];
}

static struct ring_lane *lane_at(uint32_t n)
{
	uint32_t i = n / RING_LANES_CHUNK;
	struct ring_lane *chunk = __atomic_load_n(&lanes.chunk[i], __ATOMIC_ACQUIRE);

	if (!chunk)
		chunk = chunk_map(i);
	return chunk ? &chunk[n % RING_LANES_CHUNK] : NULL;
}

static uint64_t lane_handle(uint32_t n, uint64_t generation)
{
	return (uint64_t)(span_forks & HANDLE_FORKS) << HANDLE_FORKS_BIT |
	       (generation & GENERATIONS) << 16 | (n + 1);
}

/* The number of one that is open; false: it is not. */
static bool number_of(uint64_t handle, uint32_t *n, uint64_t *generation)
{
	uint32_t at = handle & 0xffff;

	if (!at || at > RING_LANES_MAX || handle & HANDLE_STACK)
		return false;
	*n = at - 1;
	*generation = __atomic_load_n(&lanes.open[*n].generation, __ATOMIC_ACQUIRE);
	return *generation & 1 && lane_handle(*n, *generation) == handle;
}

static bool is_open(uint32_t n, uint64_t generation)
{
	return __atomic_load_n(&lanes.open[n].generation, __ATOMIC_ACQUIRE) == generation;
}

/* The lane of the one around n, where n may be on it; else its own. */
static uint32_t lane_of(uint32_t n, uint64_t around)
{
	struct open *o = &lanes.open[n];
	struct ring_lane *at;
	uint64_t generation;
	uint32_t p, none = 0;

	o->around = o->within = 0;
	if (!number_of(around, &p, &generation))
		return n;
	at = lane_at(p);
	if (!at || !at->lane ||
	    !__atomic_compare_exchange_n(&lanes.open[p].within, &none, n + 1, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return n;
	o->around = p + 1;
	o->around_generation = generation;
	return at->lane - 1;
}

uint64_t span_begin_at(uint32_t name, uint64_t around, int64_t from_ns)
{
	struct ring_thread *r = span_ring();
	int n = r ? number_take() : -1;
	struct ring_lane *at = n >= 0 ? lane_at((uint32_t)n) : NULL;
	struct open *o = &lanes.open[n >= 0 ? n : 0];
	uint64_t generation;
	uint32_t lane;

	if (!at) {
		if (n >= 0)
			number_free((uint32_t)n);
		if (r)
			__atomic_store_n(&r->lost, r->lost + 1, __ATOMIC_RELAXED);
		return 0;
	}
	lane = lane_of((uint32_t)n, around);
	at->name = name;
	at->from_ns = from_ns;
	__atomic_store_n(&at->lane, lane + 1, __ATOMIC_RELEASE);
	generation = (o->generation + 1) | 1;
	__atomic_store_n(&o->generation, generation, __ATOMIC_RELEASE);
	return lane_handle((uint32_t)n, generation);
}

uint64_t sonde_span_begin(uint32_t name, uint64_t around)
{
	return span_begin_at(name, around, span_now_ns());
}

/* It leaves the lane of the one around it, if that is still open. The lane that it was on. */
static uint32_t lane_leave(uint32_t n, const struct ring_lane *at)
{
	const struct open *o = &lanes.open[n];
	uint32_t here = n + 1;

	if (!o->around)
		return at->lane - 1;
	if (!is_open(o->around - 1, o->around_generation))
		return n;
	__atomic_compare_exchange_n(&lanes.open[o->around - 1].within, &here, 0, false,
				    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	return at->lane - 1;
}

/* It is over: what it was, to *slot. False: it was not open. */
static bool lane_over(uint64_t handle, struct ring_slot *slot)
{
	struct ring_lane *at;
	uint64_t generation;
	uint32_t n;

	if (!number_of(handle, &n, &generation) ||
	    !__atomic_compare_exchange_n(&lanes.open[n].generation, &generation, generation + 1,
					 false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
		span_count_wrong();
		return false;
	}
	at = lane_at(n);
	slot->from_ns = at->from_ns;
	slot->name = at->name;
	slot->what = RING_LANE_SPAN | lane_leave(n, at) << RING_LANE_BIT;
	__atomic_store_n(&at->lane, 0, __ATOMIC_RELEASE);
	number_free(n);
	return true;
}

/* As sonde_span_end, of a handle that is none of the stack's. */
static void lane_end(uint64_t handle, const struct span_more *more)
{
	struct ring_thread *r = span_ring();
	struct ring_slot slot = { .to_ns = span_now_ns() };

	if (lane_over(handle, &slot) && r)
		span_publish_with(r, slot, more);
}

bool span_forget(uint64_t handle, int64_t *from_ns, uint32_t *name)
{
	struct ring_slot slot = { 0 };
	bool open = lane_over(handle, &slot);

	*from_ns = slot.from_ns;
	*name = slot.name;
	return open;
}

/* Generations go on: a handle of the parent's is none here. */
void span_lanes_fork(void)
{
	for (uint32_t i = 0; i < CHUNKS; i++) {
		if (lanes.chunk[i])
			munmap(lanes.chunk[i], RING_LANES_CHUNK * sizeof(struct ring_lane));
		lanes.chunk[i] = NULL;
	}
	for (uint32_t i = 0; i < RING_LANES_MAX; i++) {
		if (lanes.taken[i / WORD] >> i % WORD & 1)
			lanes.open[i].generation += lanes.open[i].generation & 1;
	}
	memset(lanes.taken, 0, sizeof lanes.taken);
}

/* ---- spans of a thread ---- */

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
static inline void pop(struct ring_thread *r, int64_t to_ns, const struct span_more *more)
{
	uint32_t depth = r->depth - 1;
	const struct ring_open o = r->open[depth < RING_OPEN_MAX ? depth : 0];
	uint32_t left = depth;

	while (left && left <= RING_OPEN_MAX && r->open[left - 1].from_ns == RING_ENDED)
		left--;
	__atomic_store_n(&r->depth, left, __ATOMIC_RELAXED);
	if (depth >= RING_OPEN_MAX)
		__atomic_store_n(&r->lost, r->lost + 1, __ATOMIC_RELAXED);
	else if (!more)
		span_publish(r, (struct ring_slot){ o.from_ns, to_ns, o.name, RING_SPAN });
	else
		span_publish_with(r, (struct ring_slot){ o.from_ns, to_ns, o.name, RING_SPAN },
				  more);
}

/* The handle of the innermost one; 0: it has none. */
static uint64_t innermost(const struct ring_thread *r)
{
	uint32_t depth = r ? r->depth : 0;

	return depth && depth <= RING_OPEN_MAX ? handle_of(r, r->open[depth - 1].serial, depth - 1)
					       : 0;
}

void sonde_end(void)
{
	struct ring_thread *r = span_mine;

	if (__builtin_expect(span_carries, 0) && innermost(r))
		span_carried_end(innermost(r));
	else if (r && r->depth)
		pop(r, span_now_ns(), NULL);
	else if (r)
		span_count_wrong();
}

/* One within which another is still open: it has its times, and is counted. */
static void end_within(struct ring_thread *r, uint32_t depth, int64_t to_ns,
		       const struct span_more *more)
{
	struct ring_open *o = &r->open[depth];

	span_count_wrong();
	span_publish_with(r, (struct ring_slot){ o->from_ns, to_ns, o->name, RING_SPAN }, more);
	__atomic_store_n(&o->from_ns, RING_ENDED, __ATOMIC_RELAXED);
}

static void stack_end(uint64_t handle, int64_t to_ns, const struct span_more *more)
{
	struct ring_thread *r = span_mine;
	uint32_t at = handle & 0xffff, serial = (uint32_t)(handle >> 16);

	if (r && at && at == r->depth && at > RING_OPEN_MAX) {
		pop(r, to_ns, more);
		return;
	}
	if (!r || !at || at > r->depth || at > RING_OPEN_MAX ||
	    handle_of(r, serial, at - 1) != handle || r->open[at - 1].serial != serial ||
	    r->open[at - 1].from_ns == RING_ENDED)
		span_count_wrong();
	else if (at == r->depth)
		pop(r, to_ns, more);
	else
		end_within(r, at - 1, to_ns, more);
}

void span_end_at(uint64_t handle, int64_t to_ns)
{
	stack_end(handle, to_ns, NULL);
}

void span_end_more(uint64_t handle, const struct span_more *more)
{
	if (handle & HANDLE_STACK)
		stack_end(handle, span_now_ns(), more);
	else if (handle)
		lane_end(handle, more);
}

void sonde_span_end(uint64_t span)
{
	if (__builtin_expect(span_carries, 0))
		span_carried_end(span);
	else
		span_end_more(span, NULL);
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
