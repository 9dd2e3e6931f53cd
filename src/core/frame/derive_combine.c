/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derive_combine.c - what a node's instances combine into.
 *
 * Processes come and go with the work: those that have a value make up the whole. Devices stay, and
 * a source may read them in turn, so that a row without a reading of one says nothing of it: a rate
 * holds for all of its own interval, (reading before, reading], also in the rows of others; any
 * other value, and at a chunk's end the last rate, stands for a while. A sum of which a device's
 * part is not known is not known.
 */
#include "base/clock.h"
#include "core/frame/derive_plan.h"
#include "core/frame/derive_slice.h"
#include "core/glob.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* So long a value stands: 16 samples, or four times what lay between it and the one before. */
enum { STANDS_S = 10, STANDS_ROWS = 16, STANDS_GAPS = 4 };

struct whole {
	enum combine how;
	double value[SLICE_ROWS];
	uint32_t n[SLICE_ROWS];    /* parts */
	uint8_t read[SLICE_ROWS];  /* one of them was read then */
	uint8_t lacks[SLICE_ROWS]; /* a part that is not known */
};

static void add(struct whole *w, uint32_t row, double v)
{
	double *to = &w->value[row];

	if (!w->n[row]++)
		*to = v;
	else if (w->how == COMBINE_MAX)
		*to = v > *to ? v : *to;
	else if (w->how == COMBINE_MIN)
		*to = v < *to ? v : *to;
	else
		*to += v;
}

/* ---- things that pass: what is absent has no part in the whole ---- */

static void add_passing(struct derive *d, uint32_t cell, struct whole *w)
{
	const struct slice *s = &d->slice;

	for (uint32_t i = d->link[cell]; i; i = d->link[i]) {
		size_t at = (size_t)derive_work_out(d, i) * s->rows;

		for (uint32_t r = 0; r < s->nrows; r++)
			if (s->state[at + r] == STATE_PRESENT) {
				add(w, r, s->value[at + r]);
				w->read[r] = true;
			}
	}
}

/* ---- devices ---- */

static int64_t row_ns(const struct derive *d, uint32_t row)
{
	return d->chunk.mono_ns[d->slice.first + row];
}

static bool is_read(const struct chunk_column *c, const struct derive *d, uint32_t row)
{
	return c && c->present[d->slice.first + row];
}

static void remember(struct member *m, double value, int64_t at_ns)
{
	m->gap_ns = m->known ? at_ns - m->at_ns : 0;
	m->value = value;
	m->at_ns = at_ns;
	m->known = true;
}

static bool stands(const struct derive *d, const struct member *m, uint32_t row)
{
	double age = (double)(row_ns(d, row) - m->at_ns) / (double)NS_PER_S;
	double limit = fmax(STANDS_S, STANDS_ROWS * d->slice.row_seconds[row]);

	return m->known && age <= fmax(limit, STANDS_GAPS * (double)m->gap_ns / (double)NS_PER_S);
}

/* Whether the device was there in a row, and so had a value even where it was not read: it was read
 * before, or is when the run begins and will be. */
static bool is_due(const struct derive *d, const struct member *m, uint32_t row, bool later)
{
	const struct run_instance *i =
		&d->run->instances[d->plan.holder[d->plan.cell[m->cell].holder].instance];
	int64_t now = row_ns(d, row);

	return now < i->end_ns &&
	       (m->begun || (later && i->birth_ns <= d->run->nodes[i->node].first_ns));
}

/* The rates of its readings, each for all rows of its interval; NAN where none is known. Returns
 * the last row that was read, + 1. */
static uint32_t spread(const struct derive *d, const struct member *m, uint32_t column,
		       const struct chunk_column *c, double *out)
{
	const struct slice *s = &d->slice;
	size_t at = (size_t)column * s->rows;
	bool rate = derive_quantity(d, m->cell)->interval;
	double next = rate && c ? slice_next_rate(d, c) : NAN;
	uint32_t last = 0;

	for (uint32_t r = s->nrows; r-- > 0;) {
		bool there = s->state[at + r] == STATE_PRESENT;

		if (there || is_read(c, d, r)) {
			next = there ? s->value[at + r] : NAN;
			last = last ? last : r + 1;
		}
		out[r] = next;
		if (!rate)
			next = NAN;
	}
	return last;
}

static bool is_read_later(const struct derive *d, const struct chunk_column *c)
{
	uint32_t from = d->slice.first + d->slice.nrows;

	return c && from < d->chunk.nrows && memchr(c->present + from, 1, d->chunk.nrows - from);
}

/* Where it was read in every row. */
static void add_whole(const struct derive *d, struct member *m, uint32_t column, struct whole *w)
{
	const struct slice *s = &d->slice;
	const double *value = s->value + (size_t)column * s->rows;
	uint32_t n = s->nrows;

	for (uint32_t r = 0; r < n; r++)
		add(w, r, value[r]);
	memset(w->read, true, n);
	if (n > 1)
		remember(m, value[n - 2], row_ns(d, n - 2));
	remember(m, value[n - 1], row_ns(d, n - 1));
	m->begun = true;
}

/* Where rows lack it. */
static void add_spread(const struct derive *d, struct member *m, uint32_t column, struct whole *w)
{
	const struct slice *s = &d->slice;
	const struct chunk_column *c =
		d->source[m->cell] ? &d->chunk.column[d->source[m->cell] - 1] : NULL;
	const uint8_t *state = s->state + (size_t)column * s->rows;
	bool later = is_read_later(d, c);
	double value[SLICE_ROWS];
	uint32_t last = spread(d, m, column, c, value);

	for (uint32_t r = 0; r < s->nrows; r++) {
		bool due = is_due(d, m, r, later || r < last);

		if (state[r] == STATE_PRESENT)
			remember(m, value[r], row_ns(d, r));
		else if (is_read(c, d, r))
			m->known = false; /* a counter that begins, or began anew */
		else if (isnan(value[r]) && due && stands(d, m, r))
			value[r] = m->value;
		w->read[r] |= state[r] == STATE_PRESENT;
		m->begun |= state[r] == STATE_PRESENT || is_read(c, d, r);
		if (isnan(value[r]))
			w->lacks[r] |= due;
		else
			add(w, r, value[r]);
	}
}

static void add_devices(struct derive *d, uint32_t first, struct whole *w)
{
	for (uint32_t i = first; i; i = d->member[i].next) {
		uint32_t column = derive_work_out(d, d->member[i].cell);

		if (d->slice.there[column] == d->slice.nrows)
			add_whole(d, &d->member[i], column, w);
		else
			add_spread(d, &d->member[i], column, w);
	}
}

/* A value of devices stands since the one before it: rows in between in which none was read have
 * none. */
static double stands_for(struct derive *d, uint32_t first, uint32_t row)
{
	struct member *m = &d->member[first];
	double seconds = d->slice.row_seconds[row];

	if (m->whole_known && row_ns(d, row) > m->whole_ns)
		seconds = (double)(row_ns(d, row) - m->whole_ns) / (double)NS_PER_S;
	m->whole_ns = row_ns(d, row);
	m->whole_known = true;
	return seconds;
}

void derive_combine(struct derive *d, uint32_t cell, uint32_t column)
{
	struct whole w = { .how = derive_quantity(d, cell)->metric->over_instances };
	uint32_t first = d->plan.cell[cell].member;
	struct slice *s = &d->slice;

	add_passing(d, cell, &w);
	add_devices(d, first, &w);
	slice_clear(s, column);
	for (uint32_t r = 0; r < s->nrows; r++)
		if (w.n[r] && w.read[r] && !(w.how == COMBINE_SUM && w.lacks[r]))
			slice_put(s, column, r,
				  w.how == COMBINE_MEAN ? w.value[r] / w.n[r] : w.value[r],
				  first ? stands_for(d, first, r) : s->row_seconds[r]);
}

/* ---- the members of each sum ---- */

/* A sum's own cell has its first member where a member has its number. */
int combine_open(struct derive *d)
{
	struct plan *p = &d->plan;

	d->member = calloc(p->nmembers + 1u, sizeof(*d->member));
	d->source = calloc(p->ncells, sizeof(*d->source));
	if (!d->member || !d->source)
		return -ENOMEM;
	for (uint32_t c = p->ncells; c-- > 1;) {
		struct cell *x = &p->cell[c], *sum = &p->cell[x->combined];

		if (!x->combined || !x->member)
			continue;
		d->member[x->member] = (struct member){ .cell = c, .next = sum->member };
		sum->member = x->member;
	}
	return 0;
}

void combine_chunk(struct derive *d)
{
	const struct plan *p = &d->plan;

	for (uint32_t i = 0; i < d->chunk.ncolumns; i++) {
		uint32_t cell = p->series_cell[d->chunk.column[i].series];

		if (p->cell[cell].combined && p->cell[cell].member)
			d->source[cell] = i + 1;
	}
}

void combine_rewind(struct derive *d)
{
	for (uint32_t i = 1; i <= d->plan.nmembers; i++)
		d->member[i].known = d->member[i].begun = d->member[i].whole_known = false;
}

enum { NAME_SIZE = 256, FORMULA_DEPTH_MAX = 32 };
enum { NOT_VISITED = 0, BEING_VISITED, VISITED };

/* Metric ids by public name, sorted, so that formulas find their inputs. */
struct name_index {
	const struct plan *plan;
	uint32_t *id;
	uint32_t n;
};

static int name_quantity(struct quantity *q, const struct metric *m, bool raw)
{
	char name[NAME_SIZE];

	q->metric = m;
	q->rate = !raw && m->kind == KIND_COUNTER && !m->formula;
	q->interval = q->rate;
	q->unit = q->rate ? unit_rate(m->unit) : m->unit;
	if (q->rate)
		metric_rate_name(m, name, sizeof(name));
	q->name = strdup(q->rate ? name : m->name);
	return q->name ? 0 : -ENOMEM;
}

static int by_name(const void *a, const void *b, void *plan)
{
	const struct plan *p = plan;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = strcmp(p->quantity[x].name, p->quantity[y].name);

	return order ? order : (x > y) - (x < y);
}

static uint32_t find_name(const struct name_index *x, const char *name)
{
	uint32_t low = 0, high = x->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (strcmp(x->plan->quantity[x->id[middle]].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < x->n && !strcmp(x->plan->quantity[x->id[low]].name, name))
		return x->id[low];
	return 0;
}

struct binding {
	struct plan *plan;
	const struct name_index *names;
	bool failed;
};

/* A call asks for something over time, which an instant does not have: its input stays unknown. */
static void bind_input(void *ctx, const char *function, const char *name)
{
	struct binding *b = ctx;
	struct plan *p = b->plan;

	if (!plan_grow((void **)&p->input, p->ninputs, &p->input_cap, sizeof(*p->input))) {
		b->failed = true;
		return;
	}
	p->input[p->ninputs].at = name;
	p->input[p->ninputs++].quantity = function ? 0 : find_name(b->names, name);
}

/* A formula that a later version wrote and this one cannot read has no values; the rest stands. */
static int bind_formulas(struct plan *p, const struct name_index *names)
{
	struct binding b = { .plan = p, .names = names };

	for (uint32_t i = 1; i < p->run->nmetrics; i++) {
		struct quantity *q = &p->quantity[i];
		int rc = q->metric->formula ? expr_parse(&q->formula, q->metric->formula, NULL) : 0;

		if (rc == -ENOMEM)
			return rc;
		q->first_input = p->ninputs;
		if (q->formula)
			expr_names(q->formula, bind_input, &b);
		if (b.failed)
			return -ENOMEM;
		q->ninputs = p->ninputs - q->first_input;
	}
	return 0;
}

/* Marks what is needed for a quantity and lists formulas after their inputs. False for one that is
 * being visited already: a formula that leads back to itself has no values. */
static bool visit(struct plan *p, uint32_t id, unsigned depth)
{
	struct quantity *q = &p->quantity[id];
	bool sound = true;

	if (q->visit == BEING_VISITED || depth > FORMULA_DEPTH_MAX)
		return false;
	if (q->visit == VISITED)
		return true;
	q->visit = BEING_VISITED;
	q->needed = true;
	for (uint32_t i = q->first_input; i < q->first_input + q->ninputs; i++)
		if (p->input[i].quantity && !visit(p, p->input[i].quantity, depth + 1))
			sound = false;
	q->visit = VISITED;
	for (uint32_t i = q->first_input; i < q->first_input + q->ninputs; i++)
		q->interval |= p->quantity[p->input[i].quantity].interval;
	if (q->formula && sound) {
		p->derived[p->nderived++] = id;
	} else if (q->formula) {
		expr_free(q->formula);
		q->formula = NULL;
		q->ninputs = 0;
	}
	return true;
}

/* Recordings of other versions may declare the same thing with another scale or formula: it is one
 * quantity, the first. */
static void merge(struct plan *p, const struct name_index *names)
{
	for (uint32_t i = 0; i < names->n; i++) {
		struct quantity *q = &p->quantity[names->id[i]];
		const struct quantity *before = i ? &p->quantity[names->id[i - 1]] : NULL;
		bool same = before && !strcmp(before->name, q->name) && before->unit == q->unit &&
			    before->rate == q->rate;

		q->same_as = same ? before->same_as : names->id[i];
	}
}

static int choose(struct plan *p, const struct selection *sel, struct err *e)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < p->run->nmetrics; i++) {
		struct quantity *q = &p->quantity[i];

		q->chosen = q->same_as == i && !(sel->raw && q->metric->formula) &&
			    glob_match(sel->metrics, q->name);
		if (q->chosen)
			visit(p, i, 0);
		n += q->chosen;
	}
	if (!n && sel->metrics && !sel->may_match_none)
		return err_set(
			e, -EINVAL,
			"no metric of this recording matches \"%s\"; `sonde metrics` lists names",
			sel->metrics);
	return 0;
}

int plan_quantities(struct plan *p, const struct selection *sel, struct err *e)
{
	struct name_index names = { .plan = p };
	uint32_t n = p->run->nmetrics;
	int rc = -ENOMEM;

	p->quantity = calloc(n + 1u, sizeof(*p->quantity));
	p->derived = calloc(n + 1u, sizeof(*p->derived));
	names.id = calloc(n + 1u, sizeof(*names.id));
	if (!p->quantity || !p->derived || !names.id)
		goto out;
	for (uint32_t i = 1; i < n; i++) {
		rc = name_quantity(&p->quantity[i], &p->run->metrics[i].row, sel->raw);
		if (rc)
			goto out;
		names.id[names.n++] = i;
	}
	qsort_r(names.id, names.n, sizeof(*names.id), by_name, p);
	merge(p, &names);
	rc = sel->raw ? 0 : bind_formulas(p, &names);
	if (!rc)
		rc = choose(p, sel, e);
out:
	free(names.id);
	return rc == -ENOMEM ? err_set(e, rc, "out of memory for the names of the metrics") : rc;
}
