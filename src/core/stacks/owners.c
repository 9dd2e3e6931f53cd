/* SPDX-License-Identifier: Apache-2.0 */
#include "core/stacks/owners.h"

#include "base/array.h"
#include "core/stacks/stacks_part.h"
#include "core/stacks/symbol.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INLINED_MAX = 64 };

/* ---- the moments ---- */

/* When a node's memory was looked at, and how much it had. */
struct look {
	int64_t at_ns;
	double bytes;
	uint32_t node;
};

struct looks {
	struct look *row; /* of one node after the other, in order of time */
	uint32_t n, cap;
};

static double bytes_of(const struct run_samples *x)
{
	double weight = 0;

	for (uint32_t i = 0; i < x->n; i++)
		weight += (double)x->items[i].weight;
	return weight * (double)x->unit;
}

static int look_add(struct looks *l, const struct run_samples *x)
{
	struct look *moved, *last = l->n ? &l->row[l->n - 1] : NULL;

	if (!last || last->node != x->node || last->at_ns != x->t1_ns) {
		moved = array_room(l->row, l->n, &l->cap, sizeof *moved);
		if (!moved)
			return -ENOMEM;
		l->row = moved;
		last = &l->row[l->n++];
		*last = (struct look){ .at_ns = x->t1_ns, .node = x->node };
	}
	last->bytes += bytes_of(x);
	return 0;
}

static int looks_make(struct looks *l, struct run *r, struct err *e)
{
	struct run_samples x;
	int rc = r->rewind_samples(r);

	while (!rc && (rc = r->next_samples(r, &x, e)) > 0)
		rc = x.kind == SAMPLE_RESIDENT ? look_add(l, &x) : 0;
	return rc;
}

/* Of the looks of one node, the one with the least memory in a part of their time: what comes and
 * goes is not there, as far as may be. */
static const struct look *least_in(const struct look *row, uint32_t n, double from, double to)
{
	double span = (double)(row[n - 1].at_ns - row->at_ns);
	const struct look *least = NULL, *before = row;

	for (uint32_t i = 0; i < n; i++) {
		double at = span > 0 ? (double)(row[i].at_ns - row->at_ns) / span : 1;

		if (at > to)
			break;
		before = &row[i];
		if (at >= from && (!least || row[i].bytes <= least->bytes))
			least = &row[i];
	}
	return least ? least : before;
}

static void choose(struct owners *o, const struct look *row, uint32_t n)
{
	const double parts = OWNERS_MOMENTS - OWNERS_FIRST;
	const struct look *peak = row;

	for (uint32_t i = 1; i < n; i++)
		if (row[i].bytes > peak->bytes)
			peak = &row[i];
	o->at_ns[OWNERS_PEAK][row->node] = peak->at_ns;
	for (int m = OWNERS_FIRST; m < OWNERS_MOMENTS; m++)
		o->at_ns[m][row->node] =
			least_in(row, n, (m - OWNERS_FIRST) / parts, m / parts)->at_ns;
}

static int moments_make(struct owners *o, const struct run *r, const struct looks *l)
{
	double most = 0;

	for (int m = 0; m < OWNERS_MOMENTS; m++) {
		o->at_ns[m] = calloc(r->nnodes + 1u, sizeof *o->at_ns[m]);
		if (!o->at_ns[m])
			return -ENOMEM;
	}
	for (uint32_t i = 0, to; i < l->n; i = to) {
		for (to = i; to < l->n && l->row[to].node == l->row[i].node; to++)
			continue;
		choose(o, &l->row[i], to - i);
		for (uint32_t k = i; k < to; k++) {
			if (l->row[k].bytes <= most)
				continue;
			most = l->row[k].bytes;
			for (int m = 0; m < OWNERS_MOMENTS; m++)
				o->moment_s[m] =
					run_seconds(r, l->row[i].node, o->at_ns[m][l->row[i].node]);
		}
	}
	return 0;
}

/* ---- whose it is ---- */

struct owning {
	struct owners *o;
	const struct stacks *s;
	struct tally lines; /* file; function, line */
	struct owner *line; /* of each */
	uint32_t cap;
};

/* file: of a function of Python, or of an impl of alloc for a type of the program. */
static bool may_own(const struct stacks_function *f, const char *file)
{
	if (!strcmp(f->module, PYTHON_MODULE))
		return !symbol_is_of_python(file);
	return *f->name && !f->class && *f->module && !classes_is_system(f->module) &&
	       !symbol_is_of_library(f->name, file);
}

/* The frame of a stack that its memory belongs to: else the innermost. */
static uint32_t owner_of(const struct stacks *s, uint32_t node)
{
	const struct run *r = s->run;
	uint32_t first = r->stacks[node].frame;

	for (; node; node = r->stacks[node].parent) {
		uint32_t frame = r->stacks[node].frame;

		for (int i = 0; frame && i < INLINED_MAX; i++, frame = r->frames[frame].outer)
			if (may_own(stacks_function_of(s, frame), r->frames[frame].file))
				return frame;
	}
	return first;
}

static struct owner *line_of(struct owning *g, uint32_t node)
{
	const struct stacks *s = g->s;
	uint32_t frame = owner_of(s, node < s->run->nstacks ? node : 0), row, had = g->lines.n;
	const struct run_frame *f = &s->run->frames[frame];
	const struct stacks_function *function = stacks_function_of(s, frame);
	const struct tally_key key = { f->file, (uint32_t)(function - s->functions), f->line, 0 };
	struct owner *moved;

	if (tally_find(&g->lines, &key, &row))
		return NULL;
	if (row < had)
		return &g->line[row];
	moved = array_room(g->line, had, &g->cap, sizeof *moved);
	if (!moved)
		return NULL;
	g->line = moved;
	g->line[row] = (struct owner){ .function = function,
				       .file = *f->file ? f->file : NULL,
				       .line = f->line };
	return &g->line[row];
}

static bool is_unseen(const struct stacks *s, uint32_t node)
{
	return node < s->run->nstacks &&
	       s->run->frames[s->run->stacks[node].frame].flags & FRAME_UNSEEN;
}

static int take_moment(struct owning *g, const struct run_samples *x, int m)
{
	struct owners *o = g->o;

	if (o->at_ns[m][x->node] != x->t1_ns)
		return 0;
	for (uint32_t i = 0; i < x->n; i++) {
		double bytes = (double)x->items[i].weight * (double)x->unit;
		struct owner *line;

		o->resident[m] += bytes;
		if (is_unseen(g->s, x->items[i].node)) {
			o->unseen[m] += bytes;
			continue;
		}
		line = line_of(g, x->items[i].node);
		if (!line)
			return -ENOMEM;
		line->resident[m] += bytes;
	}
	return 0;
}

static int take_touched(struct owning *g, const struct run_samples *x)
{
	for (uint32_t i = 0; i < x->n; i++) {
		double bytes = (double)x->items[i].weight * (double)x->unit;
		struct owner *line = line_of(g, x->items[i].node);

		if (!line)
			return -ENOMEM;
		line->touched += bytes;
		g->o->touched += bytes;
	}
	return 0;
}

static int samples_take(struct owning *g, struct err *e)
{
	struct run *r = g->s->run;
	struct run_samples x;
	int rc = r->rewind_samples(r);

	while (!rc && (rc = r->next_samples(r, &x, e)) > 0) {
		rc = x.kind == SAMPLE_FAULTS ? take_touched(g, &x) : 0;
		for (int m = 0; m < OWNERS_MOMENTS && x.kind == SAMPLE_RESIDENT && !rc; m++)
			rc = take_moment(g, &x, m);
	}
	return rc;
}

/* ---- rows ---- */

static int by_function(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	if (x->resident[OWNERS_PEAK] != y->resident[OWNERS_PEAK])
		return x->resident[OWNERS_PEAK] < y->resident[OWNERS_PEAK] ? 1 : -1;
	if (x->touched != y->touched)
		return x->touched < y->touched ? 1 : -1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static int by_bytes(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;

	if (x->resident[OWNERS_PEAK] != y->resident[OWNERS_PEAK])
		return x->resident[OWNERS_PEAK] < y->resident[OWNERS_PEAK] ? 1 : -1;
	if (x->touched != y->touched)
		return x->touched < y->touched ? 1 : -1;
	return x->function < y->function ? -1 : x->function > y->function;
}

/* Lines of one function become its row, which has the place of the first. */
static void rows_make(struct owners *o, struct owner *line, uint32_t n)
{
	uint32_t rows = 0;

	if (n)
		qsort(line, n, sizeof *line, by_function);
	for (uint32_t i = 0; i < n; i++) {
		if (!rows || line[rows - 1].function != line[i].function) {
			line[rows++] = line[i];
			continue;
		}
		for (int m = 0; m < OWNERS_MOMENTS; m++)
			line[rows - 1].resident[m] += line[i].resident[m];
		line[rows - 1].touched += line[i].touched;
	}
	if (rows)
		qsort(line, rows, sizeof *line, by_bytes);
	o->row = line;
	o->n = rows;
}

int owners_make(struct owners *o, const struct stacks *s, struct err *e)
{
	struct owning g = { .o = o, .s = s };
	struct err why = { "" };
	struct looks l = { 0 };
	int rc;

	*o = (struct owners){ 0 };
	rc = looks_make(&l, s->run, &why);
	if (!rc)
		rc = moments_make(o, s->run, &l);
	if (!rc)
		rc = samples_take(&g, &why);
	rows_make(o, g.line, rc ? 0 : g.lines.n);
	free(l.row);
	tally_free(&g.lines);
	if (rc)
		return err_set(e, rc, "%s", *why.text ? why.text : "out of memory");
	return 0;
}

void owners_free(struct owners *o)
{
	for (int m = 0; m < OWNERS_MOMENTS; m++)
		free(o->at_ns[m]);
	free(o->row);
	*o = (struct owners){ 0 };
}
