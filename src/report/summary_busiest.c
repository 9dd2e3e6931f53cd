/* SPDX-License-Identifier: Apache-2.0 */
/* summary_busiest.c - the process that was at work most, or waited for a core: whether it bounds
 * the others, and with which priority it ran. */
#include "base/decimal.h"
#include "report/summary_part.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double long_ratio = 0.8; /* of the run: who lived so long was there all the time */

/* Seconds at work and in run queues; 0: not known. */
static double wanted_of(const struct run *r, const struct series_index *x, uint32_t i)
{
	uint32_t cpu = run_find_metric(r, "process.cpu_seconds"),
		 queue = run_find_metric(r, "process.run_queue_seconds");
	double worked, waited;

	if (!run_final_value(r, i, "process.cpu_seconds", &worked))
		worked = series_index_last(x, r, i, cpu);
	if (!run_final_value(r, i, "process.run_queue_seconds", &waited))
		waited = series_index_last(x, r, i, queue);
	return (isnan(worked) ? 0 : worked) + (isnan(waited) ? 0 : waited);
}

static double lived_of(const struct run *r, const struct summary *s, uint32_t i)
{
	const struct run_instance *in = &r->instances[i];
	double begin = fmax(0, run_seconds(r, in->node, in->birth_ns));

	return (in->end_ns == INT64_MAX ? s->wall_s : run_seconds(r, in->node, in->end_ns)) - begin;
}

static void name_it(struct story *y, const struct run *r, uint32_t i)
{
	const char *nice = run_label(r, i, "nice"), *pid = run_label(r, i, "pid");

	y->busiest_nice = nice && *nice ? decimal_parse(nice, NULL) : 0;
	snprintf(y->busiest_process, sizeof y->busiest_process, "%s (pid %s)",
		 r->instances[i].name ? r->instances[i].name : "", pid ? pid : "?");
}

void summary_busiest_make(struct summary *s, const struct run *r, const struct series_index *x)
{
	struct story *y = &s->story;
	double all = 0, most = 0, lived = 0;
	uint32_t companions = 0;

	for (uint32_t i = 1; i < r->ninstances; i++) {
		const struct run_instance *in = &r->instances[i];
		double wanted;

		if (!in->domain || strcmp(in->domain, "process") != 0)
			continue;
		wanted = wanted_of(r, x, i);
		all += wanted;
		companions += wanted > 0 && lived_of(r, s, i) >= long_ratio * s->wall_s;
		if (!(wanted > most))
			continue;
		most = wanted;
		lived = lived_of(r, s, i);
		name_it(y, r, i);
	}
	if (!(most > 0) || !(s->wall_s > 0))
		return;
	y->busiest_share = lived >= long_ratio * s->wall_s ? most / lived : NAN;
	y->busiest_work_ratio = most / all;
	y->busiest_others_share = (all - most) / s->wall_s;
	y->busiest_companions = companions ? companions - 1 : 0;
}
