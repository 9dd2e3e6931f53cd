/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stepped_run DIR: a recording of 20 steps with a mark at the begin of each, whose code and waits
 * are known. A step takes 2 s: 1 s of CPU time in solve, 1 s of a wait for a pipe in load. Steps 8
 * and 15 take 5 s: solve has 2 s, and load waits for 3 s. Another thread waits for a condition in
 * idle all the time, which is no reason for anything. Names are hostile where they may be.
 */
#include "../made_stacks.h"
#include "core/stacks/waitkind.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#define HOSTILE "solve&\033pwned"

enum { STEPS = 20, PLAIN_S = 2, SLOW_S = 5, THREAD = 100 };

struct program {
	uint32_t solve, on_cpu, pipe, idle;
};

static uint32_t named(struct made_stacks *m, uint32_t module, uint32_t parent, const char *name)
{
	return made_stack(m, parent, made_frame(m, module, name, "", 0));
}

static struct program program_make(struct made_stacks *m)
{
	uint32_t wait = made_module(m, WAIT_MODULE), app = made_module(m, "/opt/x/app");

	return (struct program){
		.solve = named(m, app, 0, HOSTILE),
		.on_cpu = named(m, wait, 0, WAIT_ON_CPU),
		.pipe = named(m, wait, named(m, app, 0, "load"), "pipe_read"),
		.idle = named(m, wait, named(m, app, 0, "idle"), "condition"),
	};
}

/* Milliseconds of a thread, within the second before now. */
static void put(struct made_stacks *m, enum sample_kind kind, uint32_t tid, uint32_t stack, int ms)
{
	made_check(sample_samples(&m->s,
				  &(struct samples_head){ .kind = kind,
							  .command = "app",
							  .unit = 1000000,
							  .t0_ns = m->now_ns - MADE_SECOND_NS,
							  .t1_ns = m->now_ns },
				  &(struct event_item){ tid, stack, (uint64_t)ms }, 1));
}

static void second(struct made_stacks *m, const struct program *p, bool computes)
{
	put(m, SAMPLE_WAITS, THREAD + 1, p->idle, 1000);
	put(m, SAMPLE_WAITS, THREAD, computes ? p->on_cpu : p->pipe, 1000);
	if (computes)
		put(m, SAMPLE_CPU, THREAD, p->solve, 1000);
}

int main(int argc, char **argv)
{
	struct made_stacks m;
	struct program p;
	uint32_t slot;
	int dir, cpu_ms = 0;
	char name[32];

	if (argc != 2 || mkdir(argv[1], 0700))
		return 2;
	dir = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	made_stacks_open(&m, dir, "n1");
	slot = sample_series(&m.s, &made_cpu, 1, 0);
	sample_put(&m.s, slot, 0);
	p = program_make(&m);
	for (int i = 0; i < STEPS; i++) {
		int seconds = i == 7 || i == 14 ? SLOW_S : PLAIN_S;

		snprintf(name, sizeof name, "step %d", i + 1);
		sample_mark(&m.s, 0, m.now_ns, name, "");
		for (int s = 0; s < seconds; s++) {
			bool computes = s < (seconds == SLOW_S ? 2 : 1);

			made_write(&m);
			second(&m, &p, computes);
			cpu_ms += computes ? 1000 : 0;
			sample_put(&m.s, slot, cpu_ms * INT64_C(1000000));
		}
	}
	sample_mark(&m.s, 0, m.now_ns, "step 21", "");
	sample_meta_int(&m.s, "job.wall_ns", m.now_ns - MADE_T0_NS);
	made_write(&m);
	made_stacks_close(&m);
	return 0;
}
