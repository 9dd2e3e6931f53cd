/* SPDX-License-Identifier: Apache-2.0 */
/*
 * campaign_verdict.h - each combination of a campaign compared with the best one, as `compare` does
 * it, corrected for how many there are (Holm).
 */
#ifndef SONDE_BENCH_CAMPAIGN_CAMPAIGN_VERDICT_H
#define SONDE_BENCH_CAMPAIGN_CAMPAIGN_VERDICT_H

#include "bench/campaign/campaign.h"
#include "report/comparison/comparison.h"

enum { CAMPAIGN_LEAST = 3 /* values of the best */ };

struct campaign_verdicts {
	struct comparison_figure *of; /* [n] of a group: A is the best, B the group */
	uint32_t n;
	uint32_t best; /* n: there is none to compare with */
};

/* The best by its median; where neither more nor less is better, the first. 0 or -ENOMEM with a
 * sentence; free in either case. */
int campaign_verdicts_make(struct campaign_verdicts *x, const struct campaign *c,
			   const struct campaign_groups *groups, const struct bench_figure *f,
			   struct err *e);
void campaign_verdicts_free(struct campaign_verdicts *x);

#endif
