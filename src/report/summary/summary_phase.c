/* SPDX-License-Identifier: Apache-2.0 */
/* summary_phase.c - which phase of the job's own (spans, paired marks), or mark, the longest
 * stretch of work for one core belongs to. */
#include "report/phases/phases.h"
#include "report/summary/summary_part.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The shortest of those that have half of the stretch. */
static const struct phase *phase_of(const struct phases *p, double from_s, double to_s)
{
	const struct phase *found = NULL;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct phase *x = &p->phase[i];
		double both = fmin(to_s, x->end_s) - fmax(from_s, x->begin_s);

		if (isnan(x->end_s) || !(both >= (to_s - from_s) / 2))
			continue;
		if (!found || x->end_s - x->begin_s < found->end_s - found->begin_s)
			found = x;
	}
	return found;
}

/* The last one before the middle of the stretch that is the job's. */
static const char *mark_of(const struct run *r, double from_s, double to_s)
{
	const char *found = NULL;

	for (uint32_t i = 1; i < r->nmarks; i++) {
		const struct run_mark *m = &r->marks[i];

		if (m->name && strncmp(m->name, "sonde.", 6) != 0 &&
		    run_seconds(r, m->node, m->at_ns) <= (from_s + to_s) / 2)
			found = m->name;
	}
	return found;
}

static void add(struct story *y, const char *before, const char *name)
{
	size_t n = strlen(y->serial_process);

	snprintf(y->serial_process + n, sizeof y->serial_process - n, "%s%s%.60s", n ? ", " : "",
		 before, name);
}

int summary_phase_make(struct summary *s, const struct run *r)
{
	struct story *y = &s->story;
	struct phase_rules rules = { 0 };
	struct phases phases = { 0 };
	const struct phase *phase;
	const char *mark;
	struct err e;
	int rc = 0;

	if (!(y->serial_to_s > y->serial_from_s) || (r->nmarks < 2 && r->nspans < 2))
		return 0;
	rc = phase_rules_builtin(&rules, &e);
	if (!rc)
		rc = phases_make(&phases, r, &rules, &(struct phase_wish){ 0 }, &e);
	phase = rc ? NULL : phase_of(&phases, y->serial_from_s, y->serial_to_s);
	mark = mark_of(r, y->serial_from_s, y->serial_to_s);
	if (phase)
		add(y, "in phase ", phase->name);
	else if (mark)
		add(y, "after the mark ", mark);
	phases_free(&phases);
	phase_rules_free(&rules);
	return rc == -ENOMEM ? rc : 0;
}
