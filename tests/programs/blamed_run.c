/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blamed_run DIR START_S PROGRAM LIBRARY BUILD_ID SYSTEM_MS [FUNCTION=SAMPLES]... - a recording
 * whose stacks are known: functions of the program, and those called z:NAME of the library, each
 * with so many samples of 10 ms; user time is 50 ms more. Without any there are no stacks.
 * period=NS: what the recorder was asked for between two samples; after=NS: the CPU time that a
 * process must have used before it is sampled.
 */
#include "../made_stacks.h"
#include "source/process.h"
#include "source/source.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void command_make(struct made_stacks *m, const char *name, int64_t cpu_ns)
{
	uint32_t command = sample_instance(&m->s, "command", name, 0, m->now_ns, 0);
	uint32_t slot = sample_series(&m->s, &process_metrics[COMMAND_PROCESSES], 2, command);

	sample_put(&m->s, slot, 1);
	sample_put(&m->s, slot + 1, cpu_ns);
}

/* Returns how many samples. */
static uint64_t functions_make(struct made_stacks *m, char **name, int n, const uint32_t module[2],
			       const char *command)
{
	uint64_t sum = 0;

	for (int i = 0; i < n; i++) {
		char *sign = strchr(name[i], '=');
		bool library = !strncmp(name[i], "z:", 2);
		uint64_t samples = sign ? strtoull(sign + 1, NULL, 10) : 0;

		if (!strncmp(name[i], "period=", 7))
			sample_meta_int(&m->s, "stacks.period_ns", (int64_t)samples);
		if (!strncmp(name[i], "after=", 6))
			sample_meta_int(&m->s, "stacks.after_ns", (int64_t)samples);
		if (!samples || !strncmp(name[i], "period=", 7) || !strncmp(name[i], "after=", 6))
			continue;
		*sign = '\0';
		made_samples(m, 0, command,
			     (struct event_item){
				     7,
				     made_stack(m, 0,
						made_frame(m, module[library],
							   name[i] + (library ? 2 : 0), "", 0)),
				     samples });
		sum += samples;
	}
	return sum;
}

int main(int argc, char **argv)
{
	struct made_stacks m;
	uint32_t module[2], slot;
	int64_t user_ns, system_ns;
	const char *command;
	int dir;

	if (argc < 7 || mkdir(argv[1], 0700))
		return 2;
	dir = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	command = strrchr(argv[3], '/') ? strrchr(argv[3], '/') + 1 : argv[3];
	system_ns = strtoll(argv[6], NULL, 10) * 1000000;
	if (argc > 7) {
		made_stacks_open(&m, dir, "n1");
	} else {
		m = (struct made_stacks){ .now_ns = MADE_T0_NS };
		made_check(!sample_init(&m.s, 256, 4096) &&
			   !writer_open(&m.w, dir, "n1", NULL, NULL));
	}
	m.now_ns += strtoll(argv[2], NULL, 10) * MADE_SECOND_NS;
	slot = sample_series(&m.s, &made_cpu, 1, 0);
	sample_put(&m.s, slot, 0);
	made_write(&m);
	for (int i = 0; i < 2; i++) {
		module[i] = ++m.modules;
		made_check(sample_module(&m.s, module[i], argv[3 + i], i ? argv[5] : ""));
	}
	user_ns =
		(int64_t)functions_make(&m, argv + 7, argc - 7, module, command) * MADE_PERIOD_NS +
		50000000;
	sample_begin(&m.s, MADE_UTC(m.now_ns), m.now_ns);
	command_make(&m, command, user_ns + system_ns);
	sample_meta_int(&m.s, "job.wall_ns", user_ns + system_ns);
	sample_meta_int(&m.s, "job.cpu_ns", user_ns + system_ns);
	sample_meta_int(&m.s, "job.cpu_user_ns", user_ns);
	sample_meta_int(&m.s, "job.cpu_system_ns", system_ns);
	sample_put(&m.s, slot, (user_ns + system_ns) / 1000000000);
	made_check(!writer_sample(m.w, &m.s, NULL));
	made_stacks_close(&m);
	return 0;
}
