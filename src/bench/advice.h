/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice.h - which parameters and software are best for an indicator on one machine, as far as
 * trials show it, and what to try next.
 *
 * A candidate is what was tried: parameters with a stack (component, script, interpreter,
 * packages). The one that leads, which has ADVICE_LEAST trials at least, is compared with each
 * other (core/statistics/compare.h), with Holm's correction for their number, as in multiple
 * comparisons with the best (Hsu 1984, Annals of Statistics 12, 1136). It is a winner when it is
 * shown to be better than each; what is shown to be the same is a tie. What is positive is compared
 * by its logarithms, so that intervals are of ratios. Deterministic. Failed trials decide nothing.
 */
#ifndef SONDE_BENCH_ADVICE_H
#define SONDE_BENCH_ADVICE_H

#include "bench/campaign/campaign.h"
#include "core/statistics/compare.h"

enum standing {
	STANDING_LEADS = 0,
	STANDING_SAME,    /* shown to be the same as the one that leads */
	STANDING_OPEN,    /* not told from it yet */
	STANDING_WORSE,   /* shown to be */
	STANDING_REFUSED, /* breaks a constraint */
	STANDING_UNKNOWN, /* says nothing of what a constraint is about */
	STANDING_FAILED,  /* no trial ended well with the figure */
	STANDING_NUMBER_OF
};

struct candidate {
	const struct campaign_group *group; /* borrowed */
	double *value;                      /* [n] */
	int64_t *at;                        /* [n] */
	uint32_t n, nfailed;
	const char *reason; /* of its last failure; hostile */
	const char *broken; /* the constraint; borrowed */
	enum standing standing;
	double centre; /* of logarithms the mean is a geometric one */
	/* By how much it is more than the one that leads, as a share of that, and its interval;
	 * NAN: not known, or it has no meaning. The interval allows for drift and for none. */
	double change, low, high;
	struct compared against; /* a: the one that leads, b: this one; maybe of logarithms */
	double p;                /* corrected */
	uint32_t more;           /* trials it needs to be told from it; 0: not known, or none */
	bool hopeless;           /* these are more than ADVICE_MOST */
};

enum advice_verdict {
	ADVICE_NOTHING = 0, /* no candidate that may be taken */
	ADVICE_SINGLE,      /* only one was tried */
	ADVICE_UNDECIDED,
	ADVICE_TIE,
	ADVICE_WINNER,
	ADVICE_NUMBER_OF
};

/* ADVICE_LEAST: trials of which something may be shown. */
/* ADVICE_MOST: more of a candidate are not proposed. */
enum { ADVICE_STEPS = 8, ADVICE_CONSTRAINTS = 16, ADVICE_LEAST = 3, ADVICE_MOST = 200 };

/* What to try next. */
struct advice_step {
	uint32_t candidate; /* what it is about */
	uint32_t repeats;
	const char *parameter,
		*value; /* NULL: the candidate as it is; else with this one changed */
	char why[200];
};

struct advice_wish {
	const struct campaign_condition *constraint;
	const char *const *text; /* of each constraint */
	uint32_t nconstraints;
	double margin; /* a smaller difference does not matter; as 0.05 */
	bool more_is_better;
};

struct advice {
	struct candidate *candidate; /* best first; those that may not be taken last */
	uint32_t n, ntaken;
	bool logs; /* values are compared by their logarithms */
	enum advice_verdict verdict;
	uint32_t nsilent; /* failed trials that did not say what they were */
	struct advice_step step[ADVICE_STEPS];
	uint32_t nsteps;
	struct pool pool;
};

/* Of groups that campaign_group made; 0 or -ENOMEM with a sentence. Free in either case. */
int advice_make(struct advice *a, const struct campaign *c, const struct campaign_groups *groups,
		const struct bench_figure *f, const struct advice_wish *w, struct err *e);
void advice_free(struct advice *a);

const char *standing_name(enum standing s);
const char *advice_verdict_name(enum advice_verdict v);

#endif
