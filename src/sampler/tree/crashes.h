/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crashes.h - processes that ended by a signal as crashes do, and what there is to find them by
 * later: their threads, and the files of their programs.
 *
 * Of those that ended in a way that is not known, the last ones are kept, too. All of it is
 * bounded; what finds no room is forgotten.
 */
#ifndef SONDE_SAMPLER_TREE_CRASHES_H
#define SONDE_SAMPLER_TREE_CRASHES_H

#include "sampler/tree/table.h"

struct tree;

enum {
	CRASHES_MAX = 16,     /* the first */
	CRASHES_UNKNOWN = 64, /* the last */
	CRASHES_THREADS = 1024,
	CRASHES_PROGRAMS = 64,
	CRASHES_PATH = 256
};

/* signal 0: how it ended is not known. program: the file that it executed, or "". */
struct crashed {
	pid_t pid;
	uint32_t instance;
	int signal;
	int64_t end_ns;
	char comm[NAME_SIZE];
	const char *program;
	bool told; /* what the kernel's log has of it is in the recording */
};

struct crashes {
	struct crashed row[CRASHES_MAX], unknown[CRASHES_UNKNOWN];
	uint32_t n, nunknown; /* nunknown: all there were */
	struct {
		pid_t tid, pid;
	} thread[CRASHES_THREADS]; /* that ended, by tid */
	char program[CRASHES_PROGRAMS][CRASHES_PATH];
	uint32_t nprograms;
};

/* p has an instance, and has ended. */
void crashes_ended(struct tree *t, const struct process *p, int64_t at_ns);
/* A thread of it ended, or all that were looked at. */
void crashes_thread(struct tree *t, pid_t tid, pid_t pid);
void crashes_threads(struct tree *t, const struct process *p);
/* p, which is there, executes another program than before. */
void crashes_program(struct tree *t, struct process *p);

#endif
