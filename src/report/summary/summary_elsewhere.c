/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary_elsewhere.c - was a launcher of ranks recorded, and not the ranks?
 *
 * A daemon of the batch system starts them: they are no descendants of srun. mpirun forks those of
 * its own node and reaches the others by a batch system's launcher, a remote shell, or a call of
 * the batch system's library that leaves no trace: then nodes of the job are without a recording.
 * Where the job is recorded in another way, too (attach --job, sonde behind the launcher), they are
 * not elsewhere.
 */
#include "report/summary/summary_part.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STARTS_ELSEWHERE = 1, STARTS_HERE_TOO = 2, REACHES_OTHERS = 4 };

/* What processes are called, or what the script is that an interpreter runs ("python3
 * flux-run.py"); behind it may come '.' or '-'. */
static const struct {
	const char *name;
	unsigned does;
	const char *typed; /* NULL: its name */
} launchers[] = {
	{ "srun", STARTS_ELSEWHERE, NULL },
	{ "aprun", STARTS_ELSEWHERE, NULL },
	{ "jsrun", STARTS_ELSEWHERE, NULL },
	{ "lrun", STARTS_ELSEWHERE, NULL },
	{ "palsrun", STARTS_ELSEWHERE, NULL },
	{ "prun", STARTS_ELSEWHERE, NULL },
	{ "poe", STARTS_ELSEWHERE, NULL },
	{ "pbsdsh", STARTS_ELSEWHERE, NULL },
	{ "mpiexec_mpt", STARTS_ELSEWHERE, NULL },
	{ "flux-run", STARTS_ELSEWHERE, "flux run" },
	{ "flux-submit", STARTS_ELSEWHERE, "flux submit" },
	{ "flux-bulksubmit", STARTS_ELSEWHERE, "flux bulksubmit" },
	{ "mpirun_rsh", STARTS_HERE_TOO, NULL },
	{ "charmrun", STARTS_HERE_TOO, NULL },
	{ "horovodrun", STARTS_HERE_TOO, NULL },
	{ "deepspeed", STARTS_HERE_TOO, NULL },
	{ "mpirun", STARTS_HERE_TOO, NULL },
	{ "mpiexec", STARTS_HERE_TOO, NULL },
	{ "orterun", STARTS_HERE_TOO, NULL },
	{ "prterun", STARTS_HERE_TOO, NULL },
	{ "ssh", REACHES_OTHERS, NULL },
	{ "rsh", REACHES_OTHERS, NULL },
	{ "pdsh", REACHES_OTHERS, NULL },
	{ "oarsh", REACHES_OTHERS, NULL },
	{ "pbs_tmrsh", REACHES_OTHERS, NULL },
	{ "blaunch", REACHES_OTHERS, NULL },
	{ "qrsh", REACHES_OTHERS, NULL },
};

/* What a recording saw: what such processes do, and the name of the one that a user typed. */
struct seen {
	unsigned does;
	const char *name;
	bool attached;
};

static bool is(const char *name, const char *launcher)
{
	const char *script = strrchr(name, ' ');
	size_t n = strlen(launcher);

	name = script ? script + 1 : name;
	return strncmp(name, launcher, n) == 0 && (!name[n] || name[n] == '.' || name[n] == '-');
}

static void see(struct seen *x, const char *name)
{
	for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++) {
		if (!is(name, launchers[i].name))
			continue;
		if (!x->name || launchers[i].does == STARTS_HERE_TOO)
			x->name = launchers[i].typed ? launchers[i].typed : launchers[i].name;
		x->does |= launchers[i].does;
		return;
	}
}

static bool is_elsewhere(const struct seen *x)
{
	return !x->attached && (x->does & STARTS_ELSEWHERE ||
				(x->does & STARTS_HERE_TOO && x->does & REACHES_OTHERS));
}

/* Does mpirun ask this batch system by a library to start ranks on nodes that were not recorded? */
static bool reaches_silently(const struct summary *s)
{
	static const char *const systems[] = { "pbs", "torque", "lsf" };

	for (size_t i = 0; s->missing.n && s->scheduler && i < sizeof systems / sizeof systems[0];
	     i++)
		if (!strcmp(s->scheduler, systems[i]))
			return true;
	return false;
}

int summary_elsewhere_make(struct summary *s, const struct run *r)
{
	struct seen *seen = calloc(r->nnodes + 1, sizeof *seen);
	const char *name = NULL;
	bool all = r->nnodes > 1;
	unsigned does = 0, silent = reaches_silently(s) ? REACHES_OTHERS : 0;

	if (!seen)
		return -ENOMEM;
	for (uint32_t i = 1; i < r->ninstances; i++) {
		const struct run_instance *in = &r->instances[i];

		if (in->name && in->domain && in->node < r->nnodes &&
		    (!strcmp(in->domain, "process") || !strcmp(in->domain, "command")))
			see(&seen[in->node], in->name);
	}
	for (uint32_t i = 1; i < r->nmetas; i++)
		if (r->metas[i].node < r->nnodes && !strcmp(r->metas[i].key, "job.members"))
			seen[r->metas[i].node].attached = true;
	for (uint32_t i = 1; i < r->nnodes; i++) {
		seen[i].does |= silent;
		all = all && is_elsewhere(&seen[i]);
		does |= seen[i].does;
		name = name ? name : seen[i].name;
	}
	s->story.ranks_elsewhere = all;
	s->story.launched_here = (does & STARTS_HERE_TOO) != 0;
	if (all)
		snprintf(s->story.launcher, sizeof s->story.launcher, "%s", name);
	free(seen);
	return 0;
}
