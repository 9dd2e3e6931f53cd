/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.h - the kernel's records out of the rings of perf events, in the order of time.
 */
#ifndef SONDE_UNWIND_RECORDS_H
#define SONDE_UNWIND_RECORDS_H

#include "source/program/stacks_page.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
	bool has_registers;
	uint64_t registers[STACKS_NREGISTERS];
	const uint8_t *stack;
	uint64_t stack_size;
};

/* False: it makes no sense. */
bool record_sample(const struct record_view *r, struct record_sample *s);

/* Call with each record up to then, the earliest first. */
void records_drain(const struct record_ring *rings, size_t n, int64_t until_ns,
		   void (*take)(void *context, const struct record_view *r), void *context);

#endif
