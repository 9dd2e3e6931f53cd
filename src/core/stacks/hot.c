/* SPDX-License-Identifier: Apache-2.0 */
#include "core/stacks/hot.h"

#include "core/glob.h"
#include "core/stacks/stacks_part.h"
#include "core/stacks/symbol.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { INLINED_MAX = 64 };

/* What is a part must have so much of it to be named. */
static const double most = 0.5;

/* Is a function the program's own, and not of a library, the system or an interpreter? file: where
 * it is; templates that take a lambda have no namespace in their names. */
static bool hot_is_own(const struct stacks_function *f, const char *file)
{
	static const char installed[] =
		"/usr/lib*,/lib/*,/lib64/*,*/site-packages/*,*/dist-packages/*";

	if (!strcmp(f->module, PYTHON_MODULE))
		return *f->name && !symbol_is_of_python(file);
	return *f->name && !f->class && *f->module && !classes_is_system(f->module) &&
	       !symbol_is_of_library(f->name, file) && !symbol_is_beginning(f->name) &&
	       strncmp(f->name, "runtime.", strlen("runtime.")) != 0 && /* of Go */
	       !glob_match(installed, f->module);
}

/* ---- one stack ---- */

/* The frames that matter of a stack: 0: there is none. */
struct cut {
	uint32_t own, calls, by;
};

static uint32_t function_of(const struct stacks *s, uint32_t frame)
{
	return s->private->function_of[frame];
}

enum owner { OWNER_UNKNOWN, OWNER_OTHER, OWNER_PROGRAM };

/* Stacks share functions: each is looked at once, but Python's, which are by their files, too. */
static bool frame_is_own(const struct stacks *s, uint8_t *owner, uint32_t frame)
{
	const struct stacks_function *f = stacks_function_of(s, frame);
	uint8_t *known = &owner[function_of(s, frame)];

	if (*known == OWNER_UNKNOWN || !strcmp(f->module, PYTHON_MODULE))
		*known = hot_is_own(f, s->run->frames[frame].file) ? OWNER_PROGRAM : OWNER_OTHER;
	return *known == OWNER_PROGRAM;
}

/* From the innermost outwards: own is the first that is, calls what is just within it, by the next
 * own one that is another function. */
static struct cut cut_of(const struct stacks *s, uint8_t *owner, uint32_t node)
{
	const struct run *r = s->run;
	struct cut c = { 0 };
	uint32_t within = 0;

	for (; node; node = r->stacks[node].parent) {
		uint32_t frame = r->stacks[node].frame;

		for (int i = 0; frame && i < INLINED_MAX; i++, frame = r->frames[frame].outer) {
			bool own = frame_is_own(s, owner, frame);

			if (own && !c.own) {
				c.own = frame;
				c.calls = within;
			} else if (own && function_of(s, frame) != function_of(s, c.own)) {
				c.by = frame;
				return c;
			}
			within = frame;
		}
	}
	return c;
}

/* ---- all of them ---- */

enum { PLACES, CALLS, CALLERS, TALLIES };

struct heating {
	const struct stacks *s;
	struct cut *cut; /* of each stack */
	double *function;
	uint8_t *owner;          /* enum owner, of each function */
	const uint32_t *classes; /* n: 0: samples of all classes count */
	size_t n;
	uint32_t without; /* samples of this class do not count; 0: all do */
	struct tally tally[TALLIES];
};

static double self_of(const struct heating *g, uint32_t stack)
{
	const struct stacks_place *p = &g->s->private->place[stack];
	bool counts = !g->n && !(g->without && p->class == g->without);

	for (size_t i = 0; i < g->n && !counts; i++)
		counts = p->class == g->classes[i];
	return counts ? p->self : 0;
}

static int add(struct heating *g, int which, uint32_t frame, double self)
{
	const struct run_frame *f = &g->s->run->frames[frame];
	const struct tally_key key = { f->file, function_of(g->s, frame), f->line, 0 };
	uint32_t row;
	int rc = frame ? tally_find(&g->tally[which], &key, &row) : 0;

	if (frame && !rc)
		g->tally[which].row[row].self += self;
	return rc;
}

/* The function with most of the rows' time, and its line with most of that. */
static struct hot_place heaviest(const struct heating *g, int which)
{
	const struct tally *t = &g->tally[which];
	double *sum = calloc(g->s->nfunctions + 1u, sizeof *sum), line = 0;
	struct hot_place p = { 0 };
	uint32_t at = 0;

	for (uint32_t i = 0; i < t->n && sum; i++) {
		sum[t->row[i].key.a] += t->row[i].self;
		if (sum[t->row[i].key.a] > p.seconds) {
			at = t->row[i].key.a;
			p.seconds = sum[at];
		}
	}
	p.function = p.seconds > 0 ? &g->s->functions[at] : NULL;
	for (uint32_t i = 0; i < t->n && p.function; i++) {
		if (t->row[i].key.a != at || t->row[i].self <= line)
			continue;
		line = t->row[i].self;
		p.file = t->row[i].key.text && *t->row[i].key.text ? t->row[i].key.text : NULL;
		p.line = t->row[i].key.b;
	}
	free(sum);
	return p;
}

static double line_seconds(const struct heating *g, const struct hot_place *p)
{
	const struct tally *t = &g->tally[PLACES];

	for (uint32_t i = 0; i < t->n; i++)
		if (&g->s->functions[t->row[i].key.a] == p->function && t->row[i].key.b == p->line)
			return t->row[i].self;
	return 0;
}

/* Whose each stack is: by function. */
static uint32_t find_hottest(struct heating *g)
{
	const struct stacks *s = g->s;
	uint32_t best = 0;

	for (uint32_t i = 1; i < s->run->nstacks; i++) {
		uint32_t f;

		if (!(self_of(g, i) > 0))
			continue;
		g->cut[i] = cut_of(s, g->owner, i);
		f = function_of(s, g->cut[i].own ? g->cut[i].own : s->run->stacks[i].frame);
		g->function[f] += self_of(g, i);
		if (f && g->function[f] > g->function[best])
			best = f;
	}
	return best;
}

static int look_at(struct heating *g, uint32_t hottest)
{
	const struct stacks *s = g->s;
	int rc = 0;

	for (uint32_t i = 1; i < s->run->nstacks && !rc; i++) {
		uint32_t frame = g->cut[i].own ? g->cut[i].own : s->run->stacks[i].frame;

		if (!(self_of(g, i) > 0) || function_of(s, frame) != hottest)
			continue;
		rc = add(g, PLACES, frame, self_of(g, i));
		if (!rc)
			rc = add(g, CALLS, g->cut[i].calls, self_of(g, i));
		if (!rc)
			rc = add(g, CALLERS, g->cut[i].by, self_of(g, i));
	}
	return rc;
}

static void take(struct hot *h, const struct heating *g)
{
	h->place = heaviest(g, PLACES);
	if (!h->place.function)
		return;
	h->own = hot_is_own(h->place.function, h->place.file ? h->place.file : "");
	h->line_s = line_seconds(g, &h->place);
	h->calls = heaviest(g, CALLS);
	h->by = heaviest(g, CALLERS);
	if (h->calls.seconds < most * h->place.seconds)
		h->calls = (struct hot_place){ 0 };
	if (h->by.seconds < most * h->place.seconds)
		h->by = (struct hot_place){ 0 };
}

static int begin(struct heating *g, const struct stacks *s)
{
	g->s = s;
	g->cut = calloc(s->run->nstacks + 1u, sizeof *g->cut);
	g->function = calloc(s->nfunctions + 1u, sizeof *g->function);
	g->owner = calloc(s->nfunctions + 1u, 1);
	return g->cut && g->function && g->owner ? 0 : -ENOMEM;
}

static void forget(struct heating *g)
{
	for (int i = 0; i < TALLIES; i++)
		tally_free(&g->tally[i]);
}

static void end(struct heating *g)
{
	free(g->cut);
	free(g->function);
	free(g->owner);
	forget(g);
}

static double sum_of(const struct heating *g)
{
	double all_s = 0;

	for (uint32_t i = 1; i < g->s->run->nstacks; i++)
		all_s += self_of(g, i);
	return all_s;
}

int hot_make_of(struct hot *h, double *all_s, const struct stacks *s, const uint32_t *classes,
		size_t n)
{
	struct heating g = { .classes = classes, .n = n };
	uint32_t hottest;
	int rc = begin(&g, s);

	*h = (struct hot){ 0 };
	*all_s = rc ? 0 : sum_of(&g);
	if (!rc && s->total > 0) {
		hottest = find_hottest(&g);
		rc = hottest ? look_at(&g, hottest) : 0;
		if (!rc && hottest)
			take(h, &g);
	}
	end(&g);
	return rc;
}

int hot_rest_find(struct hot_rest *r, const struct stacks *s, uint32_t without)
{
	struct heating g = { .without = without };
	int rc = begin(&g, s);

	*r = (struct hot_rest){ .seconds = rc ? 0 : sum_of(&g) };
	for (uint32_t hottest = rc ? 0 : find_hottest(&g); hottest && r->n < HOT_PARTS;) {
		struct hot h = { 0 };

		rc = look_at(&g, hottest);
		if (rc)
			break;
		take(&h, &g);
		r->part[r->n] = h.place;
		r->calls[r->n] = h.calls;
		r->n += h.own;
		forget(&g);
		g.function[hottest] = 0;
		hottest = 0;
		for (uint32_t i = 1; i < s->nfunctions; i++)
			if (g.function[i] > g.function[hottest])
				hottest = i;
	}
	end(&g);
	return rc;
}

int hot_owners(uint32_t **owner, const struct stacks *s)
{
	struct heating g = { 0 };
	uint32_t *of = calloc(s->run->nstacks + 1u, sizeof *of);
	int rc = begin(&g, s);

	for (uint32_t i = 1; i < s->run->nstacks && of && !rc; i++)
		if (self_of(&g, i) > 0) {
			struct cut c = cut_of(s, g.owner, i);

			of[i] = function_of(s, c.own ? c.own : s->run->stacks[i].frame);
		}
	end(&g);
	*owner = of;
	return of ? rc : -ENOMEM;
}

int hot_make(struct hot *h, const struct stacks *s)
{
	double all_s;

	return hot_make_of(h, &all_s, s, NULL, 0);
}

/* ---- where it branches ---- */

static struct hot_place place_of(const struct stacks *s, uint32_t node)
{
	const struct stacks_rows *rows = &s->rows[STACKS_BY_FUNCTION];
	uint32_t function = s->nodes[node].function;
	struct hot_place p = { .function = &s->functions[function],
			       .seconds = s->nodes[node].total };

	for (uint32_t i = 0; i < rows->n; i++) {
		if (rows->row[i].function != function)
			continue;
		p.file = rows->row[i].file;
		p.line = rows->row[i].line;
	}
	return p;
}

static void take_part(struct hot_branch *b, const struct stacks *s, uint32_t node)
{
	uint32_t at = b->n;

	while (at && b->part[at - 1].seconds < s->nodes[node].total)
		at--;
	if (at == HOT_PARTS)
		return;
	b->n += b->n < HOT_PARTS;
	for (uint32_t i = b->n - 1; i > at; i--)
		b->part[i] = b->part[i - 1];
	b->part[at] = place_of(s, node);
}

void hot_branch_find(struct hot_branch *b, const struct stacks *s)
{
	static const double least = 0.1; /* of all: a part worth its name */
	uint32_t node = 0;

	*b = (struct hot_branch){ 0 };
	for (uint32_t i = 1; i < s->nnodes; i++) /* what is called comes behind its caller */
		if (s->nodes[i].parent == node && s->nodes[i].total >= most * s->total)
			node = i;
	if (!node)
		return;
	b->from = place_of(s, node);
	for (uint32_t i = node + 1; i < s->nnodes; i++)
		if (s->nodes[i].parent == node && s->nodes[i].total >= least * s->total)
			take_part(b, s, i);
	for (uint32_t i = 0; i < b->n; i++)
		b->seconds += b->part[i].seconds;
}

/* ---- what Python's loop calls ---- */

static bool is_loop(const struct stacks_function *f)
{
	return !strncmp(f->name, "_PyEval_EvalFrame", strlen("_PyEval_EvalFrame")) ||
	       !strncmp(f->name, "PyEval_EvalFrame", strlen("PyEval_EvalFrame"));
}

/* What only hands calls on. */
static bool is_glue(const struct stacks_function *f)
{
	return glob_match(
		"*[vV]ectorcall*,PyObject_Call*,_PyObject_Call*,_PyObject_MakeTpCall,cfunction_*,"
		"_PyEval_*,PyEval_*,_PyFunction_*,call_function,do_call_core,type_call,"
		"object_vacall,slot_tp_*,method_*,_PyObject_FastCall*,PyCFunction_*,"
		"wrap_*,wrapper_call,_Py*DECREF*,Py_*CREF,_Py_Dealloc,unicodeobject_*,"
		"PyNumber_*,binary_op*,binary_iop*",
		f->name);
}

/* Where nearly all samples are in one function of a library, whoever called it. The interpreter's
 * own have the name of another one where it has only those of its exported functions. */
static bool find_innermost(struct hot_place *out, const struct stacks *s, double *of)
{
	static const double nearly_all = 0.8;
	uint32_t best = 0;

	for (uint32_t i = 1; i < s->nnodes; i++) {
		of[s->nodes[i].function] += s->nodes[i].self;
		if (of[s->nodes[i].function] > of[best])
			best = s->nodes[i].function;
	}
	*out = (struct hot_place){ .function = &s->functions[best], .seconds = of[best] };
	memset(of, 0, (s->nfunctions + 1u) * sizeof *of);
	return out->seconds > 0 && out->seconds >= nearly_all * s->total && *out->function->name &&
	       !glob_match("python*,libpython*", symbol_base(out->function->module));
}

int hot_python_calls(struct hot_place *out, const struct stacks *s)
{
	double *of = calloc(s->nfunctions + 1u, sizeof *of), all = 0;
	int rc = of ? 0 : -ENOMEM;
	uint32_t best = 0;

	if (of && find_innermost(out, s, of)) {
		free(of);
		return 0;
	}
	*out = (struct hot_place){ 0 };
	for (uint32_t i = 1; i < s->nnodes && of; i++) {
		uint32_t called = 0, at = i;

		for (; at && !is_loop(&s->functions[s->nodes[at].function]);
		     at = s->nodes[at].parent)
			if (!is_glue(&s->functions[s->nodes[at].function]))
				called = s->nodes[at].function;
		if (!at || !(s->nodes[i].self > 0))
			continue;
		all += s->nodes[i].self;
		of[called] += s->nodes[i].self;
		if (called && of[called] > of[best])
			best = called;
	}
	if (of && best && of[best] >= most * all && *s->functions[best].name)
		*out = (struct hot_place){ .function = &s->functions[best], .seconds = of[best] };
	free(of);
	return rc;
}
