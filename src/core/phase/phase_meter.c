/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phase_meter.c - one pass over the run: of each metric of a node, its integral up to each instant
 * at which a phase begins or ends, and its most between two of them. What a phase had is a
 * difference.
 */
#include "core/phase/phase_meter.h"

#include "core/describe.h"
#include "core/frame/derive.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the time that is known, what readings make up that lie within altogether. */
static const double inner_least = 0.5;

/* One metric of a node at its instants. */
struct course {
	uint32_t metric;
	uint32_t next;                /* the first instant that no reading has reached */
	double until_s, sum, known_s; /* so far */
	double *sum_at, *known_at;    /* [n instants] */
	double *before, *after;       /* [n instants] of the reading that it divides, seconds */
	double *most;                 /* [n instants] from this one to the next; NAN: no reading */
	double *highest; /* a tree over most, which ends it: [i] of [2i] and [2i + 1] */
};

struct node_course {
	double *at;                  /* instants, sorted, each once */
	uint32_t n, first, ncourses; /* course[first..first + ncourses) */
};

struct metering {
	struct derive derive;
	struct node_course *node; /* [run.nnodes] */
	struct course *course;
	uint32_t ncourses;
	uint32_t *course_of; /* [derive.plan.ncells]: 1 + its course; 0: none */
	double *room;        /* of all courses */
};

/* ---- instants ---- */

static uint32_t instant_of(const struct node_course *c, double at)
{
	uint32_t low = 0, high = c->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (c->at[mid] < at)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int find_instants(struct metering *m, const struct run *r, const struct phases *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		m->node[p->phase[i].node].n += isnan(p->phase[i].duration_s) ? 0 : 2;
	for (uint32_t i = 1; i < r->nnodes; i++) {
		m->node[i].at = calloc(m->node[i].n + 1u, sizeof *m->node[i].at);
		if (!m->node[i].at)
			return -ENOMEM;
		m->node[i].n = 0;
	}
	for (uint32_t i = 0; i < p->n; i++) {
		const struct phase *x = &p->phase[i];
		struct node_course *c = &m->node[x->node];

		if (isnan(x->duration_s))
			continue;
		c->at[c->n++] = x->begin_s;
		c->at[c->n++] = x->end_s;
	}
	for (uint32_t i = 1; i < r->nnodes; i++) {
		struct node_course *c = &m->node[i];
		uint32_t n = 0;

		sort_values(c->at, c->n);
		for (uint32_t k = 0; k < c->n; k++)
			if (!n || c->at[k] != c->at[n - 1])
				c->at[n++] = c->at[k];
		c->n = n;
	}
	return 0;
}

/* ---- metrics ---- */

/* What a rate in this unit adds up to; UNIT_NUMBER_OF: nothing that has a name. */
static enum unit unit_of_total(enum unit u)
{
	switch (u) {
	case UNIT_CORES:
		return UNIT_SECONDS;
	case UNIT_BYTES_PER_SECOND:
		return UNIT_BYTES;
	case UNIT_WATTS:
		return UNIT_JOULES;
	case UNIT_PER_SECOND:
		return UNIT_COUNT;
	default:
		return UNIT_NUMBER_OF;
	}
}

/* The name of the total: that of the rate with the total's unit instead of the rate's. */
static void name_total(struct phase_metric *m)
{
	const char *from = unit_name(m->unit), *to = unit_name(m->total_unit);
	size_t n = strlen(m->name), word = strlen(from);

	if (n > word + 1 && !strcmp(m->name + n - word, from))
		n -= word + 1;
	if (m->total_unit == UNIT_COUNT)
		to = "";
	snprintf(m->total_name, sizeof m->total_name, "%.*s%s%s", (int)n, m->name, *to ? "_" : "",
		 to);
}

static uint32_t find_metric(struct phase_meter *out, const struct quantity *q)
{
	struct phase_metric *m;

	for (uint32_t i = 0; i < out->nmetrics; i++)
		if (!strcmp(out->metric[i].name, q->name) && out->metric[i].unit == q->unit)
			return i;
	m = &out->metric[out->nmetrics];
	*m = (struct phase_metric){ .label = q->metric->label,
				    .unit = q->unit,
				    .total_unit = unit_of_total(q->unit) };
	snprintf(m->name, sizeof m->name, "%s", q->name);
	if (m->total_unit != UNIT_NUMBER_OF)
		name_total(m);
	return out->nmetrics++;
}

/* Of the node itself, or of what its instances combine into. */
static bool is_metered(const struct metering *m, uint32_t cell)
{
	const struct plan *plan = &m->derive.plan;
	const struct holder *h = &plan->holder[plan->cell[cell].holder];

	return plan->cell[cell].emitted && !h->instance && m->node[h->node].n;
}

static int find_courses(struct metering *m, struct phase_meter *out)
{
	const struct plan *plan = &m->derive.plan;
	size_t want = 0;
	double *at;

	m->course_of = calloc(plan->ncells + 1u, sizeof *m->course_of);
	m->course = calloc(plan->ncells + 1u, sizeof *m->course);
	out->metric = calloc(plan->ncells + 1u, sizeof *out->metric);
	if (!m->course_of || !m->course || !out->metric)
		return -ENOMEM;
	for (uint32_t c = 1; c < plan->ncells; c++) {
		struct node_course *node = &m->node[plan->holder[plan->cell[c].holder].node];

		if (!is_metered(m, c))
			continue;
		node->first = node->ncourses ? node->first : m->ncourses;
		node->ncourses++;
		m->course[m->ncourses] = (struct course){
			.metric = find_metric(out, derive_quantity(&m->derive, c)),
			.until_s = -INFINITY,
		};
		m->course_of[c] = ++m->ncourses;
		want += node->n;
	}
	at = m->room = calloc(want * 6 + 1, sizeof *m->room);
	if (!m->room)
		return -ENOMEM;
	for (uint32_t i = 1; i < m->derive.run->nnodes; i++)
		for (uint32_t k = 0; k < m->node[i].ncourses; k++, at += 6 * (size_t)m->node[i].n) {
			struct course *c = &m->course[m->node[i].first + k];

			c->sum_at = at;
			c->known_at = at + m->node[i].n;
			c->highest = at + 2 * (size_t)m->node[i].n;
			c->most = c->highest + m->node[i].n;
			c->before = c->most + m->node[i].n;
			c->after = c->before + m->node[i].n;
			for (uint32_t s = 0; s < m->node[i].n; s++)
				c->most[s] = NAN;
		}
	return 0;
}

/* ---- readings ---- */

/* The value held from one second to the other. For `most` it belongs to where its middle is: what
 * reaches into a phase for a moment is not the most of it. */
static void add_reading(struct course *c, const struct node_course *n, double from_s, double to_s,
			double v)
{
	double begin = fmax(from_s, c->until_s), middle = from_s + (to_s - from_s) / 2;
	uint32_t i;

	while (c->next < n->n && n->at[c->next] <= to_s) {
		double part = fmax(0, n->at[c->next] - begin);

		if (part > 0 && n->at[c->next] < to_s) {
			c->before[c->next] = part;
			c->after[c->next] = to_s - n->at[c->next];
		}
		c->sum_at[c->next] = c->sum + v * part;
		c->known_at[c->next++] = c->known_s + part;
	}
	for (i = c->next; i && n->at[i - 1] > middle;)
		i--;
	if (i)
		c->most[i - 1] = fmax(c->most[i - 1], v);
	if (to_s > begin) {
		c->sum += v * (to_s - begin);
		c->known_s += to_s - begin;
	}
	c->until_s = fmax(c->until_s, to_s);
}

static int read_all(struct metering *m, struct err *e)
{
	struct instant in;
	int rc = derive_rewind(&m->derive);

	while (!rc && (rc = derive_next(&m->derive, &in, e)) > 0) {
		for (uint32_t i = 0; i < in.n; i++) {
			const struct reading v = instant_reading(&in, i);
			uint32_t course = m->course_of[v.cell];

			if (course)
				add_reading(&m->course[course - 1], &m->node[in.node],
					    in.seconds - v.seconds, in.seconds, v.value);
		}
		rc = 0;
	}
	for (uint32_t i = 1; i < m->derive.run->nnodes; i++)
		for (uint32_t k = 0; k < m->node[i].ncourses; k++) {
			struct course *c = &m->course[m->node[i].first + k];

			for (; c->next < m->node[i].n; c->next++) {
				c->sum_at[c->next] = c->sum;
				c->known_at[c->next] = c->known_s;
			}
			for (uint32_t s = m->node[i].n; s-- > 1;)
				c->highest[s] = fmax(c->highest[2 * (size_t)s],
						     c->highest[2 * (size_t)s + 1]);
		}
	return rc;
}

/* ---- figures ---- */

/* Add what there was between two instants of a node's n. */
static void add_between(struct phase_figure *f, const struct course *c, uint32_t n, uint32_t from,
			uint32_t to)
{
	double known = c->known_at[to] - c->known_at[from];

	if (known > 0) {
		f->known_s += known;
		f->inner_s += fmax(0, known - c->after[from] - c->before[to]);
		f->total = (isnan(f->total) ? 0 : f->total) + c->sum_at[to] - c->sum_at[from];
	}
	for (size_t low = (size_t)from + n, high = (size_t)to + n; low < high;
	     low /= 2, high /= 2) {
		if (low & 1)
			f->most = fmax(f->most, c->highest[low++]);
		if (high & 1)
			f->most = fmax(f->most, c->highest[--high]);
	}
}

static void add_interval(const struct metering *m, struct phase_figure *f, uint32_t node,
			 double from_s, double to_s)
{
	const struct node_course *n = &m->node[node];

	for (uint32_t k = 0; k < n->ncourses; k++) {
		const struct course *c = &m->course[n->first + k];

		add_between(&f[c->metric], c, n->n, instant_of(n, from_s), instant_of(n, to_s));
	}
}

static void finish(struct phase_meter *out, struct phase_figure *f)
{
	for (uint32_t i = 0; i < out->nmetrics; i++) {
		struct phase_metric *m = &out->metric[i];

		if (f[i].inner_s < inner_least * f[i].known_s)
			f[i].total = f[i].most = NAN;
		f[i].mean = f[i].total / f[i].known_s;
		f[i].most = fmax(f[i].most, f[i].mean);
		if (m->total_unit == UNIT_NUMBER_OF)
			f[i].total = NAN;
		m->known |= !isnan(f[i].most);
		m->used |= f[i].most > 0;
	}
}

/* The time of all phases of a total, each instant once; they come by node, then by begin. */
static void figures_of_total(const struct metering *m, struct phase_figure *f,
			     const struct phase *const *member, uint32_t n)
{
	double from_s = 0, to_s = 0;
	uint32_t node = 0; /* of the time that is open */

	for (uint32_t i = 0; i < n; i++) {
		const struct phase *p = member[i];

		if (isnan(p->duration_s))
			continue;
		if (node == p->node && p->begin_s <= to_s) {
			to_s = fmax(to_s, p->end_s);
			continue;
		}
		if (node)
			add_interval(m, f, node, from_s, to_s);
		node = p->node;
		from_s = p->begin_s;
		to_s = p->end_s;
	}
	if (node)
		add_interval(m, f, node, from_s, to_s);
}

static struct phase_figure *figures(size_t n)
{
	struct phase_figure *f = malloc((n + 1) * sizeof *f);

	for (size_t i = 0; f && i < n; i++)
		f[i] = (struct phase_figure){ NAN, NAN, NAN, 0, 0 };
	return f;
}

static int find_figures(const struct metering *m, struct phase_meter *out, const struct phases *p,
			const struct phase_totals *t)
{
	out->of_phase = figures((size_t)p->n * out->nmetrics);
	out->of_total = figures((size_t)t->n * out->nmetrics);
	if (!out->of_phase || !out->of_total)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->n; i++) {
		struct phase_figure *f = out->of_phase + (size_t)i * out->nmetrics;
		const struct phase *x = &p->phase[i];

		if (!isnan(x->duration_s))
			add_interval(m, f, x->node, x->begin_s, x->end_s);
		finish(out, f);
	}
	for (uint32_t i = 0; i < t->n; i++) {
		struct phase_figure *f = out->of_total + (size_t)i * out->nmetrics;

		figures_of_total(m, f, t->member + t->total[i].first, t->total[i].nmembers);
		finish(out, f);
	}
	return 0;
}

static void metering_free(struct metering *m, uint32_t nnodes)
{
	for (uint32_t i = 0; m->node && i < nnodes; i++)
		free(m->node[i].at);
	free(m->node);
	free(m->course);
	free(m->course_of);
	free(m->room);
	derive_close(&m->derive);
}

static int meter(struct phase_meter *out, struct run *r, const struct phases *p,
		 const struct phase_totals *t, const char *globs, struct err *e)
{
	const struct selection sel = { .table = FRAME_SERIES, .combine = true, .metrics = globs };
	struct metering m = { .node = calloc(r->nnodes + 1u, sizeof *m.node) };
	int rc = m.node ? find_instants(&m, r, p) : -ENOMEM;

	if (!rc)
		rc = derive_open(&m.derive, r, &sel, e);
	if (!rc)
		rc = find_courses(&m, out);
	if (!rc)
		rc = read_all(&m, e);
	if (!rc)
		rc = find_figures(&m, out, p, t);
	metering_free(&m, r->nnodes);
	return rc;
}

int phase_meter_make(struct phase_meter *m, struct run *r, const struct phases *p,
		     const struct phase_totals *t, const char *globs, struct err *e)
{
	int rc;

	*m = (struct phase_meter){ 0 };
	if (p->n > PHASE_METERED_MAX)
		return err_set(e, -E2BIG,
			       "%u phases are more than figures are made of (%d): choose some by "
			       "name",
			       p->n, PHASE_METERED_MAX);
	rc = meter(m, r, p, t, globs, e);
	if (rc == -ENOMEM)
		err_set(e, rc, "out of memory for the figures of the phases of %.300s", r->path);
	if (rc)
		phase_meter_free(m);
	return rc;
}

void phase_meter_free(struct phase_meter *m)
{
	free(m->metric);
	free(m->of_phase);
	free(m->of_total);
	*m = (struct phase_meter){ 0 };
}
