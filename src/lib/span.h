/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span.h - the process's spans, on their way to a recording: the process and its threads' rings
 * (span.c), what is made in them (span_make.c), what goes with it and names
 * (span_args.c), and their recording by the process itself (span_record.c). Private to src/lib.
 */
#ifndef SONDE_LIB_SPAN_H
#define SONDE_LIB_SPAN_H

#include "base/clock.h"
#include "core/ring.h"

#include <signal.h>
#include <sonde_span.h>
#include <time.h>

/* A descriptor of its own of the process's file of rings (core/ring.h), made without a folder
 * where there is none yet; -EBUSY when a recorder of a job takes what is in it; other -errno. */
int span_rings(void);
/* Whether anybody is there to take what is made from now on. */
void span_want(bool wanted);

/* This thread's; NULL: it has none yet. */
/* initial-exec: one load, and glibc has room for a pointer wherever the library is loaded; musl
 * loads no such library into a program that runs. */
#ifdef __GLIBC__
#define FAST_TLS __attribute__((tls_model("initial-exec")))
#else
#define FAST_TLS
#endif
extern __thread struct ring_thread *span_mine FAST_TLS __attribute__((visibility("hidden")));

/* Of all that is the process's. Signals wait meanwhile. */
void span_lock(sigset_t *before);
void span_unlock(const sigset_t *before);

/* NULL: there is no file. */
struct ring_head *span_head(void);
/* How many forks ago the process was started by executing a program. */
extern uint32_t span_forks __attribute__((visibility("hidden")));
/* Part of the file, reserved and mapped; NULL: there is no room. With the lock. */
void *span_map(size_t at, size_t size);
/* A ring for this thread, which has none; NULL: there is none to be had. */
struct ring_thread *span_join(void) __attribute__((noinline));

/* The names into the file that is new. With the lock, as what follows. */
void span_names_put(struct ring_head *head);
/* What is mapped is the parent's. */
void span_names_fork(void);
void span_lanes_fork(void);

/* A span of this thread's stack ends, as by sonde_span_end; it ended at to_ns. */
void span_end_at(uint64_t handle, int64_t to_ns);
struct span_more;
/* As sonde_span_end, with what goes with it. */
void span_end_more(uint64_t handle, const struct span_more *more);
/* Whether any span has arguments since its begin: they wait until it ends. */
extern int span_carries __attribute__((visibility("hidden")));
void span_carried_end(uint64_t handle) __attribute__((noinline));
void span_carried_fork(void);
/* One with a handle, open, that began at from_ns. */
uint64_t span_begin_at(uint32_t name, uint64_t around, int64_t from_ns);
/* One with a handle is over and not recorded: what it was. False: it was not open. */
bool span_forget(uint64_t handle, int64_t *from_ns, uint32_t *name);

enum { HANDLE_FORKS = 0x7f, HANDLE_FORKS_BIT = 56 };
#define HANDLE_STACK (UINT64_C(1) << 63)

static inline int64_t span_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static inline struct ring_thread *span_ring(void)
{
	return __builtin_expect(!span_mine, 0) ? span_join() : span_mine;
}

/* Arguments, as they stand in a ring. */
struct span_more {
	uint32_t n; /* slots */
	union {
		struct ring_slot slot[RING_MORE_MAX];
		uint8_t bytes[RING_MORE_MAX * sizeof(struct ring_slot)];
	} u;
};

/* A span that ended or a mark, with what goes with it; NULL: nothing. */
void span_publish_with(struct ring_thread *r, struct ring_slot slot, const struct span_more *more);
/* Only its thread writes into a ring. */
static inline void span_publish(struct ring_thread *r, struct ring_slot slot)
{
	struct ring_slot *slots = (struct ring_slot *)((char *)r + RING_PAGE);
	uint64_t written = r->written;

	if (written - __atomic_load_n(&r->taken, __ATOMIC_ACQUIRE) >= RING_SLOTS) {
		__atomic_store_n(&r->lost, r->lost + 1, __ATOMIC_RELAXED);
		return;
	}
	slots[written % RING_SLOTS] = slot;
	__atomic_store_n(&r->written, written + 1, __ATOMIC_RELEASE);
}

/* An end of what is not open, or not the innermost. */
static inline void span_count_wrong(void)
{
	struct ring_head *head = span_head();

	if (head)
		__atomic_fetch_add(&head->wrong_order, 1, __ATOMIC_RELAXED);
}

#endif
