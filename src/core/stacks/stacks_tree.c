/* SPDX-License-Identifier: Apache-2.0 */
/* stacks_tree.c - functions and lines of frames; the tree of them, and what counts for each. */
#include "core/stacks/stacks_part.h"
#include "core/stacks/symbol.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_BYTES = 512, INLINED_MAX = 64, NODES_MAX = 1 << 22 };

/* ---- functions and lines ---- */

static const char *shown_of(struct stacks_private *p, const struct run_frame *f, const char *path)
{
	char text[SHOWN_BYTES], name[SHOWN_BYTES];

	if (f->flags & FRAME_OTHER)
		snprintf(text, sizeof text, "(other stacks)");
	else if (f->flags & FRAME_UNSEEN)
		snprintf(text, sizeof text, STACKS_UNSEEN);
	else if (f->flags & FRAME_SPINS && *f->function)
		snprintf(text, sizeof text, "%.400s, waiting loop",
			 symbol_short(f->function, name, sizeof name));
	else if (!strcmp(path, PYTHON_MODULE))
		snprintf(text, sizeof text, "%.400s", f->function); /* "<listcomp>" is a name */
	else if (*f->function)
		symbol_short(f->function, text, sizeof text);
	else if (*path)
		snprintf(text, sizeof text, "%.400s (no symbols)", symbol_base(path));
	else
		return "(unknown)";
	return pool_text(&p->texts, text, strlen(text));
}

static int function_take(struct stacks *s, uint32_t frame)
{
	struct stacks_private *p = s->private;
	const struct run_frame *f = &s->run->frames[frame];
	const char *path = f->module < s->run->nmodules ? s->run->modules[f->module].path : "";
	uint32_t row, before = p->functions.n;
	int rc = tally_find(
		&p->functions,
		&(struct tally_key){ f->function, f->module,
				     f->flags & (FRAME_OTHER | FRAME_UNSEEN | FRAME_SPINS), 0 },
		&row);

	if (rc)
		return rc;
	p->function_of[frame] = row;
	if (p->functions.n == before)
		return 0;
	s->functions[row] = (struct stacks_function){
		.name = f->function,
		.shown = shown_of(p, f, path),
		.module = path,
		.module_id = f->module,
	};
	s->functions[row].class =
		classes_match(s->classes, f->function, path, &s->functions[row].named);
	if (f->flags & FRAME_SPINS && !s->functions[row].class) {
		s->functions[row].class = classes_find(s->classes, "spinning");
		s->functions[row].named = true;
	}
	s->nfunctions = p->functions.n;
	return s->functions[row].shown ? 0 : -ENOMEM;
}

static int line_take(struct stacks *s, uint32_t frame)
{
	struct stacks_private *p = s->private;
	const struct run_frame *f = &s->run->frames[frame];
	uint32_t row, function = p->function_of[frame];
	int rc = tally_find(&p->lines, &(struct tally_key){ f->file, function, f->line, 0 }, &row);

	if (rc)
		return rc;
	p->line_of[frame] = row;
	p->line[row].function = function;
	p->line[row].file = *f->file ? f->file : NULL;
	p->line[row].line = f->line;
	return 0;
}

int stacks_code_make(struct stacks *s)
{
	struct stacks_private *p = s->private;
	uint32_t n = s->run->nframes;
	int rc = 0;

	s->functions = calloc(n + 1u, sizeof *s->functions);
	p->function_of = calloc(n + 1u, sizeof *p->function_of);
	p->line_of = calloc(n + 1u, sizeof *p->line_of);
	p->line = calloc(n + 1u, sizeof *p->line);
	if (!s->functions || !p->function_of || !p->line_of || !p->line)
		return -ENOMEM;
	for (uint32_t i = 0; i < n && !rc; i++) {
		rc = function_take(s, i);
		if (!rc)
			rc = line_take(s, i);
	}
	return rc;
}

/* ---- the tree ---- */

struct growing {
	struct stacks *s;
	struct class_walk *walk; /* of each node */
	uint8_t *system;         /* of each module */
	uint32_t cap;
};

static int node_room(struct growing *g)
{
	uint32_t cap = g->cap ? g->cap * 2 : 1024;
	void *moved;

	if (g->s->nnodes < g->cap)
		return 0;
	moved = realloc(g->s->nodes, cap * sizeof *g->s->nodes);
	if (!moved)
		return -ENOMEM;
	g->s->nodes = moved;
	moved = realloc(g->walk, cap * sizeof *g->walk);
	if (!moved)
		return -ENOMEM;
	g->walk = moved;
	g->cap = cap;
	return 0;
}

/* Stacks end there: of which kind they are. */
static uint32_t class_end(const struct stacks *s, uint32_t function, uint32_t class)
{
	const struct stacks_function *f = &s->functions[function];

	return class == CLASS_OWN && !*f->name && !*f->module ? CLASS_UNKNOWN : class;
}

/* The function, called from there. */
static int node_find(struct growing *g, uint32_t parent, uint32_t function, uint32_t *node)
{
	struct stacks *s = g->s;
	const struct stacks_function *f = &s->functions[function];
	struct tally *children = &s->private->children;
	uint32_t row, before = children->n;
	struct class_step step;
	int rc;

	if (s->nnodes >= NODES_MAX) {
		*node = parent; /* whose own time it becomes */
		return 0;
	}
	rc = node_room(g);
	if (!rc)
		rc = tally_find(children, &(struct tally_key){ NULL, parent, function, 0 }, &row);
	if (rc)
		return rc;
	*node = row + 1;
	if (children->n == before)
		return 0;
	g->walk[*node] = g->walk[parent];
	s->nodes[*node] = (struct stacks_node){ .parent = parent, .function = function };
	step = (struct class_step){ f->class, f->module_id, f->named,
				    f->module_id < s->run->nmodules && g->system[f->module_id] };
	s->nodes[*node].class =
		class_end(s, function, classes_walk(&g->walk[*node], s->classes, &step));
	s->nnodes = *node + 1;
	return 0;
}

/* The places in code of a stack's last call, the innermost first. */
static uint32_t chain_of(const struct run *r, uint32_t frame, uint32_t chain[INLINED_MAX])
{
	uint32_t n = 0;

	do {
		chain[n++] = frame;
		frame = frame < r->nframes ? r->frames[frame].outer : 0;
	} while (frame && n < INLINED_MAX);
	return n;
}

static int stack_expand(struct growing *g, uint32_t stack)
{
	struct stacks *s = g->s;
	struct stacks_place *place = &s->private->place[stack];
	const struct run_stack *at = &s->run->stacks[stack];
	uint32_t chain[INLINED_MAX], n = chain_of(s->run, at->frame, chain);
	uint32_t node = at->parent ? s->private->place[at->parent].node : 0;
	int rc = 0;

	while (n && !rc)
		rc = node_find(g, node, s->private->function_of[chain[--n]], &node);
	if (rc)
		return rc;
	place->node = node;
	place->class = s->nodes[node].class;
	s->nodes[node].self += place->self;
	s->nodes[node].samples += place->samples;
	return 0;
}

/* What was selected of a stack and of those that it calls. */
static void totals(struct stacks *s)
{
	struct stacks_place *place = s->private->place;
	const struct run *r = s->run;

	for (uint32_t i = r->nstacks; i-- > 0;) {
		place[i].total += place[i].self;
		if (i && r->stacks[i].parent)
			place[r->stacks[i].parent].total += place[i].total;
	}
}

static uint32_t flags_at(const struct run *r, uint32_t stack)
{
	return r->frames[r->stacks[stack].frame].flags;
}

/* From there on calls are missing that nothing above says are missing. */
static bool begins_partial(const struct run *r, uint32_t stack)
{
	const uint32_t partial = FRAME_CUT | FRAME_LOST_WAY | FRAME_OTHER;
	uint32_t above = r->stacks[stack].parent;

	if (!(flags_at(r, stack) & (above ? FRAME_OTHER : partial)))
		return false;
	while (above && !(flags_at(r, above) & partial))
		above = r->stacks[above].parent;
	return !above;
}

/* Of stacks that are not whole; of functions that were not optimized. */
static void parts_count(struct stacks *s)
{
	const struct run *r = s->run;
	const struct stacks_place *place = s->private->place;

	for (uint32_t i = 1; i < r->nstacks; i++) {
		if (flags_at(r, i) & FRAME_UNOPTIMIZED)
			s->unoptimized += place[i].self;
		if (begins_partial(r, i))
			s->cut += place[i].total;
	}
	s->cut += r->nstacks ? place[0].total : 0;
}

static void node_totals(struct stacks *s)
{
	for (uint32_t i = s->nnodes; i-- > 0;) {
		struct stacks_node *n = &s->nodes[i];

		n->total += n->self;
		if (i)
			s->nodes[n->parent].total += n->total;
	}
}

int stacks_tree_make(struct stacks *s)
{
	struct growing g = { .s = s, .system = calloc(s->run->nmodules + 1u, 1) };
	int rc = g.system ? node_room(&g) : -ENOMEM;

	for (uint32_t i = 0; !rc && i < s->run->nmodules; i++)
		g.system[i] = classes_is_system(s->run->modules[i].path);
	if (!rc) {
		s->nodes[0] = (struct stacks_node){ .class = CLASS_OWN };
		g.walk[0] = (struct class_walk){ 0 };
		s->nnodes = 1;
		totals(s);
		parts_count(s);
	}
	for (uint32_t i = 0; !rc && i < s->run->nstacks; i++)
		if (s->private->place[i].total > 0)
			rc = stack_expand(&g, i);
	if (!rc)
		node_totals(s);
	free(g.walk);
	free(g.system);
	return rc;
}
