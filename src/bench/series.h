/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.h - a figure of trials that are alike, over time: where its level changed, and what was
 * another one on both sides.
 */
#ifndef SONDE_BENCH_SERIES_H
#define SONDE_BENCH_SERIES_H

#include "bench/campaign/campaign.h"
#include "chart/shape.h"
#include "core/statistics/change.h"
#include "report/comparison/comparison.h"

struct series {
	const struct campaign_group *group; /* borrowed */
	double *value;                      /* [n], by the time of their start */
	uint32_t *trial;                    /* [n] of the campaign */
	uint32_t n, nfailed, nwithout;      /* well, but without this figure */
	uint32_t nskipped;                  /* older than the CHANGE_MOST that are looked at */
	struct changes changes;
	/* [changes.n] what differs between the last trial that is surely before a change and the
	 * first that is surely after it. */
	struct comparison *difference;
};

/* 0 or -ENOMEM with a sentence; free in either case. */
int series_make(struct series *s, const struct campaign *c, const struct campaign_group *group,
		const struct bench_figure *f, struct err *e);
void series_free(struct series *s);

/* The trials around a change: the last of before, the first of after. */
uint32_t series_before(const struct series *s, const struct change *x);
uint32_t series_after(const struct series *s, const struct change *x);
/* "worse", "better"; "more", "less" where neither is known. */
const char *series_word(const struct bench_figure *f, const struct change *x);

/* One chart of it, in a box of a page that was begun. 0 or -ENOMEM. */
int series_draw(const struct series *s, const struct campaign *c, const struct bench_figure *f,
		struct bytes *drawing, const struct box *at);

#endif
