/* SPDX-License-Identifier: Apache-2.0 */
/* recorder_machine.c - what machine this is: hundreds of small files, read by a thread beside the
 * job's begin. A command that ends within a moment waits for few of them. */
#include "base/reserve.h"
#include "sampler/recorder_state.h"
#include "source/platform/platform.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

enum {
	FACTS_MAX = 2048,
	STACK_BYTES = 512 << 10, /* not by the limit of the job's stacks, which may be anything */
};

static void *find_out(void *machine)
{
	struct machine *m = machine;

	platform_say(&m->platform);
	return NULL;
}

void machine_start(struct recorder *r)
{
	const char *procfs = r->o->sampler.procfs;
	struct machine *m = &r->machine;
	pthread_attr_t small;
	sigset_t all, before;

	/* Another machine's /proc says nothing of the distribution here. */
	if (!procfs || strcmp(procfs, "/proc") == 0)
		root_open(&m->files, "/");
	m->platform = (struct platform){ .proc = &r->sampler.env.proc,
					 .sys = &r->sampler.env.sys,
					 .files = &m->files,
					 .environment = environ,
					 .sample = &m->said };
	m->wanted = true;
	/* Where there is little address space, none is taken for it. */
	if (reserve_parts() > 1 || sample_init(&m->said, 1, FACTS_MAX) || pthread_attr_init(&small))
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	m->runs = !pthread_attr_setstacksize(&small, STACK_BYTES) &&
		  !pthread_create(&m->thread, &small, find_out, m);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&small);
}

void machine_take(struct recorder *r)
{
	struct machine *m = &r->machine;

	if (!m->wanted)
		return;
	if (!m->runs)
		m->platform.sample = &r->sampler.sample; /* there is no thread: at once */
	if (!m->runs)
		platform_say(&m->platform);
	else if (!pthread_join(m->thread, NULL))
		sample_take_metas(&r->sampler.sample, &m->said);
	m->wanted = m->runs = false;
	sample_free(&m->said);
	root_close(&m->files);
}
