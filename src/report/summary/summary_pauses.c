/* SPDX-License-Identifier: Apache-2.0 */
/* summary_pauses.c - what the job waited for while it did little; how often it woke meanwhile, and
 * what a script starts again and again. */
#include "report/summary/summary_part.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A job that uses less in a window rests in it, where it did not wait for others' cores. */
static const double resting_cores = 0.25, waiting_cores = 0.5;

static double meta_seconds(const struct run *r, uint32_t node, const char *key)
{
	const struct run_meta *m = run_find_meta(r, node, key);

	return m && m->type == META_INT && m->value > 0 ? (double)m->value * 1e-9 : 0;
}

/* The node that waited longest speaks. */
static void take_kind(struct story *y, const struct run *r, enum stall kind)
{
	struct story_wait *w = &y->wait[kind];
	char key[64];

	for (uint32_t i = 1; i < r->nnodes; i++) {
		const char *in;
		double seconds;

		snprintf(key, sizeof key, "job.waited.%s_ns", stall_name(kind));
		seconds = meta_seconds(r, i, key);
		snprintf(key, sizeof key, "job.waited.%s_in", stall_name(kind));
		in = run_find_text(r, i, key);
		if (!in || !(seconds > w->seconds))
			continue;
		w->seconds = seconds;
		snprintf(w->in, sizeof w->in, "%s", in);
	}
}

static int by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median of the windows in which it rested. */
static double wakes(const struct summary *s)
{
	const struct timeline *t = &s->timeline;
	const struct timeline_row *cores = timeline_find(t, summary_cores_metric);
	const struct timeline_row *switches = timeline_find(t, "job.voluntary_switches_per_second");
	const struct timeline_row *waited = timeline_find(t, summary_waited_metric);
	double rate[TIMELINE_WINDOWS];
	uint32_t n = 0;

	for (uint32_t i = 0; cores && switches && i < t->nwindows && n < TIMELINE_WINDOWS; i++)
		if (cores->value[i] < resting_cores && !isnan(switches->value[i]) &&
		    !(waited && waited->value[i] >= waiting_cores))
			rate[n++] = switches->value[i];
	if (!n)
		return NAN;
	qsort(rate, n, sizeof *rate, by_number);
	return rate[n / 2];
}

static const struct summary_command *command_named(const struct summary *s, const char *name)
{
	for (uint32_t i = 0; i < s->ncommands; i++)
		if (!strcmp(s->commands[i].name, name))
			return &s->commands[i];
	return NULL;
}

/* The command that is started about as often as sleep: what is asked before each sleep. */
static const struct summary_command *asked_between(const struct summary *s, double sleeps)
{
	const struct summary_command *best = NULL;

	for (uint32_t i = 0; i < s->ncommands; i++) {
		const struct summary_command *c = &s->commands[i];

		if (!strcmp(c->name, "sleep") || c->processes < sleeps - 2 ||
		    c->processes > 1.2 * sleeps + 2)
			continue;
		if (!best || c->cpu_s > best->cpu_s)
			best = c;
	}
	return best;
}

/* "; a script starts sleep 12 times, and curl 12 times" */
static void tell_loop(struct summary *s)
{
	enum { LEAST = 4 };
	const struct summary_command *sleep = command_named(s, "sleep"), *asked;
	struct story *y = &s->story;
	char with[96] = "";

	if (!sleep || !(sleep->processes >= LEAST))
		return;
	y->sleeps = sleep->processes;
	asked = asked_between(s, sleep->processes);
	if (asked)
		snprintf(with, sizeof with, ", %.60s %.0f times", asked->name, asked->processes);
	snprintf(y->polled_with, sizeof y->polled_with, "; a script started sleep %.0f times%s.",
		 sleep->processes, with);
}

/* Programs that take long to start, and how much CPU time a start takes at most, about. */
static const struct {
	const char *begins;
	double start_s;
} starters[] = {
	{ "python", 0.2 },  { "perl", 0.05 }, { "ruby", 0.15 }, { "node", 0.15 },  { "php", 0.1 },
	{ "Rscript", 0.5 }, { "R", 0.5 },     { "java", 0.8 },  { "julia", 0.8 },  { "octave", 1 },
	{ "matlab", 8 },    { "MATLAB", 8 },  { "mono", 0.3 },  { "dotnet", 0.3 }, { "guile", 0.1 },
};

/* 0: it is none of them. "python3.11 train.py" begins with python, and R is no Rocket. */
static double start_of(const char *name)
{
	for (size_t i = 0; i < sizeof starters / sizeof starters[0]; i++) {
		size_t n = strlen(starters[i].begins);

		if (!strncmp(name, starters[i].begins, n) &&
		    strspn(name + n, "0123456789.") == strcspn(name + n, " "))
			return starters[i].start_s;
	}
	return 0;
}

/* What forks is of the same name as its children, which are not started anew. */
static bool lived_long(const struct summary *s, const char *name)
{
	for (uint32_t i = 0; i < s->nprocesses; i++) {
		const struct summary_process *p = &s->processes[i];
		double end = isnan(p->end_s) ? s->wall_s : p->end_s;

		if (p->name && !strcmp(p->name, name) && end - p->start_s > s->wall_s / 2)
			return true;
	}
	return false;
}

/* Of those whose processes do little more than start, the one that used most CPU time. */
static void tell_starts(struct summary *s)
{
	struct story *y = &s->story;

	for (uint32_t i = 0; i < s->ncommands; i++) {
		const struct summary_command *c = &s->commands[i];
		double most = start_of(c->name) * c->processes;

		if (!(c->cpu_s <= most) || lived_long(s, c->name) ||
		    (y->starts > 0 && c->cpu_s <= y->starts_cpu_s))
			continue;
		y->starts = c->processes;
		y->starts_cpu_s = c->cpu_s;
		snprintf(y->starts_command, sizeof y->starts_command, "%s", c->name);
	}
}

/* Of all kinds; without a watch nothing is known. */
static void tell_kinds(struct story *y, const struct run *r)
{
	const struct run_meta *watch = run_find_meta(r, 0, "run.watch_hang_ns");
	int longest = STALL_NONE;

	if (!watch || watch->type != META_INT || !watch->value)
		return;
	for (int kind = STALL_NONE; kind < STALL_NUMBER_OF; kind++) {
		y->wait[kind].seconds = 0;
		take_kind(y, r, (enum stall)kind);
		if (y->wait[kind].seconds > y->wait[longest].seconds)
			longest = kind;
	}
	if (longest != STALL_NONE)
		snprintf(y->idle_in, sizeof y->idle_in, "; meanwhile %s.", y->wait[longest].in);
}

void summary_pauses_make(struct summary *s, const struct run *r)
{
	tell_kinds(&s->story, r);
	s->story.wakes_per_s = wakes(s);
	tell_loop(s);
	tell_starts(s);
}
