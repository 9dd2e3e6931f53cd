/* SPDX-License-Identifier: Apache-2.0 */
/* summary_hang.c - what a watch for hangs has marked: sonde.hang when it began, sonde.progress when
 * it was over. */
#include "core/stacks/stall.h"
#include "report/summary/summary_part.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A sentence has no room for all: "a (pid 1) sleeps; b (pid 2) sle" ends with the last whole one.
 */
static void cut_at_process(char *evidence)
{
	char *last = strrchr(evidence, ';');

	if (last)
		*last = '\0';
}

/* A stack of which more is known ends with "...", which needs no full stop; a text for which there
 * was no room, with ";". */
static const char *full_stop(const char *where)
{
	char last = where[strlen(where) - 1];

	return last == '.' ? "" : last == ';' ? " and more." : ".";
}

/* In which functions they were, and who waits for whom, before what to do; nobody needs a debugger
 * for what is known. */
static void advise(char out[STORY_WHERE], const char *evidence, const char *where)
{
	const char *advice = stall_advice(evidence ? evidence : "");

	if (!where || !*where)
		snprintf(out, STORY_WHERE, "%s", advice);
	else if (!*advice || strstr(advice, "gdb -p"))
		snprintf(out, STORY_WHERE, "%.*s%s", STORY_WHERE - 16, where, full_stop(where));
	else
		snprintf(out, STORY_WHERE, "%.*s%s %s", STORY_WHERE / 8 * 7, where,
			 full_stop(where), advice);
}

struct hanging {
	double from_s;
	const char *evidence, *where;
};

static void tell(struct story *y, const struct hanging *h, double to_s)
{
	double from_s = h->from_s;
	const char *evidence = h->evidence;

	if (to_s - from_s <= y->hang_s)
		return;
	y->hang_s = to_s - from_s;
	y->hang_from_s = from_s;
	y->hang_to_s = to_s;
	snprintf(y->hang_evidence, sizeof y->hang_evidence, "%s", evidence ? evidence : "");
	if (evidence && strlen(evidence) >= sizeof y->hang_evidence)
		cut_at_process(y->hang_evidence);
	advise(y->hang_advice, evidence, h->where);
}

/* Marks are in the order of time within a node. A hang is marked when it has lasted so long. */
static void tell_node(struct story *y, const struct run *r, uint32_t node, double patience_s)
{
	struct hanging h = { .from_s = NAN };

	for (uint32_t i = 1; i < r->nmarks; i++) {
		const struct run_mark *m = &r->marks[i];
		double at = run_seconds(r, m->node, m->at_ns);

		if (m->node != node || !m->name)
			continue;
		if (strcmp(m->name, "sonde.hang") == 0) {
			h = (struct hanging){ fmax(0, at - patience_s), m->message, NULL };
			y->hangs++;
		} else if (strcmp(m->name, "sonde.hang.where") == 0) {
			h.where = m->message;
		} else if (strcmp(m->name, "sonde.progress") == 0 && !isnan(h.from_s)) {
			tell(y, &h, at);
			h = (struct hanging){ .from_s = NAN };
		}
	}
	if (!isnan(h.from_s))
		tell(y, &h, run_seconds(r, node, r->nodes[node].last_ns));
}

/* The job was silent at its end when all of its nodes were; the one that was for longest says what
 * it waited for. */
static void tell_silence(struct story *y, const struct run *r, double wall_s)
{
	double least = INFINITY, most = 0;

	for (uint32_t i = 1; i < r->nnodes; i++) {
		const struct run_meta *silent = run_find_meta(r, i, "job.silent_ns");
		const char *in = run_find_text(r, i, "job.silent_in");
		double seconds =
			silent && silent->type == META_INT ? (double)silent->value * 1e-9 : 0;

		least = fmin(least, seconds);
		if (!in || seconds <= most)
			continue;
		most = seconds;
		snprintf(y->silent_in, sizeof y->silent_in, "%s", in);
		if (strlen(in) >= sizeof y->silent_in)
			cut_at_process(y->silent_in);
		advise(y->silent_advice, y->silent_in, run_find_text(r, i, "job.silent_where"));
	}
	if (most > 0 && least > 0)
		y->silent_s = fmin(least, wall_s);
}

/* Without a watch nothing is known; with one, no mark is no hang. */
void summary_hang_make(struct summary *s, const struct run *r)
{
	const struct run_meta *watch = run_find_meta(r, 0, "run.watch_hang_ns");
	struct story *y = &s->story;

	tell_silence(y, r, s->wall_s);
	if (!watch || watch->type != META_INT)
		return;
	y->hang_s = y->hangs = 0;
	for (uint32_t i = 1; i < r->nnodes; i++)
		tell_node(y, r, i, (double)watch->value * 1e-9);
}
