/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump.h - all tasks of the machine in a few system calls, by a BPF program of the kernel's
 * task iterator.
 *
 * The helper sonde-iterator loads the program, hands its descriptor over and ends: reading needs
 * neither it nor libbpf. Nothing is pinned: what is in the kernel goes with the descriptor.
 */
#ifndef SONDE_SAMPLER_TREE_DUMP_H
#define SONDE_SAMPLER_TREE_DUMP_H

#include "base/err.h"
#include "sampler/tree/reading.h"
#include "sampler/tree/tree.h"
#include "source/task_dump.h"

#include <sys/types.h>

struct iterator { /* {0}: not started */
	pid_t pid;
	int64_t started_ns;
	int socket, link; /* link > 0: ready */
	char *buffer;
};

/* 0, or -errno with a sentence. */
int iterator_start(struct iterator *it, struct err *e);
/* Wait so long for the helper's answer: 1 when tasks can be read, 0 when it has not answered yet,
 * -errno with a sentence when it will not, or has taken too long. */
int iterator_wait(struct iterator *it, int patience_ms, struct err *e);
void iterator_close(struct iterator *it);

/* process: of a first thread, else NULL. */
typedef void iterator_take(void *ctx, const struct task_thread *t, const struct task_process *p);
/* What the iterator told of a process in the sample `ticks`, its threads summed up. */
struct task_sum {
	uint64_t ticks;           /* 0: never */
	bool first;               /* its first thread was there */
	uint32_t counted, thread; /* threads, and the last of them in struct dump */
	uint32_t state, exit_state, flags;
	pid_t pid;
	struct task_used used;
	struct task_process process;
	/* what was made of its user and system time last, of the process that began then */
	int64_t user_ns, system_ns;
	uint64_t start_ns;
};

struct task_seen {
	pid_t tid;
	uint32_t next; /* of its process; 0: none */
	char state;
	int64_t use[USE_NUMBER_OF];
};

struct dump {
	enum tree_reader reader;
	struct iterator iterator;
	bool started, used;     /* used: in this sample */
	struct task_sum *sum;   /* by row */
	struct task_seen *seen; /* by thread id; the first is never used */
	uint32_t nseen, rows, seen_max;
	int64_t tasks, records; /* of the machine; in this dump so far */
	uint32_t moved;         /* processes that ran in this sample, so far */
	char complaint[256];
};

void dump_open(struct tree *t, enum tree_reader reader);
void dump_close(struct tree *t);
/* Before processes are looked at: read all tasks, where that is asked for or is cheaper. */
void dump_step(struct tree *t);
/* What was told of p in this sample; NULL: nothing, or nothing that is sure to be of one moment. */
struct task_sum *dump_of(const struct tree *t, const struct process *p);
int64_t dump_cpu_ns(const struct task_sum *sum);
void dump_tell(const struct tree *t, struct task_sum *sum, struct told *told);
/* Every thread of the job, in this sample. */
bool dump_has_threads(const struct tree *t);
/* A thread, in this sample; NULL: not told. */
const struct task_seen *dump_thread(const struct tree *t, pid_t tid);

#endif
