/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.h - sweeps in the store: their specification, which combinations were tried, what of them
 * is there.
 *
 * A combination is a batch of the store. That a trial is done, its row there says and nothing else:
 * whoever is killed at whatever moment, the trial was either kept or is to be run again.
 */
#ifndef SONDE_BENCH_SWEEP_SWEEP_H
#define SONDE_BENCH_SWEEP_SWEEP_H

#include "bench/sweep/sweepspace.h"
#include "bench/trial.h"

struct sweep {
	const char *uid; /* the same for the same specification */
	const char *identifier, *user, *decision, *specification;
	/* Of trials; one that is there already keeps its own. */
	enum sweep_order order;
	int64_t seed, batch_size, start_ns;
	char directory[4096]; /* of its recordings; of one that is there already it stays */
	int64_t id;           /* in the store */
};

struct sweep_point {
	uint32_t combination;
	int64_t position;                             /* in which order it was chosen, from 1 */
	const char *stack, *environment, *parameters; /* the last as a JSON object */
	const char *skipped;                          /* why it is not run; NULL: it is */
};

/* 1: the store has it, with its id and directory; 0: it has not; or -errno. */
int sweep_find(struct database *s, struct sweep *w, struct err *e);
/* Each is a transaction of its own. A sweep that is there keeps its id and directory. */
int sweep_put(struct database *s, struct sweep *w, struct err *e);
/* Why combinations were skipped is forgotten: whoever leads the sweep looks again. */
int sweep_ask_anew(struct database *s, const struct sweep *w, struct err *e);
/* With its batch, unless it is skipped (b NULL). A reason that is there stays: of the trials of a
 * combination, some may run on nodes that can run them, and some not. */
int sweep_put_point(struct database *s, const struct sweep *w, const struct sweep_point *p,
		    struct trial_batch *b, struct err *e);

/* Of a combination that was put there: why it is skipped, or some of its trials are. */
int sweep_skip(struct database *s, const struct sweep *w, uint32_t combination, const char *reason,
	       struct err *e);
/* *reason NULL: it is not. */
int sweep_reason(struct database *s, const struct sweep *w, uint32_t combination, struct pool *pool,
		 const char **reason, struct err *e);

/* The uid of the batch of a combination that was put there. 1; 0: it has none; -errno. */
int sweep_batch_uid(struct database *s, const struct sweep *w, uint32_t combination, char *out,
		    size_t size, struct err *e);

/* Which of the trials 1..n of a batch are there: done[number - 1] is set. */
int sweep_done(struct database *s, const struct trial_batch *b, bool *done, int64_t n,
	       struct err *e);

/* What a combination came to: the median of the score, or of a result of that name. */
int sweep_score_of(struct database *s, const struct trial_batch *b, const struct sweep_spec *spec,
		   int64_t trials, struct sweep_score *score, struct err *e);

#endif
