/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_phases.c - the efficiencies of each phase of the job. */
#include "report/phases/phases.h"
#include "report/summary/mpi.h"
#include "report/summary/mpi_curves.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	PHASES_SHOWN = 64,
	CLEAR = 5, /* samples of a phase at least */
};

/* ---- phases ---- */

/* What ranks have of a phase. */
struct gathering {
	struct mpi *m;
	const struct run *r;
	const struct mpi_curves *x;
	struct mpi_share *share; /* [PHASES_SHOWN][nranks] */
	bool *has, *coarse;      /* likewise; coarse: of phases: samples are too far apart */
};

/* Long calls are spans as well. */
static bool is_a_call(const struct phase *p)
{
	return !strncmp(p->name, "MPI_", strlen("MPI_"));
}

/* Its place; PHASES_SHOWN: there is none left. */
static uint32_t phase_find(struct mpi *m, const char *name)
{
	uint32_t i = 0;

	while (i < m->nphases && strcmp(m->phase[i].name, name) != 0)
		i++;
	if (i == m->nphases && i < PHASES_SHOWN)
		snprintf(m->phase[m->nphases++].name, PHASE_NAME_MAX, "%s", name);
	return i;
}

/* It is of one rank, by its thread's label, or of all of its node. */
static bool is_of_rank(const struct gathering *g, const struct phase *p, uint32_t rank)
{
	const struct mpi_rank *x = &g->m->rank[rank];
	const char *label = p->track ? run_label(g->r, p->track, "rank") : NULL;

	if (x->node != p->node)
		return false;
	return !label || strtoul(label, NULL, 10) == x->rank;
}

static double rise(const struct mpi_curve *c, const struct phase *p, bool *coarse)
{
	int64_t apart_ns = 0;
	double from = mpi_curve_at(c, p->begin_ns, &apart_ns), to;

	*coarse |= apart_ns > (p->end_ns - p->begin_ns) / CLEAR;
	to = mpi_curve_at(c, p->end_ns, &apart_ns);
	*coarse |= apart_ns > (p->end_ns - p->begin_ns) / CLEAR;
	return to - from;
}

static void phase_add(struct gathering *g, const struct phase *p)
{
	uint32_t i = phase_find(g->m, p->name), n = g->m->nranks;

	if (i == PHASES_SHOWN)
		return;
	for (uint32_t c = 0; c < g->x->n; c++) {
		const struct mpi_curve *curve = &g->x->curve[c];
		struct mpi_share *s = &g->share[i * n + curve->rank];
		double more;

		if (!is_of_rank(g, p, curve->rank))
			continue;
		more = rise(curve, p, &g->coarse[i]);
		g->has[i * n + curve->rank] = true;
		s->elapsed_s += curve->what == CURVE_ELAPSED ? more : 0;
		s->inside_s += curve->what == CURVE_INSIDE ? more : 0;
		s->transfer_s += curve->what == CURVE_TRANSFER ? more : 0;
	}
}

/* Of the ranks that have it. What is not measured finely enough has no efficiencies. */
static void phase_end(struct gathering *g, uint32_t i)
{
	struct mpi_phase *x = &g->m->phase[i];
	struct mpi_share *s = &g->share[(size_t)i * g->m->nranks];
	uint32_t n = 0;

	for (uint32_t rank = 0; rank < g->m->nranks; rank++)
		if (g->has[(size_t)i * g->m->nranks + rank] && s[rank].elapsed_s > 0)
			s[n++] = s[rank];
	x->nranks = n;
	for (uint32_t rank = 0; rank < n; rank++)
		x->elapsed_s = fmax(x->elapsed_s, s[rank].elapsed_s);
	x->pop = mpi_pop_of(s, g->coarse[i] ? 0 : n);
}

static int phases_add(struct gathering *g, const struct phases *p)
{
	size_t cells = (size_t)PHASES_SHOWN * g->m->nranks;
	int rc = -ENOMEM;

	g->share = calloc(cells, sizeof *g->share);
	g->has = calloc(cells, sizeof *g->has);
	g->coarse = calloc(PHASES_SHOWN, sizeof *g->coarse);
	free(g->m->phase);
	g->m->phase = calloc(PHASES_SHOWN, sizeof *g->m->phase);
	if (g->share && g->has && g->coarse && g->m->phase) {
		for (uint32_t i = 0; i < p->n; i++)
			if (p->phase[i].end_ns < INT64_MAX && !is_a_call(&p->phase[i]))
				phase_add(g, &p->phase[i]);
		for (uint32_t i = 0; i < g->m->nphases; i++)
			phase_end(g, i);
		rc = 0;
	}
	free(g->share);
	free(g->has);
	free(g->coarse);
	return rc;
}

static bool has_phases(const struct phases *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (!is_a_call(&p->phase[i]))
			return true;
	return false;
}

int mpi_phases_make(struct mpi *m, struct run *r, struct err *e)
{
	struct phase_rules rules = { 0 };
	struct phases phases = { 0 };
	struct mpi_curves x = { 0 };
	struct gathering g = { .m = m, .r = r, .x = &x };
	int rc;

	if (!m->nranks)
		return 0;
	rc = phase_rules_builtin(&rules, e);
	if (!rc)
		rc = phases_make_some(&phases, r, &rules, e);
	if (!rc)
		rc = mpi_curves_make(&x, m, r, e);
	if (!rc)
		rc = mpi_held_make(m, &x, r);
	if (!rc && has_phases(&phases))
		rc = phases_add(&g, &phases);
	if (rc == -ENOMEM)
		err_set(e, rc, "out of memory for the phases of ranks");
	mpi_curves_free(&x);
	phases_free(&phases);
	phase_rules_free(&rules);
	return rc;
}
