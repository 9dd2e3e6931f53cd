/* SPDX-License-Identifier: Apache-2.0 */
/* summary_oom.c - who was killed for want of memory, when, and how it grew before. */
#include "base/text/decimal.h"
#include "report/summary/summary_part.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WINDOWS_BEFORE = 10 };

/* The window of the first kill; nwindows: none. */
static uint32_t kill_window(const struct timeline *t)
{
	const struct timeline_row *kills = timeline_find(t, summary_kills_metric);
	uint32_t i = 0;

	if (!kills)
		return t->nwindows;
	while (i < t->nwindows && !(kills->value[i] > 0))
		i++;
	return i;
}

/* From the least of the windows before it: there it began to grow. */
static void tell_growth(struct story *y, const struct timeline *t, uint32_t killed)
{
	const struct timeline_row *memory = timeline_find(t, summary_memory_metric);
	uint32_t begin = killed > WINDOWS_BEFORE ? killed - WINDOWS_BEFORE : 0;
	uint32_t least = t->nwindows, most = t->nwindows;

	for (uint32_t i = begin; memory && i <= killed; i++) {
		if (isnan(memory->value[i]))
			continue;
		if (most == t->nwindows || memory->value[i] >= memory->value[most])
			most = i;
	}
	for (uint32_t i = begin; most < t->nwindows && i < most; i++)
		if (!isnan(memory->value[i]) &&
		    (least == t->nwindows || memory->value[i] < memory->value[least]))
			least = i;
	if (least >= most)
		return;
	y->oom_from_s = t->from_s + least * t->width_s;
	y->oom_from_bytes = memory->value[least];
	y->oom_bytes_per_s =
		(memory->value[most] - memory->value[least]) / ((most - least) * t->width_s);
}

static double peak_of(const struct run *r, const struct series_index *x, uint32_t i, uint32_t rss)
{
	double peak;

	return run_final_value(r, i, "process.peak_resident_bytes", &peak)
		       ? peak
		       : series_index_max(x, r, i, rss);
}

/* The host where the kernel killed most; NULL: where is not known. */
static const struct summary_host *host_of_kills(const struct summary *s)
{
	const struct summary_host *found = NULL;

	for (uint32_t i = 0; i < s->nhosts; i++)
		if (s->hosts[i].oom_kills > (found ? found->oom_kills : 0))
			found = &s->hosts[i];
	return found;
}

/* The kernel takes the largest; it ended when the count rose. */
static void tell_victim(struct story *y, const struct run *r, const struct series_index *x,
			const char *host, double slack_s)
{
	uint32_t rss = run_find_metric(r, "process.resident_bytes"), victim = 0;
	double most = 0;
	const char *pid;

	for (uint32_t i = 1; i < r->ninstances; i++) {
		const struct run_instance *in = &r->instances[i];
		double end, peak;

		if (!in->domain || strcmp(in->domain, "process") != 0 || in->end_ns == INT64_MAX)
			continue;
		if (host && strcmp(r->nodes[in->node].host, host) != 0)
			continue;
		end = run_seconds(r, in->node, in->end_ns);
		peak = peak_of(r, x, i, rss);
		if (fabs(end - y->oom_s) > slack_s || !(peak > most))
			continue;
		most = peak;
		victim = i;
	}
	if (!victim)
		return;
	pid = run_label(r, victim, "pid");
	y->oom_pid = pid && *pid ? decimal_parse(pid, NULL) : NAN;
	y->oom_s = run_seconds(r, r->instances[victim].node, r->instances[victim].end_ns);
	y->oom_held_bytes = most;
	snprintf(y->oom_process, sizeof y->oom_process, "%s",
		 r->instances[victim].name ? r->instances[victim].name : "");
	snprintf(y->oom_host, sizeof y->oom_host, "%s", r->nodes[r->instances[victim].node].host);
}

void summary_oom_make(struct summary *s, const struct run *r, const struct series_index *x)
{
	const struct timeline *t = &s->timeline;
	const struct summary_host *host = host_of_kills(s);
	uint32_t killed = kill_window(t);

	if (host) {
		snprintf(s->story.oom_host, sizeof s->story.oom_host, "%s", host->host);
		s->story.oom_limit_bytes = host->limit_bytes;
	}
	if (killed >= t->nwindows)
		return;
	s->story.oom_s = t->from_s + (killed + 0.5) * t->width_s;
	tell_growth(&s->story, t, killed);
	tell_victim(&s->story, r, x, host ? host->host : NULL, 1.5 * t->width_s);
}
