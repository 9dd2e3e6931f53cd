/* SPDX-License-Identifier: Apache-2.0 */
/*
 * look.h - one look at all threads of some processes, by the helper sonde-unwind.
 *
 * Reading a process may block in the kernel: the helper does it, says of which thread it is, and is
 * left behind when it neither answers nor works; another one goes on with the rest. No process is
 * stopped.
 */
#ifndef SONDE_WAITS_LOOK_H
#define SONDE_WAITS_LOOK_H

#include "base/err.h"
#include "base/helper.h"
#include "base/root.h"
#include "waits/wait.h"

enum { LOOK_PIDS = 32768, LOOK_SKIPPED = 1024 };

/* What the helper is asked; the numbers of processes, and of threads to pass over, follow. */
struct look_question {
	uint32_t layout, npids, nskip;
};

struct look_state {
	struct talk talk;
	struct waits *waits;
	pid_t *pid; /* what is looked at; sorted by nothing */
	uint32_t npids;
	pid_t skip[LOOK_SKIPPED]; /* threads that did not answer */
	uint32_t nskip, told;     /* told: threads of helpers that are gone, from the first on */
	struct bytes text;
	pid_t at, of; /* what it is at work on */
	int64_t heard_ns, cpu_ns;
	bool done;
};

/* Begin a look at these processes, whose threads come into w. 0, or -errno with a sentence; end it
 * in either case. */
int look_begin(struct look_state *l, struct waits *w, const pid_t *pids, uint32_t n, struct err *e);
/* Take what has come, for at most so long. 1: it is done, 0: not yet, or -errno with a sentence. */
int look_go_on(struct look_state *l, int64_t patience_ns, struct err *e);
void look_end(struct look_state *l);

/* The processes of a tree, the root first; what does not fit is left out. Their number. */
uint32_t look_tree(const struct root *proc, pid_t root, pid_t *pids, uint32_t most);

/* Why a process may not be looked at, as a sentence. */
void look_refusal(const struct root *proc, pid_t pid, char *out, size_t size);

#endif
