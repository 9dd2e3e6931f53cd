/* SPDX-License-Identifier: Apache-2.0 */
/* stacks_rows.c - what was sampled by function, line, library, kind of code, process and so on. */
#include "core/phase/phase_nest.h"
#include "core/stacks/stacks_part.h"
#include "core/stacks/symbol.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INLINED_MAX = 64 };

const char *const stacks_by_names[STACKS_BY_NUMBER_OF] = {
	[STACKS_BY_FUNCTION] = "function", [STACKS_BY_LINE] = "line",
	[STACKS_BY_MODULE] = "module",     [STACKS_BY_CLASS] = "class",
	[STACKS_BY_COMMAND] = "command",   [STACKS_BY_PROCESS] = "process",
	[STACKS_BY_THREAD] = "thread",     [STACKS_BY_RANK] = "rank",
	[STACKS_BY_NODE] = "node",         [STACKS_BY_PHASE] = "phase",
};

static int by_self(const void *a, const void *b)
{
	const struct stacks_row *x = a, *y = b;

	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return strcmp(x->name, y->name);
}

static int rows_begin(struct stacks *s, enum stacks_by by, uint32_t most)
{
	s->rows[by].row = calloc(most + 1u, sizeof *s->rows[by].row);
	return s->rows[by].row ? 0 : -ENOMEM;
}

static void rows_end(struct stacks *s, enum stacks_by by)
{
	qsort(s->rows[by].row, s->rows[by].n, sizeof *s->rows[by].row, by_self);
}

static struct stacks_row *row_add(struct stacks *s, enum stacks_by by, const char *name)
{
	struct stacks_row *row = &s->rows[by].row[s->rows[by].n++];

	*row = (struct stacks_row){ .name = name, .rank = NAN };
	return row;
}

/* ---- what is called, once a stack however often it is in it ---- */

struct sums {
	double self, total, samples;
	uint32_t open; /* on the way from the root to where the walk is */
};

struct walking {
	struct stacks *s;
	struct sums *function, *line, *module;
	uint32_t *first, *next; /* children of each stack, and those beside it */
};

static void enter(struct sums *x, double total)
{
	if (!x->open++)
		x->total += total;
}

static void self_add(struct sums *x, const struct stacks_place *at)
{
	x->self += at->self;
	x->samples += at->samples;
}

/* A stack's last call, with what is inlined into it: in, or out again. */
static void step(struct walking *w, uint32_t stack, bool in)
{
	const struct run *r = w->s->run;
	const struct stacks_private *p = w->s->private;
	const struct stacks_place *at = &p->place[stack];
	uint32_t frame = r->stacks[stack].frame;

	for (uint32_t n = 0; n < INLINED_MAX; n++) {
		const struct run_frame *f = &r->frames[frame];
		struct sums *const sums[] = { &w->function[p->function_of[frame]],
					      &w->line[p->line_of[frame]], &w->module[f->module] };

		for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++) {
			if (in)
				enter(sums[i], at->total);
			else
				sums[i]->open--;
			if (in && !n)
				self_add(sums[i], at);
		}
		frame = f->outer;
		if (!frame || frame >= r->nframes)
			break;
	}
}

/* Every stack below one that is called from nothing, without recursion. */
static void walk(struct walking *w, uint32_t root)
{
	const struct run_stack *stacks = w->s->run->stacks;
	uint32_t at = root;

	step(w, at, true);
	for (;;) {
		if (w->first[at]) {
			at = w->first[at];
			step(w, at, true);
			continue;
		}
		for (;;) {
			step(w, at, false);
			if (at == root)
				return;
			if (w->next[at])
				break;
			at = stacks[at].parent;
		}
		at = w->next[at];
		step(w, at, true);
	}
}

static void walk_all(struct walking *w)
{
	const struct run *r = w->s->run;
	const struct stacks_place *place = w->s->private->place;

	for (uint32_t i = r->nstacks; i-- > 1;) {
		uint32_t parent = r->stacks[i].parent;

		if (!(place[i].total > 0) || !parent)
			continue;
		w->next[i] = w->first[parent];
		w->first[parent] = i;
	}
	for (uint32_t i = 0; i < r->nstacks; i++)
		if (place[i].total > 0 && !r->stacks[i].parent)
			walk(w, i);
}

/* ---- rows of code ---- */

static void from_sums(struct stacks_row *row, const struct sums *x)
{
	row->self = x->self;
	row->total = x->total;
	row->samples = x->samples;
}

/* Of each function: the line, the class and the command that have most of its self. */
struct mosts {
	double line, class, command;
	uint32_t at_line, at_class, ncommands;
	const char *of_command;
};

static int mosts_of_classes(const struct stacks *s, struct mosts *m)
{
	const struct stacks_private *p = s->private;
	struct tally t = { 0 };
	uint32_t row;
	int rc = 0;

	for (uint32_t i = 0; i < s->run->nstacks && !rc; i++) {
		uint32_t function = p->function_of[s->run->stacks[i].frame];

		if (!(p->place[i].self > 0))
			continue;
		rc = tally_find(&t, &(struct tally_key){ NULL, function, p->place[i].class, 0 },
				&row);
		if (!rc)
			t.row[row].self += p->place[i].self;
	}
	for (uint32_t i = 0; i < t.n; i++) {
		struct mosts *of = &m[t.row[i].key.a];

		if (t.row[i].self <= of->class)
			continue;
		of->class = t.row[i].self;
		of->at_class = t.row[i].key.b;
	}
	tally_free(&t);
	return rc;
}

static int mosts_make(const struct walking *w, struct mosts *m)
{
	const struct stacks *s = w->s;
	const struct stacks_private *p = s->private;

	for (uint32_t i = 0; i < s->nfunctions; i++)
		m[i].at_class = s->functions[i].class ? s->functions[i].class : CLASS_OWN;
	for (uint32_t i = 0; i < p->lines.n; i++) {
		struct mosts *of = &m[p->line[i].function];

		/* without any self, where it calls from */
		if (!p->line[i].file || w->line[i].self + w->line[i].total * 1e-9 <= of->line)
			continue;
		of->line = w->line[i].self + w->line[i].total * 1e-9;
		of->at_line = i + 1;
	}
	for (uint32_t i = 0; i < p->leaves.n; i++) {
		const struct tally_row *leaf = &p->leaves.row[i];
		struct mosts *of = &m[leaf->key.a];

		of->ncommands++;
		if (leaf->self <= of->command)
			continue;
		of->command = leaf->self;
		of->of_command = leaf->key.text;
	}
	return mosts_of_classes(s, m);
}

static int functions_make(const struct walking *w)
{
	struct stacks *s = w->s;
	const struct stacks_private *p = s->private;
	struct mosts *m = calloc(s->nfunctions + 1u, sizeof *m);
	int rc = m ? mosts_make(w, m) : -ENOMEM;

	if (!rc)
		rc = rows_begin(s, STACKS_BY_FUNCTION, s->nfunctions);
	for (uint32_t i = 0; i < s->nfunctions && !rc; i++) {
		struct stacks_row *row;

		if (!(w->function[i].total > 0))
			continue;
		row = row_add(s, STACKS_BY_FUNCTION, s->functions[i].shown);
		from_sums(row, &w->function[i]);
		row->function = i;
		row->class = m[i].at_class;
		row->command = m[i].of_command;
		row->commands = m[i].ncommands;
		row->file = m[i].at_line ? p->line[m[i].at_line - 1].file : NULL;
		row->line = m[i].at_line ? p->line[m[i].at_line - 1].line : 0;
	}
	free(m);
	return rc;
}

static int lines_make(const struct walking *w)
{
	struct stacks *s = w->s;
	const struct stacks_private *p = s->private;
	int rc = rows_begin(s, STACKS_BY_LINE, p->lines.n);

	for (uint32_t i = 0; i < p->lines.n && !rc; i++) {
		struct stacks_row *row;

		if (!(w->line[i].total > 0))
			continue;
		row = row_add(s, STACKS_BY_LINE, s->functions[p->line[i].function].shown);
		from_sums(row, &w->line[i]);
		row->function = p->line[i].function;
		row->file = p->line[i].file;
		row->line = p->line[i].line;
	}
	return rc;
}

static int modules_make(const struct walking *w)
{
	struct stacks *s = w->s;
	int rc = rows_begin(s, STACKS_BY_MODULE, s->run->nmodules);

	for (uint32_t i = 0; i < s->run->nmodules && !rc; i++)
		if (w->module[i].total > 0)
			from_sums(row_add(s, STACKS_BY_MODULE,
					  i ? s->run->modules[i].path : "(unknown)"),
				  &w->module[i]);
	return rc;
}

static int classes_make(struct stacks *s)
{
	uint32_t n = s->classes->n > CLASS_FIRST ? s->classes->n : CLASS_FIRST;
	struct sums *sums = calloc(n, sizeof *sums);
	int rc = sums ? rows_begin(s, STACKS_BY_CLASS, n) : -ENOMEM;

	for (uint32_t i = 0; i < s->run->nstacks && !rc; i++)
		self_add(&sums[s->private->place[i].class], &s->private->place[i]);
	for (uint32_t i = 0; i < n && !rc; i++) {
		struct stacks_row *row;

		if (!(sums[i].self > 0))
			continue;
		row = row_add(s, STACKS_BY_CLASS, classes_label(s->classes, i));
		sums[i].total = sums[i].self;
		from_sums(row, &sums[i]);
		row->class = i;
	}
	free(sums);
	return rc;
}

static int code_make(struct stacks *s)
{
	uint32_t nlines = s->private->lines.n, n = s->run->nstacks;
	size_t nsums = (size_t)s->nfunctions + nlines + s->run->nmodules;
	struct sums *sums = calloc(nsums + 1, sizeof *sums);
	uint32_t *links = calloc(2 * ((size_t)n + 1), sizeof *links);
	struct walking w = { s, sums, NULL, NULL, links, NULL };
	int rc = -ENOMEM;

	if (sums && links) {
		w.line = sums + s->nfunctions;
		w.module = w.line + nlines;
		w.next = links + n + 1;
		walk_all(&w);
		rc = functions_make(&w);
		if (!rc)
			rc = lines_make(&w);
		if (!rc)
			rc = modules_make(&w);
	}
	free(sums);
	free(links);
	return rc ? rc : classes_make(s);
}

/* ---- rows of who ran it ---- */

/* What a thread's row is a part of. */
static struct tally_key part_of(struct stacks *s, enum stacks_by by, const struct tally_key *thread)
{
	struct tally_key key = { thread->text, thread->a, thread->b, thread->c };
	double rank;

	switch (by) {
	case STACKS_BY_COMMAND:
		return (struct tally_key){ thread->text, 0, 0, 0 };
	case STACKS_BY_PROCESS:
		key.c = 0;
		return key;
	case STACKS_BY_RANK:
		rank = stacks_rank(s, thread->b);
		return (struct tally_key){ NULL, rank >= 0 && rank < 1e9 ? (uint32_t)rank + 1 : 0,
					   0, 0 };
	case STACKS_BY_NODE:
		return (struct tally_key){ NULL, thread->a, 0, 0 };
	default:
		return key;
	}
}

static const char *part_name(const struct stacks *s, enum stacks_by by, const struct tally_key *key)
{
	char text[32];

	if (by == STACKS_BY_NODE)
		return key->a < s->run->nnodes && s->run->nodes[key->a].host
			       ? s->run->nodes[key->a].host
			       : "";
	if (by != STACKS_BY_RANK)
		return *key->text ? key->text : "(unknown)";
	if (!key->a)
		return "no rank";
	snprintf(text, sizeof text, "rank %u", key->a - 1);
	return pool_text(&s->private->texts, text, strlen(text));
}

static int parts_make(struct stacks *s, enum stacks_by by)
{
	const struct tally *threads = &s->private->threads;
	struct tally t = { 0 };
	uint32_t at;
	int rc = 0;

	for (uint32_t i = 0; i < threads->n && !rc; i++) {
		struct tally_key key = part_of(s, by, &threads->row[i].key);

		rc = tally_find(&t, &key, &at);
		if (rc)
			break;
		t.row[at].self += threads->row[i].self;
		t.row[at].samples += threads->row[i].samples;
	}
	if (!rc)
		rc = rows_begin(s, by, t.n);
	for (uint32_t i = 0; i < t.n && !rc; i++) {
		const struct tally_key *key = &t.row[i].key;
		const char *name = part_name(s, by, key);
		struct stacks_row *row;

		if (!name) {
			rc = -ENOMEM;
			break;
		}
		row = row_add(s, by, name);
		row->self = row->total = t.row[i].self;
		row->samples = t.row[i].samples;
		if (by == STACKS_BY_RANK && key->a)
			row->rank = key->a - 1;
		if (by == STACKS_BY_RANK)
			continue;
		row->command = key->text;
		row->node = key->a;
		row->instance = key->b;
		row->tid = key->c;
	}
	tally_free(&t);
	return rc;
}

int stacks_rows_make(struct stacks *s)
{
	int rc = s->total > 0 ? code_make(s) : 0;

	for (int by = STACKS_BY_COMMAND; by <= STACKS_BY_NODE && !rc; by++)
		rc = parts_make(s, (enum stacks_by)by);
	for (int by = 0; by < STACKS_BY_NUMBER_OF && !rc; by++)
		if (s->rows[by].n)
			rows_end(s, (enum stacks_by)by);
	return rc;
}

/* ---- rows of phases ---- */

static int phases_take(struct stacks *s, const struct phase_inner *p, struct tally *t,
		       struct err *e)
{
	struct run *r = s->run;
	struct run_samples x;
	int rc = r->next_samples ? r->rewind_samples(r) : 0;

	while (!rc && r->next_samples && (rc = r->next_samples(r, &x, e)) > 0) {
		double part = stacks_selected(s, &x), one = stacks_value(&x), weight = 0;
		double middle = run_seconds(r, x.node, x.t0_ns / 2 + x.t1_ns / 2);
		const struct phase *phase = phase_inner_at(p, x.node, middle);
		uint32_t row;

		for (uint32_t i = 0; i < x.n; i++)
			if (!s->selection.tid || s->selection.tid == x.items[i].task)
				weight += (double)x.items[i].weight;
		rc = 0;
		if (!(weight * part * one > 0))
			continue;
		rc = tally_find(t,
				&(struct tally_key){ phase ? phase->name : "outside of phases",
						     phase != NULL, 0, 0 },
				&row);
		if (rc)
			break;
		t->row[row].self += weight * part * one;
		t->row[row].samples += weight * part;
	}
	return rc;
}

int stacks_phases_make(struct stacks *s, const struct phases *p, struct err *e)
{
	struct phase_inner inner;
	struct tally t = { 0 };
	int rc = phase_inner_make(&inner, p, s->run);

	if (!rc)
		rc = phases_take(s, &inner, &t, e);

	if (!rc && !s->rows[STACKS_BY_PHASE].row)
		rc = rows_begin(s, STACKS_BY_PHASE, t.n);
	for (uint32_t i = s->rows[STACKS_BY_PHASE].n; i < t.n && !rc; i++) {
		const char *text = t.row[i].key.text;
		const char *name = pool_text(&s->private->texts, text, strlen(text));
		struct stacks_row *row;

		if (!name) {
			rc = -ENOMEM;
			break;
		}
		row = row_add(s, STACKS_BY_PHASE, name);
		row->self = row->total = t.row[i].self;
		row->samples = t.row[i].samples;
	}
	if (!rc && t.n)
		rows_end(s, STACKS_BY_PHASE);
	tally_free(&t);
	phase_inner_free(&inner);
	return rc ? err_set(e, rc, "not enough memory to count samples by phase") : 0;
}
