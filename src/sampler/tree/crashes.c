/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/tree/crashes.h"

#include "sampler/tree/tree_state.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* By a signal that the kernel sends for what the process did. */
static bool has_crashed(const struct process *p)
{
	int signal = WIFSIGNALED(p->status) ? WTERMSIG(p->status) : 0;

	return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL;
}

void crashes_ended(struct tree *t, const struct process *p, int64_t at_ns)
{
	struct crashes *c = &t->crashes;
	struct crashed *row;

	if (p->status_known && (!has_crashed(p) || c->n == CRASHES_MAX))
		return;
	row = p->status_known ? &c->row[c->n++] : &c->unknown[c->nunknown++ % CRASHES_UNKNOWN];
	*row = (struct crashed){ .pid = p->pid,
				 .instance = p->instance,
				 .signal = p->status_known ? WTERMSIG(p->status) : 0,
				 .end_ns = at_ns,
				 .program = p->program ? c->program[p->program - 1] : "" };
	memcpy(row->comm, p->comm, sizeof row->comm);
}

void crashes_thread(struct tree *t, pid_t tid, pid_t pid)
{
	struct crashes *c = &t->crashes;

	c->thread[(uint32_t)tid % CRASHES_THREADS].tid = tid;
	c->thread[(uint32_t)tid % CRASHES_THREADS].pid = pid;
}

void crashes_threads(struct tree *t, const struct process *p)
{
	const struct thread *row = t->looks.threads.row;

	if (p->status_known && !has_crashed(p))
		return;
	for (uint32_t i = p->threads; i; i = row[i].next)
		if (row[i].tid != p->pid)
			crashes_thread(t, row[i].tid, p->pid);
}

void crashes_program(struct tree *t, struct process *p)
{
	struct crashes *c = &t->crashes;
	char link[32], path[CRASHES_PATH];
	ssize_t n;
	uint32_t i = 0;

	p->program = 0;
	snprintf(link, sizeof link, "%d/exe", (int)p->pid);
	n = readlinkat(t->reading.proc->fd, link, path, sizeof path);
	if (n <= 0 || n >= (ssize_t)sizeof path)
		return;
	path[n] = '\0';
	while (i < c->nprograms && strcmp(c->program[i], path) != 0)
		i++;
	if (i == CRASHES_PROGRAMS)
		return;
	if (i == c->nprograms)
		memcpy(c->program[c->nprograms++], path, (size_t)n + 1);
	p->program = (uint8_t)(i + 1);
}

bool tree_may_have_crashed(const struct tree *t, bool unknown)
{
	return t->crashes.n || (unknown && t->crashes.nunknown);
}

struct crashed *tree_crashed(struct tree *t, pid_t tid, const char *comm, int signal)
{
	struct crashes *c = &t->crashes;
	uint32_t nunknown = c->nunknown < CRASHES_UNKNOWN ? c->nunknown : CRASHES_UNKNOWN;
	uint32_t at = (uint32_t)tid % CRASHES_THREADS;
	bool is_thread = c->thread[at].tid == tid;
	pid_t pid = is_thread ? c->thread[at].pid : tid;

	/* A pid may be another's by now: then it hardly has the same name. */
	for (uint32_t i = 0; i < c->n + nunknown; i++) {
		struct crashed *x = i < c->n ? &c->row[i] : &c->unknown[i - c->n];

		if (x->pid == pid && (x->signal == signal || !x->signal) &&
		    (is_thread || !strcmp(x->comm, comm)))
			return x;
	}
	return NULL;
}
