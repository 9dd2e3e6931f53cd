/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary/mpi_curves.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS_MAX = 4 << 20 };

static int curve_put(struct mpi_curve *c, int64_t at_ns, double value)
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

double mpi_curve_at(const struct mpi_curve *c, int64_t at_ns, int64_t *apart_ns)
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

void mpi_curves_free(struct mpi_curves *x)
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

static int curve_begin(struct mpi_curves *x, const struct run *r, const struct mpi *m,
		       uint32_t series, struct mpi_curve like)
{
	const char *began = run_label(r, m->rank[like.rank].instance, "began_ns");

	x->curve[x->n++] = like;
	x->of[series] = x->n;
	x->wanted[series] = 1;
	return curve_put(&x->curve[x->n - 1], strtoll(began, NULL, 10), 0);
}

/* What a series is a curve of; false: of nothing. at: of instances, see curves_make. */
static bool curve_of(const struct run *r, const struct mpi *m, uint32_t series, const uint32_t *at,
		     struct mpi_curve *out)
{
	const char *metric = r->metrics[r->series[series].metric].row.name;
	uint32_t here = at[r->series[series].instance];

	*out = (struct mpi_curve){ .scale = 1, .rank = here - 1 };
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

static int curves_choose(struct mpi_curves *x, const struct run *r, const struct mpi *m,
			 const uint32_t *at)
{
	uint64_t rows = 0;
	int rc = 0;

	for (uint32_t i = 1; i < r->nseries && !rc; i++) {
		struct mpi_curve c;

		if (!curve_of(r, m, i, at, &c))
			continue;
		rows += r->nodes[r->series[i].node].rows;
		rc = curve_begin(x, r, m, i, c);
	}
	x->every = 1 + (uint32_t)(rows / POINTS_MAX);
	return rc;
}

/* What is seen first with a row was 0 with the row before. */
static void curve_start(struct mpi_curve *c, int64_t before_ns, int64_t now_ns)
{
	if (before_ns > c->at_ns[0] && before_ns < now_ns)
		c->at_ns[0] = before_ns;
}

static int column_take(struct mpi_curves *x, const struct run *r, const struct chunk *c,
		       const struct chunk_column *column)
{
	struct mpi_curve *to = &x->curve[x->of[column->series] - 1];
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

static int curves_read(struct mpi_curves *x, struct run *r, struct err *e)
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

int mpi_curves_make(struct mpi_curves *x, const struct mpi *m, struct run *r, struct err *e)
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
