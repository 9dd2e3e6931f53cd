/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.h - what the kernel samples: its records in the order of time, and the stack that one of
 * them holds.
 */
#ifndef SONDE_UNWIND_RECORDS_H
#define SONDE_UNWIND_RECORDS_H

#include "source/program/stacks_page.h"
#include "unwind/frame.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The kernel's records out of the rings of perf events, in the order of time.
 */

enum { RECORD_MAX = 1 << 16 };

struct record_ring {
	struct perf_event_mmap_page *page; /* NULL: none */
	const uint8_t *data;
	uint64_t size; /* a power of two */
};

/* A record in one piece. */
struct record_view {
	const uint8_t *body; /* behind its header */
	size_t n;
	uint32_t type;
	uint16_t misc;
	int64_t time_ns;
	uint32_t ring; /* which it was in */
};

/* A sample, as its event asks for it. */
struct record_sample {
	uint32_t pid, tid;
	int64_t time_ns, period;
	uint64_t address; /* of the page fault; 0: it is of none */
	bool has_registers;
	bool in_kernel; /* it is of what the kernel did for that stack */
	uint64_t registers[STACKS_NREGISTERS];
	const uint8_t *stack;
	uint64_t stack_size;
};

/* False: it makes no sense. faults: of page faults, whose events ask for so many bytes of the stack
 * (source/program/stacks_page.h); 0: of CPU time. */
bool record_sample(const struct record_view *r, uint32_t faults, struct record_sample *s);

/* Call with each record up to then, the earliest first. */
void records_drain(const struct record_ring *rings, size_t n, int64_t until_ns,
		   void (*take)(void *context, const struct record_view *r), void *context);

/*
 * The event that samples one thread for a while, and its ring.
 *
 * The event is on the thread wherever it runs, and nothing inherits it: so it has a ring of its own
 * (perf_event_open(2): events share one only on the same CPU, or of the same task).
 */

struct slot_event {
	int fd;        /* 0: none */
	size_t locked; /* bytes */
	struct record_ring ring;
	int64_t lost; /* records that had no room, of which was told */
};

/* size: of the ring, a power of two, not less than stacks_ring_least(). 0; -ESRCH: it has ended;
 * -EACCES: it must not be sampled; or another -errno, as where there is no room for the ring. */
int slot_event_open(struct slot_event *e, pid_t tid, int64_t period_ns, size_t size);
void slot_event_close(struct slot_event *e);
/* CPU time that its thread has used since it was opened, also of one that has ended. */
int64_t slot_event_count_ns(const struct slot_event *e);
/* How many of its records had no room since it was asked last; -1: the kernel does not count. */
int64_t slot_event_lost(struct slot_event *e);
/* From now on. */
void slot_event_period(const struct slot_event *e, int64_t period_ns);

/*
 * The stack of a thread from a sample of the kernel's: registers, and a copy of the top
 * of its stack; and such samples of threads that run now.
 */

struct sample_place {
	struct modules *modules;
	struct rows *rows;
	struct space *space; /* of the process */
};

/* The innermost first; where nothing is known of it, it is a frame all the same. */
void sample_unwind(const struct sample_place *in, const struct record_sample *sample,
		   struct stack *out);

enum { SAMPLE_THREADS = 32 };

/*
 * What these threads do in user mode in the next 20 to 300 ms: take is called with the first sample
 * of each. At most SAMPLE_THREADS of them; who may not be sampled, or does not run, has none.
 */
void sample_threads(const pid_t *tid, uint32_t n,
		    void (*take)(void *context, uint32_t i, const struct record_sample *sample),
		    void *context);

#endif
