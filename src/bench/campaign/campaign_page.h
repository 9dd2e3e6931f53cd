/* SPDX-License-Identifier: Apache-2.0 */
/*
 * campaign_page.h - trials of an indicator as a page of HTML: a chart for each parameter, time
 * against energy and memory with the front of what nothing beats in both, and a table.
 *
 * One file that asks nobody for anything. It reads without a script, which sorts and filters the
 * table. Every text of a trial is escaped.
 */
#ifndef SONDE_BENCH_CAMPAIGN_CAMPAIGN_PAGE_H
#define SONDE_BENCH_CAMPAIGN_CAMPAIGN_PAGE_H

#include "bench/campaign/campaign.h"

/* Groups: parameters, hardware and software. 0 or -errno with a sentence. */
int campaign_page_make(struct bytes *out, const struct campaign *c,
		       const struct campaign_groups *groups, const struct bench_figure *f,
		       struct err *e);

/* For campaign_page.c: the charts, as HTML with SVG. */
void campaign_chart_parameters(struct bytes *b, const struct campaign *c,
			       const struct campaign_groups *groups, const struct bench_figure *f);
void campaign_chart_front(struct bytes *b, const struct campaign *c,
			  const struct campaign_groups *groups);
/* Of a group's trials; NAN: none has it. f NULL: no trial has. */
double campaign_median(const struct campaign *c, const struct campaign_group *g,
		       const struct bench_figure *f);
/* Does it differ between the trials that are not left out? */
bool campaign_differs(const struct campaign *c, const struct campaign_groups *groups,
		      const char *name);

#endif
