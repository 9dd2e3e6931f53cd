/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/sweephalving.h"

#include "console/say.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

int sweephalving_plan(struct sweeping *x, struct err *e)
{
	uint32_t *order, n;

	if (x->spec.decision != SWEEP_HALVING)
		return 0;
	order = calloc(x->space.combinations, sizeof *order);
	if (!order)
		return err_set(e, -ENOMEM, "out of memory for a sweep");
	n = (uint32_t)sweepspace_choose(&x->space, &x->spec, order);
	free(order);
	if (n && !halving_plan(&x->halving, &x->spec, n))
		return err_set(e, -EINVAL,
			       "budget: %" PRId64 " trials are too few for %u combinations with at "
			       "least %" PRId64 " trials: give at least %" PRId64
			       ", or a count of combinations",
			       x->spec.budget, n, x->spec.minimum, x->halving.needed);
	if (n && x->halving.trials > SWEEP_TRIALS)
		return err_set(e, -EINVAL,
			       "these are %" PRId64 " trials, more than %d: give a smaller budget, "
			       "or a count of combinations",
			       x->halving.trials, SWEEP_TRIALS);
	if (n)
		x->spec.batch_size = x->halving.round[x->halving.nrounds - 1].trials;
	return 0;
}

/* Those that run here, in live. */
static uint32_t find_live(const struct sweeping *x, uint32_t *live)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->nswept; i++)
		if (!x->swept[i]->skipped)
			live[n++] = i;
	return n;
}

/* The best of the round stay in live; how many of the n. */
static int decide(struct sweeping *x, uint32_t *live, uint32_t *n, int64_t trials,
		  struct sweep_score *score, struct err *e)
{
	uint32_t kept;

	for (uint32_t i = 0; i < *n; i++) {
		const struct swept *p = x->swept[live[i]];
		int rc = sweep_score_of(x->store.database, &p->batch, &x->spec, trials,
					&score[live[i]], e);

		if (rc)
			return rc;
	}
	kept = halving_keep(live, *n, score, x->spec.eta);
	for (uint32_t i = kept; i < *n; i++)
		x->swept[live[i]]->is_out = true;
	if (*n && score[live[0]].state == SWEEP_KNOWN)
		x->best = x->swept[live[0]];
	*n = kept;
	return 0;
}

static int run_rounds(struct sweeping *x, uint32_t *live, struct sweep_score *score,
		      int (*run)(struct sweeping *, uint32_t, struct err *), struct err *e)
{
	uint32_t n = find_live(x, live);
	int rc = 0;

	for (uint32_t k = 0; k < x->halving.nrounds && n && !rc && !x->refused; k++) {
		int64_t trials = x->halving.round[k].trials;

		if (!x->o->quiet)
			say("bench sweep: round %u of %u: %u combination%s, %" PRId64
			    " trials of each",
			    k + 1, x->halving.nrounds, n, n == 1 ? "" : "s", trials);
		for (uint32_t i = 0; i < n; i++)
			x->swept[live[i]]->wanted = trials;
		rc = run(x, 0, e);
		if (!rc)
			rc = decide(x, live, &n, trials, score, e);
	}
	return rc;
}

int sweephalving_run(struct sweeping *x, int (*run)(struct sweeping *, uint32_t, struct err *),
		     struct err *e)
{
	uint32_t *live = calloc(x->nswept + 1u, sizeof *live);
	struct sweep_score *score = calloc(x->nswept + 1u, sizeof *score);
	int rc = live && score ? run_rounds(x, live, score, run, e)
			       : err_set(e, -ENOMEM, "out of memory for a sweep");

	free(live);
	free(score);
	return rc;
}
