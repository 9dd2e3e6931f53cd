/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/beside.h"

#include "sampler/tree/affinity.h"
#include "source/coreset.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- places ---- */

static int too_few(int64_t jobs, uint32_t cores, struct err *e)
{
	if (cores < 2)
		return err_set(e, -EINVAL,
			       "--jobs %" PRId64 " needs a core for each job, and this process may "
			       "use only one: leave --jobs out",
			       jobs);
	return err_set(e, -EINVAL,
		       "--jobs %" PRId64
		       " needs a core for each job, and this process may use %" PRIu32
		       ": give at most --jobs %" PRIu32,
		       jobs, cores, cores);
}

static void put_facts(struct trial_place *p, uint32_t jobs)
{
	char text[CPULIST_TEXT];

	snprintf(text, sizeof text, "%" PRIu32, jobs);
	bench_facts_put(&p->facts, "trial.jobs", text);
	affinity_text(&p->cpus, text, sizeof text);
	bench_facts_put(&p->facts, "trial.cpus", text);
}

static int share_cores(struct beside *b, struct err *e)
{
	struct cpulist allowed = { { 0 } }, *set = calloc(b->n, sizeof *set);
	struct root sys = { 0 };
	uint32_t cores;
	int rc = set ? root_open_if_there(&sys, "/sys") : -ENOMEM;

	if (!rc && sched_getaffinity(0, sizeof allowed.word, (void *)allowed.word))
		rc = -errno;
	cores = rc ? 0 : coreset_share(set, b->n, &allowed, &sys);
	root_close(&sys);
	if (rc)
		err_set(e, rc, "the cores cannot be shared between jobs: %s", strerror(-rc));
	else if (cores < b->n)
		rc = too_few(b->n, cores, e);
	for (uint32_t i = 0; i < b->n && !rc; i++) {
		b->place[i].cpus = set[i];
		put_facts(&b->place[i], b->n);
		rc = b->place[i].facts.failed ? err_set(e, -ENOMEM, "out of memory") : 0;
	}
	free(set);
	return rc;
}

int beside_open(struct beside *b, int64_t jobs, struct err *e)
{
	b->place = calloc((size_t)jobs, sizeof *b->place);
	if (!b->place)
		return err_set(e, -ENOMEM, "out of memory for jobs");
	b->n = (uint32_t)jobs;
	for (uint32_t i = 0; i < b->n; i++) {
		b->place[i].index = i;
		b->place[i].claim = -1;
	}
	return b->n > 1 ? share_cores(b, e) : 0;
}

void beside_close(struct beside *b)
{
	for (uint32_t i = 0; i < b->n; i++)
		bench_facts_free(&b->place[i].facts);
	free(b->place);
	*b = (struct beside){ 0 };
}

/* ---- trials ---- */

static uint32_t count_taken(const struct beside *b)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->n; i++)
		n += b->place[i].is_taken;
	return n;
}

/* Descriptors that the processes of another trial must not keep: its claim would outlive it. */
static uint32_t find_foreign(const struct beside *b, int *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->n; i++) {
		const struct trial_place *p = &b->place[i];

		if (!p->is_taken)
			continue;
		if (p->claim >= 0)
			out[n++] = p->claim;
		for (int k = 0; k < SCRIPTED_PIPES; k++)
			if (p->going.scripted.from[k] >= 0)
				out[n++] = p->going.scripted.from[k];
	}
	return n;
}

int beside_begin(struct beside *b, struct trial_place *p, struct err *e)
{
	int foreign[SCRIPTED_MOST * (SCRIPTED_PIPES + 1)];
	int rc;

	p->run.cpus = b->n > 1 ? &p->cpus : NULL;
	p->run.place = b->n > 1 ? &p->facts : NULL;
	p->run.foreign = foreign;
	p->run.nforeign = find_foreign(b, foreign);
	rc = trial_begin(&p->run, &p->going, e);
	p->is_taken = !rc;
	if (rc)
		b->ended(b->ctx, p, rc);
	return rc;
}

/* Until one of them has ended for good, its warm-up runs included. */
static int wait_for_one(struct beside *b, struct err *e)
{
	for (;;) {
		struct scripted *running[SCRIPTED_MOST];
		struct trial_place *at[SCRIPTED_MOST], *p;
		uint32_t n = 0;
		int rc;

		for (uint32_t i = 0; i < b->n; i++)
			if (b->place[i].is_taken) {
				at[n] = &b->place[i];
				running[n++] = &b->place[i].going.scripted;
			}
		p = at[scripted_wait(running, n)];
		p->is_taken = false;
		rc = trial_end(&p->run, &p->going, e);
		if (rc <= 0) {
			b->ended(b->ctx, p, rc);
			return rc;
		}
		rc = beside_begin(b, p, e);
		if (rc)
			return rc;
	}
}

struct trial_place *beside_take(struct beside *b, int *rc, struct err *e)
{
	*rc = count_taken(b) == b->n ? wait_for_one(b, e) : 0;
	for (uint32_t i = 0; i < b->n && !*rc; i++)
		if (!b->place[i].is_taken)
			return &b->place[i];
	return NULL;
}

int beside_finish(struct beside *b, int rc, struct err *e)
{
	while (count_taken(b)) {
		struct err other = { "" };
		int its = wait_for_one(b, &other);

		if (!its || rc)
			continue;
		rc = its;
		*e = other;
	}
	return rc;
}
