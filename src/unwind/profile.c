/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/profile.h"

#include "base/hash.h"
#include "unwind/messages.h"

#include <stdlib.h>
#include <string.h>

enum {
	HASH = 1 << 17,
	FLAGS = 4,      /* frames without code, for which there is always room */
	OUTERMOST = 12, /* calls that are kept of a stack without room, as far as they are known */
	/* Nodes up to here are of whole stacks, then of functions of those without room, below
	 * their outermost calls and without them. */
	INNERMOST_END = NODES_MAX - FLAGS,
	BELOW_END = INNERMOST_END - 8192,
	STACKS_END = BELOW_END - 16384,
};
#define NO_ROOM UINT32_MAX

struct frame {
	uint64_t address;
	uint64_t sum; /* of what it is called, for those that are found by it; or 0 */
	uint32_t module, outer, line;
	uint32_t as;         /* it is told as this one, which is called the same; 0: as itself */
	uint32_t id;         /* in the order of telling; 0: never told */
	uint16_t depth;      /* how many calls are inlined into it */
	uint8_t flags, made; /* made: as named's */
	bool told, asked;    /* it is recorded as it is now; its name is on its way */
	char *function, *file;
};

struct node {
	uint32_t parent, frame;
	uint32_t as, id; /* likewise */
};

struct group {
	pid_t pid;
	enum sample_kind kind;
	char command[16];
	int64_t period, t0_ns, t1_ns;
};

struct profile {
	struct stacks_page *page;
	struct names *names;
	struct modules *modules;
	enum sample_kind kind;
	/* Ids are indexes from 1 on, and what earlier helpers have given away. */
	struct frame frame[FRAMES_MAX + 1];
	struct node node[NODES_MAX + 1];
	uint32_t nframes, nnodes;
	uint32_t nobjects;              /* frames without code that have a name */
	uint32_t frame_told, node_told; /* those up to it were told at least once, */
	uint32_t frame_ids, node_ids;   /* with so many ids */
	uint32_t frames_hash[HASH], nodes_hash[HASH];
	uint32_t sums_hash[HASH]; /* frames by their sum */
	struct group group[GROUPS_MAX + 1];
	uint32_t ngroups;
	struct counts counts;
	bool changed; /* a frame that was told is known better now */
};

struct profile *profile_make(struct stacks_page *page, struct names *names, struct modules *modules,
			     enum sample_kind kind)
{
	struct profile *p = calloc(1, sizeof *p);

	if (p) {
		p->page = page;
		p->names = names;
		p->modules = modules;
		p->kind = kind;
	}
	return p;
}

static uint32_t hash_of(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ b * UINT64_C(0xff51afd7ed558ccd)) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint32_t)(h >> 40) % HASH;
}

/* ---- frames and nodes ---- */

static bool is_frame(const struct frame *f, const struct frame *like)
{
	return f->module == like->module && f->address == like->address &&
	       f->depth == like->depth && f->flags == like->flags &&
	       (!like->file ||
		(f->line == like->line && f->file && !strcmp(f->file, like->file))) &&
	       (!like->function || (f->function && !strcmp(f->function, like->function)));
}

/* The frame that is like this; 0: there is none yet, *at is where it belongs. */
static uint32_t frame_find(const struct profile *p, const struct frame *like, uint32_t *at)
{
	*at = hash_of(like->address + hash_text(0, like->function),
		      (uint64_t)like->module << 24 | (uint64_t)like->depth << 8 | like->flags);
	while (p->frames_hash[*at] && !is_frame(&p->frame[p->frames_hash[*at]], like))
		*at = (*at + 1) % HASH;
	return p->frames_hash[*at];
}

/* The same, made if need be; NO_ROOM. Texts of a new one are copies. */
static uint32_t frame_get(struct profile *p, const struct frame *like)
{
	uint32_t at, i = frame_find(p, like, &at);
	struct frame *f;

	if (i)
		return i;
	if (p->nframes + (like->flags ? 0 : FLAGS) >= FRAMES_MAX)
		return NO_ROOM;
	f = &p->frame[++p->nframes];
	*f = *like;
	f->function = like->function ? strdup(like->function) : NULL;
	f->file = like->file ? strdup(like->file) : NULL;
	p->frames_hash[at] = p->nframes;
	return p->nframes;
}

/* make: if need be; else NO_ROOM, too, is one that is not known. */
static uint32_t frame_of(struct profile *p, const struct place *place, bool make)
{
	const struct frame like = { .module = place->module,
				    .address = place->address,
				    .function = (char *)(uintptr_t)place->function,
				    .file = (char *)(uintptr_t)place->file,
				    .line = place->line };
	uint32_t had = p->nframes, at, i = make ? frame_get(p, &like) : frame_find(p, &like, &at);

	if (!i || i == NO_ROOM)
		return NO_ROOM;
	if (i > had && place->module >= MODULE_VDSO) {
		p->frame[i].asked = true;
		names_ask(p->names, i, place->module, place->address);
	}
	return p->frame[i].as ? p->frame[i].as : i;
}

/* Up to how many nodes there may be one like this. */
static uint32_t room_for(const struct profile *p, uint32_t parent, uint32_t frame)
{
	const struct node *above = &p->node[parent];

	if (p->frame[frame].flags)
		return parent ? BELOW_END : NODES_MAX;
	if (!(p->frame[above->frame].flags & FRAME_OTHER))
		return STACKS_END;
	return above->parent ? BELOW_END : INNERMOST_END;
}

static uint32_t node_get(struct profile *p, uint32_t parent, uint32_t frame)
{
	uint32_t at = hash_of(parent, frame);

	if (frame == NO_ROOM || parent == NO_ROOM)
		return NO_ROOM;
	while (p->nodes_hash[at]) {
		const struct node *n = &p->node[p->nodes_hash[at]];

		if (n->parent == parent && n->frame == frame)
			return p->nodes_hash[at];
		at = (at + 1) % HASH;
	}
	if (p->nnodes >= room_for(p, parent, frame))
		return NO_ROOM;
	p->node[++p->nnodes] = (struct node){ .parent = parent, .frame = frame };
	p->nodes_hash[at] = p->nnodes;
	return p->nnodes;
}

/* A frame without code, that says something of the stack: of what it calls. */
static uint32_t flag_node(struct profile *p, uint32_t parent, uint32_t flag)
{
	const struct frame like = { .flags = (uint8_t)flag };

	return node_get(p, parent, frame_get(p, &like));
}

/* Its innermost function below those of its outermost calls that are known. */
static uint32_t fold(struct profile *p, const struct stack *s, uint32_t outer)
{
	bool make = p->nnodes < INNERMOST_END;
	uint32_t frame = s->n ? frame_of(p, &s->place[0], make) : NO_ROOM;
	uint32_t node = NO_ROOM, root;

	atomic_fetch_add(&p->page->folded, 1);
	if (outer)
		node = node_get(p, flag_node(p, outer, FRAME_OTHER), frame);
	if (node != NO_ROOM)
		return node;
	root = flag_node(p, 0, FRAME_OTHER);
	node = node_get(p, root, frame);
	return node == NO_ROOM ? root : node;
}

/* A stack for which there is no room is folded: what is known of it ends at its outermost calls,
 * and begins at its innermost one. */
uint32_t profile_node(struct profile *p, const struct stack *s)
{
	uint32_t node = s->flags ? flag_node(p, 0, s->flags) : 0, outer = 0;

	for (uint32_t i = s->n; i > 0; i--) {
		/* A frame that no node is of would only take room. */
		node = node_get(p, node, frame_of(p, &s->place[i - 1], p->nnodes < STACKS_END));
		if (node == NO_ROOM)
			return fold(p, s, s->flags ? 0 : outer);
		if (s->n - i < OUTERMOST)
			outer = node;
	}
	return node && node != NO_ROOM ? node : fold(p, s, 0);
}

uint32_t profile_named(struct profile *p, uint32_t node, const char *name)
{
	const struct frame like = { .module = MODULE_WAIT, .function = (char *)(uintptr_t)name };
	uint32_t had = p->nframes, below;

	if (p->nobjects == OBJECTS_MAX)
		return node;
	below = node_get(p, node, frame_get(p, &like));
	p->nobjects += p->nframes > had;
	return below == NO_ROOM ? node : below;
}

/* ---- counts ---- */

static bool is_group(const struct group *g, const struct space *x, const struct sampled *s)
{
	return (g->kind != SAMPLE_RESIDENT || g->t1_ns == s->at_ns) && g->pid == s->pid &&
	       g->period == s->period && !memcmp(g->command, x->command, sizeof g->command);
}

static void group_reach(struct group *g, const struct sampled *s)
{
	if (s->at_ns > g->t1_ns)
		g->t1_ns = s->at_ns;
	if (s->at_ns < g->t0_ns)
		g->t0_ns = s->at_ns;
}

static uint32_t group_make(struct profile *p, const struct space *x, const struct sampled *s,
			   enum sample_kind kind)
{
	struct group *g = &p->group[p->ngroups + 1];

	if (p->ngroups == GROUPS_MAX)
		return 0;
	*g = (struct group){ .pid = s->pid, .kind = kind, .period = s->period, .t0_ns = s->at_ns };
	memcpy(g->command, x->command, sizeof g->command);
	return ++p->ngroups;
}

static uint32_t group_of(struct profile *p, struct space *x, const struct sampled *s)
{
	const struct group *g = &p->group[x->group <= p->ngroups ? x->group : 0];

	if (!x->group || x->group > p->ngroups || g->kind != p->kind || !is_group(g, x, s))
		x->group = group_make(p, x, s, p->kind);
	if (x->group)
		group_reach(&p->group[x->group], s);
	return x->group;
}

/* One of another kind, of which there are few. */
static uint32_t group_find(struct profile *p, const struct space *x, const struct sampled *s,
			   enum sample_kind kind)
{
	uint32_t i = p->ngroups;

	while (i && (p->group[i].kind != kind || !is_group(&p->group[i], x, s)))
		i--;
	if (!i)
		i = group_make(p, x, s, kind);
	if (i)
		group_reach(&p->group[i], s);
	return i;
}

static void count_put(struct profile *p, const struct count *one)
{
	if (one->weight && (!one->group || !one->node || !counts_add(&p->counts, one)))
		atomic_fetch_add(&p->page->lost, 1);
}

uint32_t profile_seen(struct profile *p, const struct stack *stack, int64_t cpu_ns)
{
	uint32_t node = profile_node(p, stack);

	names_earn(p->names, cpu_ns);
	atomic_fetch_add(&p->page->samples, 1);
	atomic_fetch_add(&p->page->lost, !node);
	return node;
}

void profile_add(struct profile *p, struct space *x, const struct sampled *s,
		 const struct stack *stack)
{
	const struct count one = { group_of(p, x, s), (uint32_t)s->tid,
				   profile_seen(p, stack, s->period), 1 };

	if (one.node)
		count_put(p, &one);
}

void profile_add_kernel(struct profile *p, struct space *x, const struct sampled *s,
			const struct stack *stack)
{
	const struct looked l = { profile_node(p, stack), SAMPLE_KERNEL, 1 };

	names_earn(p->names, s->period);
	profile_look(p, x, s, &l);
}

void profile_look(struct profile *p, struct space *x, const struct sampled *s,
		  const struct looked *l)
{
	const struct count one = { group_find(p, x, s, l->kind), (uint32_t)s->tid, l->node,
				   l->weight };

	count_put(p, &one);
}

void profile_time(struct profile *p, struct space *x, int64_t period_ns, const struct timed *t)
{
	const struct sampled s = { t->pid, t->tid, t->to_ns, period_ns };
	const struct count one = { group_of(p, x, &s), (uint32_t)t->tid, t->node, t->weight };

	count_put(p, &one);
	if (one.weight && one.group && t->from_ns < p->group[one.group].t0_ns)
		p->group[one.group].t0_ns = t->from_ns;
}

uint32_t profile_unseen(struct profile *p)
{
	return flag_node(p, 0, FRAME_UNSEEN); /* of flags there is always room */
}

/* ---- telling ---- */

static uint32_t module_id(const struct profile *p, uint32_t i)
{
	return i ? p->page->module + i - 1 : 0;
}

static uint32_t frame_id(const struct profile *p, uint32_t i)
{
	uint32_t as = p->frame[i].as ? p->frame[i].as : i;

	return i ? p->page->frame + p->frame[as].id - 1 : 0;
}

static uint32_t node_id(const struct profile *p, uint32_t i)
{
	uint32_t id = p->node[p->node[i].as ? p->node[i].as : i].id;

	return id ? p->page->node + id - 1
		  : 0; /* 0: without room, what it is told as was not made */
}

/* Of all that is shown of it; 0: more will be known of it, or nothing ever will. */
static uint64_t sum_of(uint32_t module, const struct named *x)
{
	uint64_t sum = hash_bytes(x->made, &module, sizeof module);

	if (!x->n || !x->is_final || (!x->level[0].function && !x->start))
		return 0;
	sum = hash_bytes(sum, &x->start, sizeof x->start);
	for (uint32_t k = 0; k < x->n; k++) {
		sum = hash_bytes(hash_text(sum, x->level[k].function), "", 1);
		sum = hash_bytes(hash_text(sum, x->level[k].file), &x->level[k].line,
				 sizeof x->level[k].line);
	}
	return sum;
}

/* Of a hot function each instruction would be a frame: the first one of a line, and of a function
 * without a name, is told for all others. */
static bool is_as_another(struct profile *p, const struct named *x)
{
	struct frame *f = &p->frame[x->frame];
	uint64_t sum = f->as || f->sum ? 0 : sum_of(f->module, x);
	uint32_t at = hash_of(sum, f->module);

	while (sum && p->sums_hash[at] && p->frame[p->sums_hash[at]].sum != sum)
		at = (at + 1) % HASH;
	if (sum && p->sums_hash[at] && !f->id) {
		f->as = p->sums_hash[at];
	} else if (sum && !p->sums_hash[at]) {
		p->sums_hash[at] = x->frame;
		f->sum = sum;
	}
	return f->as;
}

/* What was found belongs to its frame; what that is inlined into becomes frames of their own. */
static void take_name(struct profile *p, struct named *x)
{
	uint32_t i = x->frame, n = is_as_another(p, x) ? 0 : x->n;

	for (uint32_t k = 0; k < n; k++) {
		struct frame *f = &p->frame[i], like;
		uint32_t outer = 0;

		if (k + 1 < n) {
			like = (struct frame){ .module = f->module,
					       .address = f->address,
					       .depth = (uint16_t)(k + 1) };
			outer = frame_get(p, &like);
		}
		free(f->function);
		free(f->file);
		f->function = x->level[k].function;
		f->file = x->level[k].file;
		f->line = x->level[k].line;
		f->made = k ? x->made & FRAME_UNOPTIMIZED : x->made;
		f->outer = outer == NO_ROOM ? 0 : outer;
		x->level[k].function = x->level[k].file = NULL;
		p->changed |= f->told;
		f->told = false;
		if (!f->outer)
			break;
		i = f->outer;
	}
	p->frame[x->frame].asked = false;
	named_free(x);
}

static bool tell_module(struct profile *p, uint32_t i)
{
	struct module *m = &p->modules->row[i];

	if (i && !m->told)
		m->told = message_module(p->page, module_id(p, i), m->path, m->build_id);
	return !i || m->told;
}

static bool tell_frame(struct profile *p, uint32_t i)
{
	struct frame *f = &p->frame[i];
	struct stacks_frame s = { .module = module_id(p, f->module),
				  .line = f->line,
				  .flags = f->made ? f->made : f->flags,
				  .address = f->address };

	if (f->told || f->as)
		return true;
	if (f->outer && !tell_frame(p, f->outer))
		return false;
	if (!f->id)
		f->id = ++p->frame_ids;
	s.id = frame_id(p, i);
	s.outer = frame_id(p, f->outer);
	if (!tell_module(p, f->module) || !message_frame(p->page, s, f->function, f->file))
		return false;
	f->told = true;
	if (!f->asked && (f->module >= MODULE_VDSO || f->module == MODULE_NONE)) {
		/* the others are told apart by their names */
		free(f->function);
		free(f->file);
		f->function = f->file = NULL;
	}
	return true;
}

static bool tell_frames(struct profile *p)
{
	for (uint32_t i = p->changed ? 1 : p->frame_told + 1; i <= p->nframes; i++) {
		if (!tell_frame(p, i))
			return false;
		p->frame_told = i > p->frame_told ? i : p->frame_told;
	}
	p->changed = false;
	return true;
}

/* Is it one that is told? Not if it was made before a frame of it was known to be another. */
static bool is_told(struct profile *p, uint32_t i)
{
	struct node *n = &p->node[i];
	uint32_t parent = p->node[n->parent].as, frame = p->frame[n->frame].as;

	if (!n->as && (parent || frame))
		n->as = node_get(p, parent ? parent : n->parent, frame ? frame : n->frame);
	if (n->as == NO_ROOM)
		n->as = 0;
	return !n->as;
}

static bool tell_nodes(struct profile *p)
{
	static struct event_item items[EVENT_ITEMS_MAX];
	struct stacks_nodes m;

	while (p->node_told < p->nnodes) {
		uint32_t n = 0, at = p->node_told;

		for (; n < EVENT_ITEMS_MAX && at < p->nnodes; at++) {
			struct node *x = &p->node[at + 1];

			if (!is_told(p, at + 1))
				continue;
			items[n] = (struct event_item){ node_id(p, x->parent),
							frame_id(p, x->frame), 0 };
			x->id = p->node_ids + ++n;
		}
		m = (struct stacks_nodes){ p->page->node + p->node_ids, n };
		if (n && !message_items(p->page, STACKS_NODES,
					(struct message_piece){ &m, sizeof m }, items, n))
			return false;
		p->node_told = at;
		p->node_ids += n;
	}
	return true;
}

/* CPU time is told to a millisecond (2^20 ns): no more is known of it, and the rest takes four
 * bytes a time in the recording. Of other kinds times are compared. */
static int64_t told_ns(const struct group *g, int64_t at_ns)
{
	return g->kind == SAMPLE_CPU || g->kind == SAMPLE_PYTHON || g->kind == SAMPLE_KERNEL
		       ? at_ns & -(1 << 20)
		       : at_ns;
}

/* Those of one group from the first that was not told. */
static bool tell_group(struct profile *p)
{
	static struct event_item items[EVENT_ITEMS_MAX];
	const struct count *c = counts_ahead(&p->counts, 0);
	const uint32_t group = c->group;
	const struct group *g = &p->group[group];
	struct stacks_samples h = { .pid = g->pid,
				    .kind = (uint32_t)g->kind,
				    .unit = g->period,
				    .t0_ns = told_ns(g, g->t0_ns),
				    .t1_ns = told_ns(g, g->t1_ns) };

	memcpy(h.command, g->command, sizeof g->command);
	for (; c && c->group == group && h.n < EVENT_ITEMS_MAX; c = counts_ahead(&p->counts, h.n))
		items[h.n++] = (struct event_item){ c->task, node_id(p, c->node), c->weight };
	if (!message_items(p->page, STACKS_SAMPLES, (struct message_piece){ &h, sizeof h }, items,
			   h.n))
		return false;
	p->counts.told += h.n;
	return true;
}

bool profile_tell(struct profile *p)
{
	struct named *x;
	bool all = true;

	while ((x = names_take(p->names)))
		take_name(p, x);
	if (!tell_frames(p) || !tell_nodes(p))
		return false;
	counts_sort(&p->counts);
	while (all && counts_ahead(&p->counts, 0))
		all = tell_group(p);
	counts_forget(&p->counts);
	if (!all)
		return false;
	p->ngroups = 0;
	messages_end(p->page);
	return true;
}
