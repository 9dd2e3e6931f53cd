/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iterator.h - all tasks of the machine in a few system calls, by a BPF program of the kernel's
 * task iterator.
 *
 * The helper sonde-iterator loads the program, hands its descriptor over and ends: reading needs
 * neither it nor libbpf. Nothing is pinned: what is in the kernel goes with the descriptor.
 */
#ifndef SONDE_SAMPLER_TREE_ITERATOR_H
#define SONDE_SAMPLER_TREE_ITERATOR_H

#include "base/err.h"
#include "source/task_dump.h"

#include <sys/types.h>

struct iterator { /* {0}: not started */
	pid_t pid;
	int64_t started_ns;
	int socket, link; /* link > 0: ready */
	char *buffer;
};

/* What is missing to use it here: 0, or -errno with a sentence. Nothing is started. */
int iterator_missing(struct err *e);
/* 0, or -errno with a sentence. */
int iterator_start(struct iterator *it, struct err *e);
/* Wait so long for the helper's answer: 1 when tasks can be read, 0 when it has not answered yet,
 * -errno with a sentence when it will not, or has taken too long. */
int iterator_wait(struct iterator *it, int patience_ms, struct err *e);
void iterator_close(struct iterator *it);

/* process: of a first thread, else NULL. */
typedef void iterator_take(void *ctx, const struct task_thread *t, const struct task_process *p);
/* Every task, by thread id. 0, or -errno: what was taken is not all. */
int iterator_read(const struct iterator *it, iterator_take *take, void *ctx);

#endif
