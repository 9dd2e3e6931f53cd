/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_held.c - for which rank the others waited, over time: while it computed, they were in MPI.
 * Of two ranks, between two samples, the one that computed c seconds longer did so at least for c
 * seconds while the other one was in MPI. */
#include "base/array.h"
#include "report/summary/mpi.h"
#include "report/summary/mpi_curves.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Samples of a part of the run where ranks are on several nodes, whose samples are not at one time;
 * stretches that are kept. */
enum { APART = 16, STRETCHES = 8 };

/* What a rank had computed until each of its samples. */
struct computing {
	double *at_s, *value;
	uint32_t n;
	uint32_t at[4]; /* places for from and to, each a little earlier and later */
};

struct holding {
	struct mpi *m;
	struct computing *rank; /* [m->nranks] */
	double error_s;         /* of clocks */
	uint32_t stretch_cap;
};

static void holding_free(struct holding *h)
{
	for (uint32_t i = 0; h->rank && i < h->m->nranks; i++) {
		free(h->rank[i].at_s);
		free(h->rank[i].value);
	}
	free(h->rank);
}

/* How far clocks may be apart: the sum of the two largest errors. NAN: not known. */
static double clocks_apart(const struct mpi *m, const struct run *r)
{
	double largest = 0, second = 0;
	bool several = false;

	for (uint32_t i = 0; i < m->nranks; i++)
		several |= m->rank[i].node != m->rank[0].node;
	for (uint32_t node = 1; several && node < r->nnodes; node++) {
		double error_s = (double)r->nodes[node].clock_error_ns / 1e9;
		bool used = false;

		for (uint32_t i = 0; i < m->nranks; i++)
			used |= m->rank[i].node == node;
		if (!used)
			continue;
		if (error_s < 0)
			return NAN;
		second = fmax(second, fmin(largest, error_s));
		largest = fmax(largest, error_s);
	}
	return largest + second;
}

/* Elapsed less inside, where both were read. The first values of curves are made. */
static int computing_make(struct computing *c, const struct mpi_curve *elapsed,
			  const struct mpi_curve *inside, const struct run *r, uint32_t node)
{
	c->at_s = malloc((elapsed->n + 1u) * sizeof *c->at_s);
	c->value = malloc((elapsed->n + 1u) * sizeof *c->value);
	if (!c->at_s || !c->value)
		return -ENOMEM;
	for (uint32_t i = 1, k = 1; i < elapsed->n; i++) {
		double v;

		while (k < inside->n && inside->at_ns[k] < elapsed->at_ns[i])
			k++;
		if (k == inside->n || inside->at_ns[k] != elapsed->at_ns[i])
			continue;
		v = elapsed->value[i] - inside->value[k];
		c->at_s[c->n] = run_seconds(r, node, elapsed->at_ns[i]);
		c->value[c->n] = c->n ? fmax(v, c->value[c->n - 1]) : v;
		c->n++;
	}
	return 0;
}

/* false: of a rank too little is known. */
static int ranks_make(struct holding *h, const struct mpi_curves *x, const struct run *r,
		      bool *known)
{
	*known = true;
	for (uint32_t i = 0; i < h->m->nranks; i++) {
		const struct mpi_curve *elapsed = NULL, *inside = NULL;
		int rc;

		for (uint32_t k = 0; k < x->n; k++) {
			if (x->curve[k].rank != i)
				continue;
			elapsed = x->curve[k].what == CURVE_ELAPSED ? &x->curve[k] : elapsed;
			inside = x->curve[k].what == CURVE_INSIDE ? &x->curve[k] : inside;
		}
		if (!elapsed || !inside) {
			*known = false;
			return 0;
		}
		rc = computing_make(&h->rank[i], elapsed, inside, r, h->m->rank[i].node);
		if (rc)
			return rc;
		*known &= h->rank[i].n > 1;
	}
	return 0;
}

/* What it had computed at a time, at least, or at most: times come in order. NAN: not known. */
static double least_at(struct computing *c, uint32_t place, double at_s)
{
	uint32_t *i = &c->at[place];

	while (*i + 1 < c->n && c->at_s[*i + 1] <= at_s)
		++*i;
	return c->at_s[*i] <= at_s ? c->value[*i] : (double)NAN;
}

static double most_at(struct computing *c, uint32_t place, double at_s)
{
	uint32_t *i = &c->at[place];

	while (*i < c->n && c->at_s[*i] < at_s)
		++*i;
	return *i < c->n ? c->value[*i] : (double)NAN;
}

/* Seconds that a rank computed in a part: at least and at most. */
struct bounds {
	double least, most;
};

static struct bounds computed_in(struct computing *c, double from_s, double to_s, double error_s)
{
	double first_most = most_at(c, 0, from_s + error_s), last_most;
	double first_least = least_at(c, 1, from_s - error_s), last_least;

	last_least = least_at(c, 2, to_s - error_s);
	last_most = most_at(c, 3, to_s + error_s);
	return (struct bounds){ fmax(0, last_least - first_most), last_most - first_least };
}

static int stretch_add(struct holding *h, uint32_t rank, double from_s, double to_s, double held_s)
{
	struct mpi *m = h->m;
	struct mpi_stretch *last = m->nstretches ? &m->stretch[m->nstretches - 1] : NULL, *moved;

	if (last && last->rank == rank && from_s - last->to_s <= 2 * (to_s - from_s)) {
		last->to_s = to_s;
		last->held_s += held_s;
		return 0;
	}
	moved = array_room(m->stretch, m->nstretches, &h->stretch_cap, sizeof *moved);
	if (!moved)
		return -ENOMEM;
	m->stretch = moved;
	m->stretch[m->nstretches++] = (struct mpi_stretch){ rank, from_s, to_s, held_s };
	return 0;
}

/* One part of the run. bounds: [nranks] */
static int part_add(struct holding *h, double from_s, double to_s, struct bounds *bounds)
{
	const double matters = 0.05;
	struct mpi *m = h->m;
	double held_s = 0;
	uint32_t most = 0;

	for (uint32_t i = 0; i < m->nranks; i++) {
		bounds[i] = computed_in(&h->rank[i], from_s, to_s, h->error_s);
		if (!isfinite(bounds[i].least) || !isfinite(bounds[i].most))
			return 0;
		if (bounds[i].least + bounds[i].most > bounds[most].least + bounds[most].most)
			most = i;
	}
	for (uint32_t i = 0; i < m->nranks; i++)
		if (i != most)
			held_s += fmax(0, bounds[most].least - bounds[i].most) / (m->nranks - 1);
	m->rank[most].held_s += held_s;
	m->held_s += held_s;
	m->held_of_s += to_s - from_s;
	return held_s >= matters * (to_s - from_s) ? stretch_add(h, most, from_s, to_s, held_s) : 0;
}

static int by_held(const void *a, const void *b)
{
	const struct mpi_stretch *x = a, *y = b;

	return (x->held_s < y->held_s) - (x->held_s > y->held_s);
}

static int by_time(const void *a, const void *b)
{
	const struct mpi_stretch *x = a, *y = b;

	return (x->from_s > y->from_s) - (x->from_s < y->from_s);
}

static int parts_add(struct holding *h)
{
	struct mpi *m = h->m;
	const struct computing *first = &h->rank[0];
	struct bounds *bounds = calloc(m->nranks, sizeof *bounds);
	uint32_t every = 1;
	int rc = bounds ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < m->nranks; i++) {
		m->rank[i].held_s = 0;
		every = m->rank[i].node != m->rank[0].node ? APART : every;
	}
	m->held_s = m->held_of_s = 0;
	for (uint32_t i = 0; !rc && i + every < first->n; i += every)
		rc = part_add(h, first->at_s[i], first->at_s[i + every], bounds);
	free(bounds);
	if (m->nstretches)
		qsort(m->stretch, m->nstretches, sizeof *m->stretch, by_held);
	m->nstretches = m->nstretches < STRETCHES ? m->nstretches : STRETCHES;
	if (m->nstretches)
		qsort(m->stretch, m->nstretches, sizeof *m->stretch, by_time);
	return rc;
}

int mpi_held_make(struct mpi *m, const struct mpi_curves *x, const struct run *r)
{
	struct holding h = { .m = m, .error_s = clocks_apart(m, r) };
	bool known = false;
	int rc = 0;

	if (!isnan(m->held_s) || m->nranks < 2 || m->nranks < m->ranks || isnan(h.error_s))
		return 0;
	h.rank = calloc(m->nranks, sizeof *h.rank);
	rc = h.rank ? ranks_make(&h, x, r, &known) : -ENOMEM;
	if (!rc && known)
		rc = parts_add(&h);
	holding_free(&h);
	return rc;
}

uint32_t mpi_held_most(const struct mpi *m)
{
	uint32_t most = 0;

	for (uint32_t i = 1; i < m->nranks; i++)
		most = m->rank[i].held_s > m->rank[most].held_s ? i : most;
	return most;
}

const struct mpi_stretch *mpi_held_longest(const struct mpi *m)
{
	const struct mpi_stretch *longest = NULL;
	uint32_t most = mpi_held_most(m);

	for (uint32_t i = 0; i < m->nstretches; i++)
		if (m->stretch[i].rank == most &&
		    (!longest || m->stretch[i].held_s > longest->held_s))
			longest = &m->stretch[i];
	return longest;
}
