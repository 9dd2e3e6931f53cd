/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waited_run DIR [REFUSED]: a recording whose waits are known, of two nodes and 10 s. On n1 a
 * thread is on a CPU for 4 s and ready for 1 s, then waits for a mutex in work (3 s) and for what
 * no look found (2 s); another, of a process with a hostile name, waits for a pipe with a hostile
 * name in a function with one (10 s). On n2 a thread waits in 14 functions, in all 10 s. With
 * REFUSED, there are no waits, and that is why.
 */
#include "../made_stacks.h"
#include "core/stacks/waitkind.h"
#include "source/source.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#define HOSTILE "evil<script>pwned=1</script>\"; rm -rf /\n\033[31m\xff"

enum { SECONDS = 10, FUNCTIONS = 14, THREAD = 100 };

static uint32_t named(struct made_stacks *m, uint32_t module, uint32_t parent, const char *name)
{
	return made_stack(m, parent, made_frame(m, module, name, "", 0));
}

/* Milliseconds of a thread with a stack, within the second before now. */
static void put(struct made_stacks *m, const char *command, uint32_t tid, uint32_t stack, int ms)
{
	made_check(sample_samples(&m->s,
				  &(struct samples_head){ .kind = SAMPLE_WAITS,
							  .command = command,
							  .unit = 1000000,
							  .t0_ns = m->now_ns - MADE_SECOND_NS,
							  .t1_ns = m->now_ns },
				  &(struct event_item){ tid, stack, (uint64_t)ms }, 1));
}

static void first_node(struct made_stacks *m, int second)
{
	static uint32_t on_cpu, ready, unseen, lock, pipe;

	if (!second) {
		uint32_t wait = made_module(m, WAIT_MODULE), app = made_module(m, "/opt/x/app");
		uint32_t work = made_stack(m, 0, made_frame(m, app, "work", "/src/work.c", 12));
		uint32_t evil = made_stack(m, 0, made_frame(m, app, HOSTILE, HOSTILE, 3));

		on_cpu = named(m, wait, 0, WAIT_ON_CPU);
		ready = named(m, wait, 0, WAIT_WAS_READY);
		unseen = named(m, wait, 0, WAIT_UNSEEN);
		lock = named(m, wait, named(m, wait, work, "mutex"), "at 0x10");
		pipe = named(m, wait, named(m, wait, evil, "pipe_read"), HOSTILE);
	}
	put(m, HOSTILE, THREAD + 1, pipe, 1000);
	put(m, "app", THREAD, on_cpu, second < 5 ? 800 : 0);
	put(m, "app", THREAD, ready, second < 5 ? 200 : 0);
	put(m, "app", THREAD, lock, second < 5 ? 0 : 600);
	put(m, "app", THREAD, unseen, second < 5 ? 0 : 400);
}

static void second_node(struct made_stacks *m, int second)
{
	static uint32_t place[FUNCTIONS];

	if (!second) {
		static const char *const kind[FUNCTIONS] = { "timer",     "timer",  "events",
							     "condition", "child",  "storage",
							     "terminal",  "signal", "barrier" };
		uint32_t wait = made_module(m, WAIT_MODULE), app = made_module(m, "/opt/x/app");

		for (int i = 0; i < FUNCTIONS; i++) {
			char name[16];

			snprintf(name, sizeof name, "step_%d", i);
			place[i] =
				named(m, wait, named(m, app, 0, name), kind[i] ? kind[i] : "timer");
		}
	}
	for (int i = 0; i < FUNCTIONS; i++)
		put(m, "app", THREAD, place[i], i ? 50 : 350);
}

static void node_make(int dir, const char *host, const char *refused,
		      void (*fill)(struct made_stacks *, int))
{
	struct made_stacks m = { .now_ns = MADE_T0_NS };
	uint32_t slot;

	made_check(!sample_init(&m.s, 256, 4096));
	made_check(!writer_open(&m.w, dir, host, NULL, NULL));
	slot = sample_series(&m.s, &made_cpu, 1, 0);
	sample_put(&m.s, slot, 0);
	if (refused) {
		sample_meta_text(&m.s, "source.waits", refused);
		sample_meta_text(&m.s, "source.waits.fix_admin", "install " HOSTILE);
	}
	made_write(&m);
	for (int i = 0; i < SECONDS; i++) {
		if (!refused)
			fill(&m, i);
		sample_put(&m.s, slot, i);
		made_write(&m);
	}
	sample_meta_int(&m.s, "job.wall_ns", SECONDS * MADE_SECOND_NS);
	sample_begin(&m.s, MADE_UTC(m.now_ns), m.now_ns);
	made_check(!writer_sample(m.w, &m.s, NULL));
	made_stacks_close(&m);
}

int main(int argc, char **argv)
{
	const char *refused = argc > 2 ? argv[2] : NULL;
	int dir;

	if (argc < 2 || argc > 3 || mkdir(argv[1], 0700))
		return 2;
	dir = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	node_make(dir, "n1", refused, first_node);
	node_make(dir, "n2", refused, second_node);
	return 0;
}
