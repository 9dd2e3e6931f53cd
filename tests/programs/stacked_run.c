/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacked_run DIR [SYSTEM_S]: a recording whose stacks are known. Two ranks of a solver, 6 s and 2
 * s of CPU time each way: main calls solve (into which dot is inlined, 3 s), memcpy (2 s),
 * MPI_Allreduce, which copies (1 s), and a function with a hostile name (0.5 s); 0.5 s are of
 * unknown code. 100 processes of 10 ms each were too short to be sampled; the kernel had 1 s, or
 * SYSTEM_S.
 */
#include "../made_stacks.h"
#include "source/process.h"
#include "source/source.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define HOSTILE "evil<script>alert(1)</script>\"; rm -rf /\n\033[31m\xff"

/* Its time goes to so many periods of each of the five stacks. */
static void rank_run(struct made_stacks *m, uint32_t process, uint32_t tid, const uint32_t stack[5])
{
	static const uint64_t weight[5] = { 150, 100, 50, 25, 25 };

	for (int i = 0; i < 5; i++)
		made_samples(m, process, i == 3 ? HOSTILE : "solver",
			     (struct event_item){ tid, stack[i], weight[i] });
}

static void stacks_make(struct made_stacks *m, uint32_t stack[5])
{
	uint32_t app = made_module(m, "/opt/x/solver"), libc = made_module(m, "/lib/libc.so.6");
	uint32_t mpi = made_module(m, "/usr/lib/libmpi.so.40");
	uint32_t main = made_stack(m, 0, made_frame(m, app, "main", "main.c", 12));
	uint32_t solve =
		made_frame(m, app, "void lib::solve<double>(double*, int)", "solve.cc", 41);
	uint32_t copy = made_frame(m, libc, "memcpy", "", 0);

	made_check(sample_frame(&m->s, &(struct frame_row){ .id = ++m->frames,
							    .module = app,
							    .outer = solve,
							    .line = 7,
							    .address = 0x1000 + 41,
							    .function = "dot",
							    .file = "dot.h" }));
	stack[0] = made_stack(m, main, m->frames);
	stack[1] = made_stack(m, main, copy);
	stack[2] = made_stack(m, made_stack(m, main, made_frame(m, mpi, "MPI_Allreduce", "", 0)),
			      copy);
	stack[3] = made_stack(m, main, made_frame(m, app, HOSTILE, HOSTILE, 3));
	stack[4] = 0;
}

/* Looks at running Python: 30 of 50 ms in one function, 10 in another that it calls. */
static void python_make(struct made_stacks *m, uint32_t process, uint32_t tid)
{
	uint32_t python = made_module(m, PYTHON_MODULE);
	uint32_t outer = made_stack(m, 0, made_frame(m, python, "<listcomp>", "train.py", 7));
	uint32_t inner = made_stack(m, outer, made_frame(m, python, "load", "data.py", 3));
	const struct samples_head head = { .instance = process,
					   .kind = SAMPLE_PYTHON,
					   .command = "python3",
					   .unit = 50000000,
					   .t0_ns = m->now_ns - MADE_SECOND_NS,
					   .t1_ns = m->now_ns };

	made_check(sample_samples(
		&m->s, &head, (const struct event_item[]){ { tid, outer, 30 }, { tid, inner, 10 } },
		2));
}

static uint32_t process_make(struct made_stacks *m, int rank)
{
	char pid[16], name[16], number[8];
	uint32_t process, task;

	snprintf(pid, sizeof pid, "%d", 100 + rank);
	snprintf(name, sizeof name, "rank %d", rank);
	snprintf(number, sizeof number, "%d", rank);
	task = sample_instance(&m->s, "task", name, 0, m->now_ns, 0);
	sample_label(&m->s, task, "rank", number);
	sample_label(&m->s, task, "command_pid", pid);
	process = sample_instance(&m->s, "process", "solver", 0, m->now_ns, 0);
	sample_label(&m->s, process, "pid", pid);
	return process;
}

/* Commands whose processes have ended. */
static void commands_make(struct made_stacks *m, int64_t processes, int64_t cpu_ns)
{
	uint32_t command = sample_instance(&m->s, "command", "short", 0, m->now_ns, 0);
	uint32_t slot = sample_series(&m->s, &process_metrics[COMMAND_PROCESSES], 2, command);

	sample_begin(&m->s, MADE_UTC(m->now_ns), m->now_ns);
	sample_put(&m->s, slot, processes);
	sample_put(&m->s, slot + 1, cpu_ns);
}

int main(int argc, char **argv)
{
	struct made_stacks m;
	uint32_t stack[5], process[2], slot;
	int64_t system_ns = (argc == 3 ? strtol(argv[2], NULL, 10) : 1) * INT64_C(1000000000);
	int dir;

	if (argc < 2 || argc > 3 || mkdir(argv[1], 0700))
		return 2;
	dir = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	made_stacks_open(&m, dir, "n1");
	slot = sample_series(&m.s, &made_cpu, 1, 0);
	sample_put(&m.s, slot, 0);
	made_write(&m);
	stacks_make(&m, stack);
	for (int i = 0; i < 2; i++)
		process[i] = process_make(&m, i);
	sample_span(&m.s, 0, m.now_ns - MADE_SECOND_NS, m.now_ns, "solving", "");
	rank_run(&m, process[0], 100, stack);
	rank_run(&m, process[1], 101, stack);
	python_make(&m, process[1], 102);
	commands_make(&m, 100, 1000000000);
	sample_meta_int(&m.s, "job.wall_ns", 5000000000);
	sample_meta_int(&m.s, "job.cpu_ns", 8000000000 + system_ns);
	sample_meta_int(&m.s, "job.cpu_user_ns", 8000000000);
	sample_meta_int(&m.s, "job.cpu_system_ns", system_ns);
	sample_put(&m.s, slot, 9);
	made_check(!writer_sample(m.w, &m.s, NULL));
	made_stacks_close(&m);
	return 0;
}
