/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_phases.c - the efficiencies of each phase of the job. */
#include "report/phases/phases.h"
#include "report/summary/mpi.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	PHASES_SHOWN = 64,
	POINTS_MAX = 4 << 20,
	CLEAR = 5, /* samples of a phase at least */
};

/* ---- counters over time, between samples in proportion ---- */

/* A counter over time, from 0 when MPI began. */
struct curve {
	int64_t *at_ns;
	double *value;
	uint32_t n, cap;
	double scale; /* of what is counted to seconds */
	uint32_t rank, seen;
	enum { CURVE_ELAPSED, CURVE_INSIDE, CURVE_TRANSFER } what;
};

struct curves {
	struct curve *curve;
	uint32_t n, every; /* each so many rows are kept, and the last */
	uint32_t *of;      /* [nseries] 1 + which; 0: none */
	int64_t *row_ns;   /* [nnodes] of the last row so far */
	uint8_t *wanted;
};

static int curve_put(struct curve *c, int64_t at_ns, double value)
{
	if (c->n == c->cap) {
		uint32_t cap = c->cap ? 2 * c->cap : 64;
		int64_t *at = realloc(c->at_ns, cap * sizeof *at);
		double *values = at ? realloc(c->value, cap * sizeof *values) : NULL;

		c->at_ns = at ? at : c->at_ns;
		if (!values)
			return -ENOMEM;
		c->value = values;
		c->cap = cap;
	}
	c->at_ns[c->n] = at_ns;
	c->value[c->n++] = value * c->scale;
	return 0;
}

/* Its value at an instant; how far apart the samples around it are. */
static double curve_at(const struct curve *c, int64_t at_ns, int64_t *apart_ns)
{
	uint32_t low = 0, high = c->n;
	double part;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (c->at_ns[middle] <= at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || low == c->n)
		return !c->n ? 0 : c->value[low ? c->n - 1 : 0];
	*apart_ns = c->at_ns[low] - c->at_ns[low - 1];
	part = (double)(at_ns - c->at_ns[low - 1]) / (double)*apart_ns;
	return c->value[low - 1] + part * (c->value[low] - c->value[low - 1]);
}

static void curves_free(struct curves *x)
{
	for (uint32_t i = 0; i < x->n; i++) {
		free(x->curve[i].at_ns);
		free(x->curve[i].value);
	}
	free(x->curve);
	free(x->of);
	free(x->row_ns);
	free(x->wanted);
}

static int curve_begin(struct curves *x, const struct run *r, const struct mpi *m, uint32_t series,
		       struct curve like)
{
	const char *began = run_label(r, m->rank[like.rank].instance, "began_ns");

	x->curve[x->n++] = like;
	x->of[series] = x->n;
	x->wanted[series] = 1;
	return curve_put(&x->curve[x->n - 1], strtoll(began, NULL, 10), 0);
}

/* What a series is a curve of; false: of nothing. at: of instances, see curves_make. */
static bool curve_of(const struct run *r, const struct mpi *m, uint32_t series, const uint32_t *at,
		     struct curve *out)
{
	const char *metric = r->metrics[r->series[series].metric].row.name;
	uint32_t here = at[r->series[series].instance];

	*out = (struct curve){ .scale = 1, .rank = here - 1 };
	if (!here)
		return false;
	if (here <= m->nranks) {
		out->what =
			strcmp(metric, "mpi.rank_inside_seconds") ? CURVE_ELAPSED : CURVE_INSIDE;
		return true;
	}
	out->what = CURVE_TRANSFER;
	out->rank = m->call[here - 1 - m->nranks].rank;
	out->scale = m->call[here - 1 - m->nranks].least_s;
	return !strcmp(metric, "mpi.calls");
}

static int curves_choose(struct curves *x, const struct run *r, const struct mpi *m,
			 const uint32_t *at)
{
	uint64_t rows = 0;
	int rc = 0;

	for (uint32_t i = 1; i < r->nseries && !rc; i++) {
		struct curve c;

		if (!curve_of(r, m, i, at, &c))
			continue;
		rows += r->nodes[r->series[i].node].rows;
		rc = curve_begin(x, r, m, i, c);
	}
	x->every = 1 + (uint32_t)(rows / POINTS_MAX);
	return rc;
}

/* What is seen first with a row was 0 with the row before. */
static void curve_start(struct curve *c, int64_t before_ns, int64_t now_ns)
{
	if (before_ns > c->at_ns[0] && before_ns < now_ns)
		c->at_ns[0] = before_ns;
}

static int column_take(struct curves *x, const struct run *r, const struct chunk *c,
		       const struct chunk_column *column)
{
	struct curve *to = &x->curve[x->of[column->series] - 1];
	const struct metric *m = &r->metrics[r->series[column->series].metric].row;
	int rc = 0;

	for (uint32_t i = 0; i < c->nrows && !rc; i++) {
		if (!column->present[i] || to->seen++ % x->every)
			continue;
		if (to->n == 1)
			curve_start(to, i ? c->mono_ns[i - 1] : x->row_ns[c->node], c->mono_ns[i]);
		rc = curve_put(to, c->mono_ns[i], metric_value(m, column->value[i]));
	}
	return rc;
}

static int curves_read(struct curves *x, struct run *r, struct err *e)
{
	struct chunk c;
	int rc = r->rewind(r);

	while (!rc && (rc = r->next_chunk(r, x->wanted, &c, e)) > 0) {
		rc = 0;
		for (uint32_t i = 0; i < c.ncolumns && !rc; i++)
			if (x->of[c.column[i].series])
				rc = column_take(x, r, &c, &c.column[i]);
		if (c.nrows)
			x->row_ns[c.node] = c.mono_ns[c.nrows - 1];
	}
	return rc;
}

/* Of instances: 1 + the rank's place, or behind the ranks 1 + that of a kind of calls; 0: none. */
static void instances_find(const struct mpi *m, uint32_t *at)
{
	for (uint32_t i = 0; i < m->nranks; i++)
		at[m->rank[i].instance] = 1 + i;
	for (uint32_t i = 0; i < m->ncalls; i++)
		if (!mpi_is_begin(m->call[i].name))
			at[m->call[i].instance] = 1 + m->nranks + i;
}

static int curves_make(struct curves *x, const struct mpi *m, struct run *r, struct err *e)
{
	uint32_t *at = calloc((size_t)r->ninstances + 1, sizeof *at);
	int rc = -ENOMEM;

	x->curve = calloc(2 * (size_t)m->nranks + m->ncalls + 1, sizeof *x->curve);
	x->of = calloc((size_t)r->nseries + 1, sizeof *x->of);
	x->row_ns = calloc((size_t)r->nnodes + 1, sizeof *x->row_ns);
	x->wanted = calloc((size_t)r->nseries + 1, 1);
	if (at && x->curve && x->of && x->row_ns && x->wanted) {
		instances_find(m, at);
		rc = curves_choose(x, r, m, at);
	}
	free(at);
	return rc ? rc : curves_read(x, r, e);
}

/* ---- phases ---- */

/* What ranks have of a phase. */
struct gathering {
	struct mpi *m;
	const struct run *r;
	const struct curves *x;
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

static double rise(const struct curve *c, const struct phase *p, bool *coarse)
{
	int64_t apart_ns = 0;
	double from = curve_at(c, p->begin_ns, &apart_ns), to;

	*coarse |= apart_ns > (p->end_ns - p->begin_ns) / CLEAR;
	to = curve_at(c, p->end_ns, &apart_ns);
	*coarse |= apart_ns > (p->end_ns - p->begin_ns) / CLEAR;
	return to - from;
}

static void phase_add(struct gathering *g, const struct phase *p)
{
	uint32_t i = phase_find(g->m, p->name), n = g->m->nranks;

	if (i == PHASES_SHOWN)
		return;
	for (uint32_t c = 0; c < g->x->n; c++) {
		const struct curve *curve = &g->x->curve[c];
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
	struct curves x = { 0 };
	struct gathering g = { .m = m, .r = r, .x = &x };
	int rc;

	if (!m->nranks)
		return 0;
	rc = phase_rules_builtin(&rules, e);
	if (!rc)
		rc = phases_make_some(&phases, r, &rules, e);
	if (!rc && has_phases(&phases)) {
		rc = curves_make(&x, m, r, e);
		if (!rc)
			rc = phases_add(&g, &phases);
		if (rc == -ENOMEM)
			err_set(e, rc, "out of memory for the phases of ranks");
	}
	curves_free(&x);
	phases_free(&phases);
	phase_rules_free(&rules);
	return rc;
}
