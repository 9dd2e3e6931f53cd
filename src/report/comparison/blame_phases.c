/* SPDX-License-Identifier: Apache-2.0 */
/* blame_phases.c - the wall time of a run, shared out among its phases. */
#include "core/phase/phase.h"
#include "report/comparison/blame.h"
#include "report/phases/phases.h"
#include "report/summary/summary.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of each run; what is less is with the others. */
enum { NAMES_TAKEN = 400 };

struct boundary {
	double at_s;
	uint32_t phase; /* from 1 */
	bool begins;
};

/* Of the phases that go on at a moment, the last of each track has a part of it. A phase gets what
 * `shared` grew by while it was the last of its own. */
struct sharing {
	const struct phases *phases;
	struct boundary *boundary;
	uint32_t nboundaries, ninstances;
	double *since_s, *seconds; /* [phases.n + 1] */
	uint32_t *before, *after;  /* [phases.n + 1]: on its track, those that go on; 0: none */
	uint32_t *last;            /* [nodes and instances]: of its track */
	uint32_t sharers;
	double shared_s, outside_s;
};

static int by_time(const void *a, const void *b)
{
	const struct boundary *x = a, *y = b;

	if (x->at_s != y->at_s)
		return x->at_s < y->at_s ? -1 : 1;
	if (x->begins != y->begins)
		return x->begins ? 1 : -1;
	return x->phase < y->phase ? -1 : x->phase > y->phase;
}

static void put_boundaries(struct sharing *s, double wall_s)
{
	for (uint32_t i = 0; i < s->phases->n; i++) {
		const struct phase *p = &s->phases->phase[i];
		double from = fmax(0, p->begin_s), to = fmin(wall_s, p->end_s); /* NAN: wall_s */

		if (!(from < to))
			continue;
		s->boundary[s->nboundaries++] = (struct boundary){ from, i + 1, true };
		s->boundary[s->nboundaries++] = (struct boundary){ to, i + 1, false };
	}
	qsort(s->boundary, s->nboundaries, sizeof *s->boundary, by_time);
}

static void gains(struct sharing *s, uint32_t phase)
{
	s->since_s[phase] = s->shared_s;
	s->sharers++;
}

static void loses(struct sharing *s, uint32_t phase)
{
	s->seconds[phase] += s->shared_s - s->since_s[phase];
	s->sharers--;
}

static uint32_t *last_of(struct sharing *s, uint32_t phase)
{
	const struct phase *p = &s->phases->phase[phase - 1];

	return &s->last[p->track ? p->track : s->ninstances + p->node];
}

static void begin(struct sharing *s, uint32_t phase)
{
	uint32_t *last = last_of(s, phase);

	if (*last)
		loses(s, *last);
	s->before[phase] = *last;
	s->after[*last] = phase;
	*last = phase;
	gains(s, phase);
}

static void end(struct sharing *s, uint32_t phase)
{
	uint32_t *last = last_of(s, phase), before = s->before[phase];

	if (*last != phase) {
		s->before[s->after[phase]] = before;
		s->after[before] = s->after[phase];
		return;
	}
	loses(s, phase);
	*last = before;
	if (before)
		gains(s, before);
}

static void share(struct sharing *s, double wall_s)
{
	double at = 0;

	put_boundaries(s, wall_s);
	for (uint32_t i = 0; i < s->nboundaries; i++) {
		const struct boundary *b = &s->boundary[i];

		if (s->sharers)
			s->shared_s += (b->at_s - at) / s->sharers;
		else
			s->outside_s += b->at_s - at;
		at = b->at_s;
		(b->begins ? begin : end)(s, b->phase);
	}
	s->outside_s += wall_s - at;
}

struct named {
	const char *name;
	double seconds;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static int by_seconds(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return x->seconds != y->seconds ? (x->seconds > y->seconds ? -1 : 1) : by_name(a, b);
}

/* Phases of one name are one part. */
static void put_names(struct blame *b, const struct sharing *s, struct named *named)
{
	uint32_t n = 0, kept = 0;

	for (uint32_t i = 0; i < s->phases->n; i++)
		named[n++] = (struct named){ s->phases->phase[i].name, s->seconds[i + 1] };
	qsort(named, n, sizeof *named, by_name);
	for (uint32_t i = 0; i < n; i++) {
		if (kept && !strcmp(named[kept - 1].name, named[i].name))
			named[kept - 1].seconds += named[i].seconds;
		else
			named[kept++] = named[i];
	}
	qsort(named, kept, sizeof *named, by_seconds);
	for (uint32_t i = 0; i < kept; i++)
		blame_put(b, BLAME_PHASE, i < NAMES_TAKEN ? BLAME_NAMED : BLAME_OTHERS,
			  i < NAMES_TAKEN ? named[i].name : "other phases", "", named[i].seconds);
	blame_put(b, BLAME_PHASE, BLAME_OUTSIDE, "outside of phases", "", s->outside_s);
}

static void put_phases(struct blame *b, const struct run *r, const struct phases *p, double wall_s)
{
	struct sharing s = { .phases = p,
			     .ninstances = r->ninstances + 1,
			     .boundary = calloc(2u * p->n + 1u, sizeof *s.boundary),
			     .since_s = calloc(p->n + 1u, sizeof *s.since_s),
			     .seconds = calloc(p->n + 1u, sizeof *s.seconds),
			     .before = calloc(p->n + 1u, sizeof *s.before),
			     .after = calloc(p->n + 1u, sizeof *s.after),
			     .last = calloc(r->ninstances + r->nnodes + 2u, sizeof *s.last) };
	struct named *named = calloc(p->n + 1u, sizeof *named);

	b->failed |= !s.boundary || !s.since_s || !s.seconds || !s.before || !s.after || !s.last ||
		     !named;
	if (!b->failed) {
		share(&s, wall_s);
		put_names(b, &s, named);
	}
	free(s.boundary);
	free(s.since_s);
	free(s.seconds);
	free(s.before);
	free(s.after);
	free(s.last);
	free(named);
}

bool blame_add_phases(struct blame *b, int side, const struct run *r, const struct summary *s)
{
	struct phase_rules rules = { 0 };
	struct phases phases = { 0 };
	bool any = false;
	struct err e;
	int rc;

	if ((r->nmarks < 2 && r->nspans < 2 && !r->npacked) || !(s->wall_s > 0))
		return false;
	rc = phase_rules_builtin(&rules, &e);
	if (!rc)
		rc = phases_make_some(&phases, r, &rules, &e);
	b->failed |= rc == -ENOMEM;
	if (!rc && phases.n) {
		blame_add_run(b, &(struct blame_run){ .side = side,
						      .at = s->start_utc_ns,
						      .whole_s = s->wall_s,
						      .exact = true,
						      .period_s = INFINITY,
						      .period_ns = NAN });
		put_phases(b, r, &phases, s->wall_s);
		any = true;
	}
	phases_free(&phases);
	phase_rules_free(&rules);
	return any;
}
