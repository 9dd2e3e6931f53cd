/* SPDX-License-Identifier: Apache-2.0 */
/*
 * made_stacks.h - recordings with stacks that are made up, written as real ones through the writer.
 *
 * Ids are given in order, from 1; what is written is known exactly.
 */
#ifndef TESTS_MADE_STACKS_H
#define TESTS_MADE_STACKS_H

#include "recording/writer.h"

#include <stdlib.h>

#define MADE_T0_NS      INT64_C(5000000000)
#define MADE_PERIOD_NS  INT64_C(10000000)
#define MADE_SECOND_NS  INT64_C(1000000000)
#define MADE_UTC(mono)  (INT64_C(1700000000000000000) + (mono))
#define MADE_PERIODS_1S 100 /* weight of one second */

static const struct metric made_cpu = { .name = "job.cpu_seconds",
					.label = "CPU",
					.help = "CPU.",
					.unit = UNIT_SECONDS,
					.kind = KIND_COUNTER,
					.over_nodes = COMBINE_SUM };

struct made_stacks {
	struct writer *w;
	struct sample s;
	uint32_t modules, frames, stacks;
	int64_t now_ns;
};

static inline void made_check(bool holds)
{
	if (!holds)
		abort();
}

static inline void made_stacks_open(struct made_stacks *m, int dirfd, const char *host)
{
	*m = (struct made_stacks){ .now_ns = MADE_T0_NS };
	made_check(!sample_init(&m->s, 256, 4096));
	made_check(!writer_open(&m->w, dirfd, host, NULL, NULL));
	sample_meta_int(&m->s, "stacks.period_ns", MADE_PERIOD_NS);
}

static inline uint32_t made_module(struct made_stacks *m, const char *path)
{
	made_check(sample_module(&m->s, ++m->modules, path, ""));
	return m->modules;
}

static inline uint32_t made_frame(struct made_stacks *m, uint32_t module, const char *function,
				  const char *file, uint32_t line)
{
	made_check(sample_frame(&m->s, &(struct frame_row){ .id = ++m->frames,
							    .module = module,
							    .line = line,
							    .address = 0x1000 + line,
							    .function = function,
							    .file = file }));
	return m->frames;
}

static inline uint32_t made_stack(struct made_stacks *m, uint32_t parent, uint32_t frame)
{
	made_check(sample_stacks(&m->s, ++m->stacks, &(struct event_item){ parent, frame, 0 }, 1));
	return m->stacks;
}

/* So many periods of one thread with one stack, within the second before now. */
static inline void made_samples(struct made_stacks *m, uint32_t instance, const char *command,
				struct event_item item)
{
	made_check(sample_samples(&m->s,
				  &(struct samples_head){ .instance = instance,
							  .kind = SAMPLE_CPU,
							  .command = command,
							  .unit = MADE_PERIOD_NS,
							  .t0_ns = m->now_ns - MADE_SECOND_NS,
							  .t1_ns = m->now_ns },
				  &item, 1));
}

/* The sample that they are in, a second later than the one before. */
static inline void made_write(struct made_stacks *m)
{
	sample_begin(&m->s, MADE_UTC(m->now_ns), m->now_ns);
	made_check(!writer_sample(m->w, &m->s, NULL));
	m->now_ns += MADE_SECOND_NS;
}

static inline void made_stacks_close(struct made_stacks *m)
{
	made_check(!writer_close(m->w, NULL));
	sample_free(&m->s);
}

/* As a kill would leave it: what is not sealed is in the tail. */
static inline void made_stacks_abandon(struct made_stacks *m)
{
	writer_abandon(m->w);
	sample_free(&m->s);
}

#endif
