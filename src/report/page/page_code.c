/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page/page_code.h"

#include "base/text/escape.h"
#include "core/stacks/symbol.h"
#include "report/lines.h"
#include "report/page/page_html.h"
#include "report/page/page_series.h"
#include "report/page/page_table.h"
#include "sink/profile/profile.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	NODES = 16000,  /* of the tree */
	CELLS = 100000, /* of a set: 4 bytes each, as text */
	SHOWN_TEXT = 1024,
};

static const struct {
	const char *key;
	enum stacks_group group;
} sets[PAGE_CODE_SETS] = {
	{ "node", STACKS_PER_NODE },
	{ "rank", STACKS_PER_RANK },
	{ "command", STACKS_PER_COMMAND },
};

/* ---- kinds of code ---- */

/* Of the classes of the most time, in the colours that code.js has; place: a class. */
static void page_code_kinds(struct page_kinds *k, const struct stacks *s)
{
	static const char *const colour[] = { "blue", "orange", "green", "purple", "sky", "red" };
	const struct stacks_rows *rows = &s->rows[STACKS_BY_CLASS];
	const uint32_t others = PAGE_CODE_KINDS - 1;
	uint32_t n = 0;

	*k = (struct page_kinds){ .id = "code", .n = PAGE_CODE_KINDS };
	for (uint32_t i = 0; i < PAGE_CODE_KINDS; i++)
		k->kind[i] = (struct page_kind){ .label = "other kinds of code", .colour = "grey" };
	for (uint32_t i = 0; i < CLASSES_MAX; i++)
		k->of[i] = others;
	for (uint32_t i = 0; i < rows->n; i++) {
		const struct stacks_row *row = &rows->row[i];

		if (!(row->self > 0) || row->class >= CLASSES_MAX)
			continue;
		if (n < others) {
			k->kind[n].label = s->classes->row[row->class].label;
			k->kind[n].colour = colour[n];
			k->of[row->class] = n++;
		}
		k->kind[k->of[row->class]].seconds += row->self;
	}
}

void page_code_chart_json(struct json *j, const struct page_kinds *k)
{
	page_kinds_chart_json(j, k,
			      &(struct page_chart){ .title = "CPU by kind of code",
						    .note = "CPU time with samples, in cores",
						    .unit = UNIT_CORES });
}

/* ---- what there is ---- */

static int make_sets(struct page_code *c, struct err *e)
{
	struct stacks_axis axis = { .to_s = c->end_s, .buckets = PAGE_BUCKETS };
	int rc = 0;

	if (stacks_fold_make(&c->fold, c->stacks, NODES))
		return err_set(e, -ENOMEM, "out of memory while writing the report");
	for (int i = 0; i < PAGE_CODE_SETS && !rc; i++) {
		axis.group = sets[i].group;
		axis.most_groups = PAGE_GROUPS;
		axis.most = CELLS;
		rc = stacks_cells_make(&c->set[i], c->stacks, &c->fold, &axis, e);
	}
	return rc;
}

int page_code_make(struct page_code *c, const struct code *code, double end_s, struct err *e)
{
	int rc;

	*c = (struct page_code){ .key = "code", .end_s = end_s };
	if (!code || !code->stacks || !(code->stacks->total > 0) || !(end_s > 0))
		return 0;
	c->stacks = code->stacks;
	c->account = &code->account;
	page_code_kinds(&c->kinds, c->stacks);
	rc = make_sets(c, e);
	return rc ? rc : page_kinds_cells(&c->kinds, c->stacks, NULL, end_s, e);
}

int page_code_make_waits(struct page_code *c, const struct waittime *t, double end_s, struct err *e)
{
	int rc = page_waits_make(&c->kinds, t, end_s, e);

	c->key = "waits";
	c->end_s = end_s;
	if (rc || !c->kinds.cells.buckets)
		return rc;
	c->waiting = t->waiting;
	c->stacks = t->waiting->stacks;
	rc = make_sets(c, e);
	if (rc)
		return rc;
	c->waits = calloc(c->fold.n, sizeof *c->waits);
	if (!c->waits || waiting_nodes(c->waiting, &c->fold, c->waits))
		return err_set(e, -ENOMEM, "out of memory while writing the report");
	return 0;
}

void page_code_free(struct page_code *c)
{
	for (int i = 0; i < PAGE_CODE_SETS; i++)
		stacks_cells_free(&c->set[i]);
	page_kinds_free(&c->kinds);
	stacks_fold_free(&c->fold);
	free(c->waits);
	*c = (struct page_code){ 0 };
}

/* ---- the tree ---- */

struct where {
	const char *file;
	uint32_t line;
};

struct writing {
	const struct page_code *c;
	struct where *where;   /* of each function: where most of its self is */
	uint32_t *function_at; /* of each function on the page; 0: it is not there yet */
	uint32_t *module_at;   /* of each module in "strings", likewise */
	uint32_t nplaces, nstrings;
	struct json *strings;
	struct bytes functions, tree, owners;
};

static uint32_t put_string(struct writing *w, const char *hostile)
{
	char text[SHOWN_TEXT];

	if (!hostile || !*hostile)
		return 0;
	json_text(w->strings, escape_terminal_into(text, sizeof text, hostile));
	return w->nstrings++;
}

static uint32_t put_module(struct writing *w, const struct stacks_function *f)
{
	if (!w->module_at[f->module_id])
		w->module_at[f->module_id] = put_string(w, f->module);
	return w->module_at[f->module_id];
}

static uint32_t put_function(struct writing *w, uint32_t function)
{
	const struct stacks_function *f;
	const struct where *where;
	bool waits;

	if (function == STACKS_OTHER)
		return 0;
	if (w->function_at[function])
		return w->function_at[function];
	f = &w->c->stacks->functions[function];
	where = &w->where[function];
	waits = !strcmp(f->module, WAIT_MODULE); /* no code, but its words */
	bytes_varint(&w->functions, put_string(w, waits ? profile_name(f) : f->shown));
	bytes_varint(&w->functions, waits ? 0 : put_module(w, f));
	bytes_varint(&w->functions, put_string(w, where->file));
	bytes_varint(&w->functions, where->file ? where->line : 0);
	w->function_at[function] = w->nplaces++;
	return w->function_at[function];
}

/* The function that a node's own waiting counts for; 0: there is none. */
static uint32_t put_owner(struct writing *w, uint32_t node)
{
	const struct waiting_node *n = &w->c->waits[node];

	return n->part >= WAITING_FIRST_KIND && w->c->fold.nodes[node].self > 0
		       ? put_function(w, n->function)
		       : 0;
}

/* strings, functions, tree: the first function is that of what was folded. */
static void tree_json(struct json *j, struct writing *w)
{
	const struct page_code *c = w->c;

	json_key(j, "strings");
	json_array(j);
	json_text(j, "");
	json_text(j, "other functions");
	w->strings = j;
	w->nstrings = 2;
	w->nplaces = 1;
	bytes_varint(&w->functions, 1);
	for (int i = 0; i < 3; i++)
		bytes_varint(&w->functions, 0);
	for (uint32_t i = 1; i < c->fold.n; i++) {
		const struct stacks_node *n = &c->fold.nodes[i];

		bytes_varint(&w->tree, i - n->parent);
		bytes_varint(&w->tree, put_function(w, n->function));
		bytes_varint(&w->tree, c->kinds.of[c->waits ? c->waits[i].part : n->class]);
		if (c->waits)
			bytes_varint(&w->owners, put_owner(w, i));
	}
	json_array_end(j);
}

static void put_bytes(struct json *j, const char *key, struct bytes *b)
{
	json_key(j, key);
	if (b->failed)
		j->out->failed = true;
	else
		page_pack_bytes(j, b->data, b->len);
	bytes_free(b);
}

/* ---- its times ---- */

static bool same(const struct stacks_cell *a, const struct stacks_cell *b, bool bucket)
{
	return a->group == b->group && (!bucket || a->bucket == b->bucket);
}

/* The end of the cells from i on that are of one group, or also of one bucket; and how many buckets
 * they are of. */
static uint32_t run_of(const struct stacks_cells *x, uint32_t i, bool bucket, uint32_t *buckets)
{
	uint32_t end = i + 1;

	*buckets = 1;
	for (; end < x->n && same(&x->cell[i], &x->cell[end], bucket); end++)
		*buckets += !same(&x->cell[end - 1], &x->cell[end], true);
	return end;
}

static void put_cells(struct bytes *b, const struct stacks_cells *x, double unit)
{
	uint32_t buckets, unused;

	for (uint32_t i = 0; i < x->n;) {
		uint32_t end = run_of(x, i, false, &buckets), before = UINT32_MAX;

		bytes_varint(b, x->cell[i].group);
		bytes_varint(b, buckets);
		while (i < end) {
			uint32_t last = run_of(x, i, true, &unused), node = 0;

			bytes_varint(b, x->cell[i].bucket - before);
			bytes_varint(b, last - i);
			before = x->cell[i].bucket;
			for (; i < last; i++) {
				bytes_varint(b, x->cell[i].place - node);
				bytes_varint(b, (uint64_t)llround((double)x->cell[i].value / unit));
				node = x->cell[i].place;
			}
		}
	}
}

static bool has_cells(const struct stacks_cells *x, uint32_t group)
{
	uint32_t i = page_cells_first(x, group);

	return i < x->n && x->cell[i].group == group;
}

/* One without a name cannot be chosen: nothing is in it. */
static void group_json(struct json *j, const struct stacks_cells *x, uint32_t i,
		       enum stacks_group by)
{
	const struct stacks_row *g = &x->groups[i];
	char text[SHOWN_TEXT], name[SHOWN_TEXT];

	if (!i)
		snprintf(name, sizeof name, "the others");
	else if (by == STACKS_PER_RANK && isnan(g->rank))
		snprintf(name, sizeof name, "no rank");
	else if (by == STACKS_PER_RANK)
		snprintf(name, sizeof name, "rank %.0f", g->rank);
	else
		snprintf(name, sizeof name, "%s", g->name ? g->name : "");
	json_object(j);
	json_put_text(j, "name",
		      has_cells(x, i) ? escape_terminal_into(text, sizeof text, name) : NULL);
	json_put_int(j, "node", !i || !g->node ? -1 : (int64_t)g->node - 1);
	json_object_end(j);
}

static bool has_ranks(const struct stacks_cells *x)
{
	for (uint32_t i = 1; i < x->ngroups; i++)
		if (!isnan(x->groups[i].rank))
			return true;
	return false;
}

static void sets_json(struct json *j, const struct page_code *c, double unit)
{
	json_key(j, "sets");
	json_object(j);
	for (int i = 0; i < PAGE_CODE_SETS; i++) {
		const struct stacks_cells *x = &c->set[i];
		struct bytes cells = { 0 };

		if (sets[i].group == STACKS_PER_RANK && !has_ranks(x))
			continue;
		json_key(j, sets[i].key);
		json_object(j);
		json_put_int(j, "buckets", x->buckets);
		json_key(j, "groups");
		json_array(j);
		for (uint32_t g = 0; g < x->ngroups; g++)
			group_json(j, x, g, sets[i].group);
		json_array_end(j);
		put_cells(&cells, x, unit);
		put_bytes(j, "cells", &cells);
		json_object_end(j);
	}
	json_object_end(j);
}

static void classes_json(struct json *j, const struct page_code *c)
{
	json_key(j, "classes");
	json_array(j);
	for (uint32_t k = 0; k < c->kinds.n; k++)
		json_text(j, c->kinds.kind[k].label);
	json_array_end(j);
	json_key(j, "colours");
	json_array(j);
	for (uint32_t k = 0; k < c->kinds.n; k++)
		json_text(j, c->kinds.kind[k].colour);
	json_array_end(j);
}

/* Of the rows, most first: the first of a function counts. */
static void where_make(struct where *where, const struct page_code *c)
{
	const struct stacks_rows *rows = &c->stacks->rows[STACKS_BY_FUNCTION];

	for (uint32_t i = 0; i < rows->n; i++)
		where[rows->row[i].function] =
			(struct where){ rows->row[i].file, rows->row[i].line };
	for (uint32_t i = c->waiting ? c->waiting->rows[WAITING_BY_FUNCTION].n : 0; i-- > 0;) {
		const struct waiting_row *row = &c->waiting->rows[WAITING_BY_FUNCTION].row[i];

		where[row->code] = (struct where){ row->file, row->line };
	}
}

/* Of CPU time: what there was, how much of it has samples, and of what kind is the rest. */
static void whole_json(struct json *j, const struct page_code *c)
{
	const struct code_account *a = c->account;

	if (!a)
		return;
	json_put_real(j, "period", c->stacks->total / fmax(c->stacks->effective, 1));
	json_key(j, "whole");
	json_array(j);
	json_real(j, a->whole_s);
	json_real(j, a->short_s);
	json_real(j, a->rest_s);
	json_real(j, a->system_s);
	json_array_end(j);
}

void page_code_json(struct json *j, const struct page_code *c)
{
	const struct stacks *x = c->stacks;
	struct writing w = { .c = c };
	double unit;

	if (!x)
		return;
	unit = fmax(x->total / 4e6, 1e-5);
	w.where = calloc(x->nfunctions + 1u, sizeof *w.where);
	w.function_at = calloc(x->nfunctions + 1u, sizeof *w.function_at);
	w.module_at = calloc(x->run->nmodules + 1u, sizeof *w.module_at);
	j->out->failed |= !w.where || !w.function_at || !w.module_at;
	if (w.where)
		where_make(w.where, c);
	json_key(j, c->key);
	json_object(j);
	json_put_real(j, "end", c->end_s);
	json_put_real(j, "unit", unit);
	whole_json(j, c);
	json_put_real(j, "cut", x->cut);
	classes_json(j, c);
	if (!j->out->failed)
		tree_json(j, &w);
	put_bytes(j, "functions", &w.functions);
	put_bytes(j, "tree", &w.tree);
	if (c->waits)
		put_bytes(j, "owners", &w.owners);
	sets_json(j, c, unit);
	json_object_end(j);
	free(w.where);
	free(w.function_at);
	free(w.module_at);
}

/* ---- the section: exact CPU time by kind of code, and the functions of the most time ---- */

enum { FUNCTIONS = 10, PARTS = PAGE_CODE_KINDS + 3 };

/* Kinds of code, then what no sample is of. Their number. */
static uint32_t parts_of(struct page_kind out[PARTS], const struct code *code)
{
	const struct code_account *a = &code->account;
	struct page_kinds k;
	uint32_t n = 0;

	page_code_kinds(&k, code->stacks);
	if (code_is_thin(code))
		out[n++] = (struct page_kind){ "code with too few samples", "blue", a->sampled_s };
	for (uint32_t i = 0; i < k.n && !code_is_thin(code); i++)
		out[n++] = k.kind[i];
	out[n++] = (struct page_kind){ "in processes too short to be sampled", "pale",
				       fmax(a->short_s, 0) };
	out[n++] = (struct page_kind){ "not sampled otherwise", "pale", fmax(a->rest_s, 0) };
	out[n++] = (struct page_kind){ "kernel", "ink", fmax(a->system_s, 0) };
	return n;
}

/* "31 % ± 2" */
static void share_cell(struct bytes *b, const struct code *code, const struct stacks *s,
		       double part, bool error)
{
	double points = 100 * code_error(code, s, part);
	char cell[CELL];

	bytes_printf(b, "<td data-v=\"%.9g\">%s", part,
		     cell_share(cell, code_share(code, s, part)));
	if (error)
		bytes_printf(b, points < 0.95 ? " ± %.1g" : " ± %.0f", points);
	bytes_puts(b, "</td>");
}

static void function_row(struct bytes *b, const struct code *code, const struct stacks *s,
			 const struct stacks_row *row)
{
	const struct stacks_function *f = &s->functions[row->function];

	html_name_cell(b, f->shown, NAN);
	share_cell(b, code, s, row->self, true);
	share_cell(b, code, s, row->total, false);
	html_where_cell(b, row->file, row->line);
	html_text_cell(b, *f->module ? symbol_base(f->module) : NULL);
	html_text_cell(b, row->command);
	bytes_puts(b, "</tr>\n");
}

static void functions(struct bytes *b, const struct code *code, const struct stacks *s,
		      const char *caption)
{
	static const struct html_heading h[] = {
		{ "Function", true, false },
		{ "Self", false, true },
		{ "Total", false, false },
		{ "Where", true, false },
		{ "Program or library", true, false },
		{ "Process", true, false },
	};
	const struct stacks_rows *rows = &s->rows[STACKS_BY_FUNCTION];

	html_table(b, caption, h, sizeof h / sizeof h[0]);
	for (uint32_t i = 0; i < rows->n && i < FUNCTIONS && rows->row[i].self > 0; i++)
		function_row(b, code, s, &rows->row[i]);
	html_table_end(b);
}

static void gaps(struct bytes *b, const struct code_gaps *g)
{
	struct bytes text = { 0 };

	for (unsigned i = 0; code_gaps_say(g, i, &text); i++)
		html_soft(b, &text);
	bytes_free(&text);
}

static void samples(struct bytes *b, const struct code *code)
{
	const struct stacks *s = code->stacks;

	bytes_puts(b, "<p class=\"soft\">");
	html_value(b, UNIT_SECONDS, code->account.whole_s);
	bytes_printf(b, " of CPU time; %.0f samples of stacks", s->samples);
	if (s->cut > s->total / 100)
		bytes_printf(b, ", %.2g %% of them cut", 100 * s->cut / s->total);
	if (code_is_thin(code))
		bytes_puts(b, ". ");
	code_thin_words(code, b);
	bytes_puts(b, "</p>");
}

void html_code(struct bytes *b, const struct page_source *p)
{
	const struct code *code = p->summary->code;
	struct page_kind part[PARTS];

	if (!code || (!code->stacks && code->gaps.after_s > 0))
		return;
	bytes_puts(b, "<section aria-labelledby=\"h-code\">\n<h2 id=\"h-code\">Which code used the "
		      "CPU</h2>\n");
	if (!code->stacks || !(code->account.whole_s > 0)) {
		bytes_puts(b, "<div class=\"panel empty\"><p>No samples of code.</p>");
		gaps(b, &code->gaps);
		bytes_puts(b, "</div></section>");
		return;
	}
	bytes_puts(b, "<div class=\"panel account\">");
	samples(b, code);
	gaps(b, &code->gaps);
	html_kinds(b, part, parts_of(part, code), code->account.whole_s);
	bytes_puts(b, "</div>\n");
	if (code->stacks->total > 0 && !code_is_thin(code))
		functions(b, code, code->stacks,
			  "Functions that used the most CPU time. Self: in the function; total: "
			  "with what it calls. Shares of all CPU time, with the 95 % interval");
	if (code->python)
		functions(b, code, code->python,
			  "Functions of Python that used the most CPU time, with what they call in "
			  "libraries. Shares of Python's sampled time, with the 95 % interval");
	if (code->kernel && code->kernel->total > 0)
		functions(
			b, code, code->kernel,
			"Functions that the kernel worked for most: system calls, and code that "
			"touched new memory. Total: with what they call. Shares of its sampled time, "
			"with the 95 % interval");
	bytes_puts(b, "</section>");
}
