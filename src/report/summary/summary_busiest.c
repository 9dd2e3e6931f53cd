/* SPDX-License-Identifier: Apache-2.0 */
/* summary_busiest.c - the process that was at work most, or waited for a core: whether it bounds
 * the others, and with which priority it ran. */
#include "base/text/decimal.h"
#include "report/summary/summary_part.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double long_ratio = 0.8; /* of the run: who lived so long was there all the time */

/* Of a counter; 0: not known. */
static double last_of(const struct run *r, const struct series_index *x, uint32_t i,
		      const char *metric)
{
	double v;

	if (!run_final_value(r, i, metric, &v))
		v = series_index_last(x, r, i, run_find_metric(r, metric));
	return isnan(v) ? 0 : v;
}

static double waited_of(const struct run *r, const struct series_index *x, uint32_t i)
{
	return last_of(r, x, i, "process.run_queue_seconds");
}

/* Seconds at work and in run queues. */
static double wanted_of(const struct run *r, const struct series_index *x, uint32_t i)
{
	return last_of(r, x, i, "process.cpu_seconds") + waited_of(r, x, i);
}

static double lived_of(const struct run *r, const struct summary *s, uint32_t i)
{
	const struct run_instance *in = &r->instances[i];
	double begin = fmax(0, run_seconds(r, in->node, in->birth_ns));

	return (in->end_ns == INT64_MAX ? s->wall_s : run_seconds(r, in->node, in->end_ns)) - begin;
}

static double nice_of(const struct run *r, uint32_t i)
{
	const char *nice = run_label(r, i, "nice");

	return nice && *nice ? decimal_parse(nice, NULL) : 0;
}

static void name_it(char name[STORY_TEXT], const struct run *r, uint32_t i)
{
	const char *pid = run_label(r, i, "pid");

	snprintf(name, STORY_TEXT, "%s (pid %s)", r->instances[i].name ? r->instances[i].name : "",
		 pid ? pid : "?");
}

/* What does not live to the end is not what the job waits for. */
static void look_at_priority(struct summary *s, const struct run *r, const struct series_index *x,
			     uint32_t i)
{
	static const double last_ratio = 0.95; /* of the run */
	const struct run_instance *in = &r->instances[i];
	double nice = nice_of(r, i), waited = waited_of(r, x, i);
	struct story *y = &s->story;

	if (!(nice >= 1) || !(waited >= lived_of(r, s, i) / 2) || waited <= y->starved_s)
		return;
	if (in->end_ns != INT64_MAX &&
	    run_seconds(r, in->node, in->end_ns) < last_ratio * s->wall_s)
		return;
	y->starved_nice = nice;
	y->starved_s = waited;
	name_it(y->starved_process, r, i);
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
		look_at_priority(s, r, x, i);
		wanted = wanted_of(r, x, i);
		all += wanted;
		companions += wanted > 0 && lived_of(r, s, i) >= long_ratio * s->wall_s;
		if (!(wanted > most))
			continue;
		most = wanted;
		lived = lived_of(r, s, i);
		y->busiest_nice = nice_of(r, i);
		name_it(y->busiest_process, r, i);
	}
	if (!(most > 0) || !(s->wall_s > 0))
		return;
	y->busiest_share = lived >= long_ratio * s->wall_s ? most / lived : NAN;
	y->busiest_work_ratio = most / all;
	y->busiest_others_share = (all - most) / s->wall_s;
	y->busiest_companions = companions ? companions - 1 : 0;
}
