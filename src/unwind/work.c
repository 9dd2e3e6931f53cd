/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/work.h"

#include <signal.h>
#include <stddef.h>

enum { HANDLER_STACK = 1 << 15 };

static struct stacks_page *told;
static _Thread_local const struct module *volatile at;
static _Thread_local uint8_t handler_stack[HANDLER_STACK];

/* The default action follows: it dies of what it was about to die of. */
static void note(int signal)
{
	const struct module *m = at;
	struct stacks_file *f = &told->died_of;

	(void)signal;
	if (!m || !m->path || atomic_load(&told->died))
		return;
	f->major = m->major;
	f->minor = m->minor;
	f->inode = m->inode;
	for (size_t i = 0; i + 1 < sizeof f->path && m->path[i]; i++)
		f->path[i] = m->path[i];
	atomic_store(&told->died, 1);
}

void work_watch(struct stacks_page *page)
{
	static const int deadly[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL };
	struct sigaction act = { .sa_handler = note, .sa_flags = (int)(SA_RESETHAND | SA_ONSTACK) };

	told = page;
	for (size_t i = 0; i < sizeof deadly / sizeof deadly[0]; i++)
		sigaction(deadly[i], &act, NULL);
	work_thread();
}

void work_thread(void)
{
	sigaltstack(&(stack_t){ .ss_sp = handler_stack, .ss_size = sizeof handler_stack }, NULL);
}

void work_on(const struct module *m)
{
	at = m;
}
