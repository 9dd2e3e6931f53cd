/* SPDX-License-Identifier: Apache-2.0 */
/* waiting.c - counts the time of threads by what they did and waited for, in one pass over it. */
#include "core/stacks/waiting.h"

#include "core/phase/phase_nest.h"
#include "core/stacks/stacks_part.h"
#include "core/stacks/symbol.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INLINED_MAX = 64 };

const char *const waiting_by_names[WAITING_BY_NUMBER_OF] = {
	[WAITING_BY_OBJECT] = "object",   [WAITING_BY_FUNCTION] = "function",
	[WAITING_BY_PLACE] = "place",     [WAITING_BY_CLASS] = "class",
	[WAITING_BY_COMMAND] = "command", [WAITING_BY_PROCESS] = "process",
	[WAITING_BY_THREAD] = "thread",   [WAITING_BY_RANK] = "rank",
	[WAITING_BY_NODE] = "node",       [WAITING_BY_PHASE] = "phase",
};

/* What a stack of the run says of the thread that has it. */
struct meaning {
	enum waiting_part part; /* where its time goes */
	bool waits;
	enum wait_kind kind;
	uint32_t object; /* frame; 0: none */
	uint32_t frame;  /* the program's own function that waits; 0: none */
};

/* Rows of one table, in the order in which they came. */
struct table {
	struct tally keys;
	struct waiting_time *time;
	uint32_t cap;
};

struct waiting_private {
	struct pool texts;
	struct meaning *meaning; /* [run.nstacks] */
	double end_s;            /* of the last set */
	struct table table[WAITING_BY_NUMBER_OF];
	struct table spots; /* by row of BY_THREAD and of BY_PLACE */
};

/* ---- sums ---- */

static double *part_in(struct waiting_time *t, enum waiting_part part)
{
	switch (part) {
	case WAITING_ON_CPU:
		return &t->on_cpu;
	case WAITING_READY:
		return &t->ready;
	case WAITING_UNSEEN:
		return &t->unseen;
	case WAITING_FORBIDDEN:
		return &t->forbidden;
	default:
		return &t->by[(int)part - WAITING_FIRST_KIND];
	}
}

double waiting_part(const struct waiting_time *t, enum waiting_part part)
{
	struct waiting_time copy = *t;

	return *part_in(&copy, part);
}

double waiting_waited(const struct waiting_time *t)
{
	double sum = t->unseen + t->forbidden;

	for (int i = 0; i < WAIT_KINDS; i++)
		sum += t->by[i];
	return sum;
}

double waiting_wall(const struct waiting_time *t)
{
	return t->on_cpu + t->ready + waiting_waited(t);
}

enum wait_kind waiting_most(const struct waiting_time *t, double *seconds)
{
	enum wait_kind most = WAIT_UNKNOWN;

	for (int i = 0; i < WAIT_KINDS; i++)
		if (t->by[i] > t->by[most])
			most = (enum wait_kind)i;
	*seconds = t->by[most];
	return most;
}

static enum waiting_part part_of(const struct meaning *m)
{
	return m->waits ? (enum waiting_part)(WAITING_FIRST_KIND + (int)m->kind) : m->part;
}

static void add(struct waiting_time *t, const struct meaning *m, double seconds)
{
	*part_in(t, part_of(m)) += seconds;
}

/* ---- what stacks say ---- */

static bool is_of_waits(const struct run *r, uint32_t stack)
{
	const struct run_frame *f = &r->frames[r->stacks[stack].frame];

	return stack && f->module < r->nmodules && !strcmp(r->modules[f->module].path, WAIT_MODULE);
}

/* How near a function is to what people look for: of a script before the interpreter's, their own
 * program's before a library's, one with a name before one without. */
static int rank_of(const struct run *r, const struct run_frame *f)
{
	const char *path = f->module < r->nmodules ? r->modules[f->module].path : "";
	bool named = *f->function != '\0', library = strstr(symbol_base(path), ".so") != NULL;

	if (f->module < r->nmodules && !strcmp(path, PYTHON_MODULE))
		return symbol_is_of_python(f->file) ? 5 : 6;
	if (f->flags || !*path || symbol_is_beginning(f->function) || classes_is_system(path) ||
	    symbol_is_cancellation(f->function) || !strncmp(f->file, "/usr/include/", 13))
		return 0;
	return named ? library ? 3 : 4 : library ? 1 : 2;
}

/* Of equally near ones the innermost. */
static uint32_t frame_of(const struct run *r, uint32_t stack)
{
	uint32_t best = r->stacks[stack].frame;
	int rank = -1;

	for (; stack; stack = r->stacks[stack].parent) {
		uint32_t frame = r->stacks[stack].frame;

		for (int n = 0; frame && frame < r->nframes && n < INLINED_MAX; n++) {
			int its = rank_of(r, &r->frames[frame]);

			if (its > rank) {
				rank = its;
				best = frame;
			}
			frame = r->frames[frame].outer;
		}
	}
	return r->frames[best].flags & ~(uint32_t)(FRAME_UNOPTIMIZED | FRAME_SPINS) ? 0 : best;
}

static const struct {
	const char *name;
	enum waiting_part part;
} parts[] = {
	{ WAIT_ON_CPU, WAITING_ON_CPU },
	{ WAIT_WAS_READY, WAITING_READY },
	{ WAIT_UNSEEN, WAITING_UNSEEN },
	{ WAIT_REFUSED, WAITING_FORBIDDEN },
};

static void understand(const struct run *r, uint32_t stack, struct meaning *m)
{
	uint32_t above = r->stacks[stack].parent;
	const char *name = r->frames[r->stacks[stack].frame].function;

	*m = (struct meaning){ .waits = true, .kind = WAIT_UNKNOWN };
	if (!is_of_waits(r, stack)) { /* there was no room to say more */
		m->frame = frame_of(r, stack);
		return;
	}
	for (size_t i = 0; !above && i < sizeof parts / sizeof parts[0]; i++)
		if (!strcmp(name, parts[i].name)) {
			m->part = parts[i].part;
			m->waits = false;
			return;
		}
	if (is_of_waits(r, above)) {
		m->object = r->stacks[stack].frame;
		name = r->frames[r->stacks[above].frame].function;
		above = r->stacks[above].parent;
	}
	if (!wait_kind_find(name, &m->kind))
		m->kind = WAIT_UNKNOWN;
	m->frame = frame_of(r, above);
}

static int understand_all(struct waiting *w, const struct run *r)
{
	struct waiting_private *p = w->private;

	p->meaning = calloc(r->nstacks + 1u, sizeof *p->meaning);
	if (!p->meaning)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->nstacks; i++)
		understand(r, i, &p->meaning[i]);
	return 0;
}

/* ---- counting ---- */

static int table_add(struct table *t, const struct tally_key *key, const struct meaning *m,
		     double seconds, uint32_t *at)
{
	uint32_t row, before = t->keys.n;
	int rc = tally_find(&t->keys, key, &row);

	if (rc)
		return rc;
	if (t->keys.n > before && row >= t->cap) {
		uint32_t cap = t->cap ? t->cap * 2 : 64;
		struct waiting_time *moved = realloc(t->time, cap * sizeof *moved);

		if (!moved)
			return -ENOMEM;
		t->time = moved;
		t->cap = cap;
	}
	if (t->keys.n > before)
		t->time[row] = (struct waiting_time){ 0 };
	add(&t->time[row], m, seconds);
	*at = row;
	return 0;
}

/* One thread's time in one set. */
struct taken {
	const struct run_samples *x;
	const struct event_item *item;
	const struct meaning *m;
	const struct phase *phase;
};

static struct tally_key function_key(const struct waiting *w, const struct meaning *m)
{
	const struct run_frame *f = &w->stacks->run->frames[m->frame];

	return (struct tally_key){ f->file, w->stacks->private->function_of[m->frame], f->line, 0 };
}

/* The row by function, where the thread's time is by now, and what it waited for there. */
static bool place_key(struct waiting *w, const struct meaning *m, struct tally_key *key)
{
	struct tally_key function = function_key(w, m);
	uint32_t row;

	if (!m->waits || tally_find(&w->private->table[WAITING_BY_FUNCTION].keys, &function, &row))
		return false;
	*key = (struct tally_key){ m->object ? w->stacks->run->frames[m->object].function : "",
				   (uint32_t)m->kind, row, 0 };
	return true;
}

/* What a table has it under. False: it has no place there. */
static bool key_of(struct waiting *w, enum waiting_by by, const struct taken *t,
		   struct tally_key *key)
{
	const struct run_samples *x = t->x;
	const struct run *r = w->stacks->run;
	double rank;

	switch (by) {
	case WAITING_BY_OBJECT:
		*key = (struct tally_key){ t->m->object ? r->frames[t->m->object].function : "",
					   (uint32_t)t->m->kind, 0, 0 };
		return t->m->waits;
	case WAITING_BY_FUNCTION:
		*key = function_key(w, t->m);
		return t->m->waits;
	case WAITING_BY_PLACE:
		return place_key(w, t->m, key);
	case WAITING_BY_CLASS:
		*key = (struct tally_key){ NULL, (uint32_t)t->m->kind, 0, 0 };
		return t->m->waits;
	case WAITING_BY_COMMAND:
		*key = (struct tally_key){ x->command, 0, 0, 0 };
		return true;
	case WAITING_BY_PROCESS:
		*key = (struct tally_key){ x->command, x->node, x->instance, 0 };
		return true;
	case WAITING_BY_THREAD:
		*key = (struct tally_key){ x->command, x->node, x->instance, t->item->task };
		return true;
	case WAITING_BY_RANK:
		rank = stacks_rank(w->stacks, x->instance);
		*key = (struct tally_key){ NULL, rank >= 0 && rank < 1e9 ? (uint32_t)rank + 1 : 0,
					   0, 0 };
		return true;
	case WAITING_BY_NODE:
		*key = (struct tally_key){ NULL, x->node, 0, 0 };
		return true;
	default:
		*key = (struct tally_key){ t->phase ? t->phase->name : "outside of phases",
					   t->phase != NULL, 0, 0 };
		return true;
	}
}

static int item_take(struct waiting *w, struct taken *t, double one, bool phases)
{
	double seconds = (double)t->item->weight * one;
	uint32_t row[WAITING_BY_NUMBER_OF] = { 0 };
	struct tally_key spot;
	int rc = 0;

	if (!(seconds > 0))
		return 0;
	t->m = &w->private->meaning[t->item->node < w->stacks->run->nstacks ? t->item->node : 0];
	add(&w->time, t->m, seconds);
	for (int by = 0; by < WAITING_BY_NUMBER_OF - !phases && !rc; by++) {
		struct tally_key key;

		if (key_of(w, (enum waiting_by)by, t, &key))
			rc = table_add(&w->private->table[by], &key, t->m, seconds, &row[by]);
	}
	spot = (struct tally_key){ NULL, row[WAITING_BY_THREAD], row[WAITING_BY_PLACE], 0 };
	if (!rc && t->m->waits)
		rc = table_add(&w->private->spots, &spot, t->m, seconds, &row[0]);
	return rc;
}

static int take_all(struct waiting *w, const struct phase_inner *inner, struct err *e)
{
	struct run *r = w->stacks->run;
	struct run_samples x;
	int rc = r->rewind_samples(r);

	while (!rc && (rc = r->next_samples(r, &x, e)) > 0) {
		struct taken t = { .x = &x };

		rc = 0;
		if (x.kind != SAMPLE_WAITS)
			continue;
		w->private->end_s = fmax(w->private->end_s, run_seconds(r, x.node, x.t1_ns));
		if (inner)
			t.phase = phase_inner_at(inner, x.node,
						 run_seconds(r, x.node, x.t0_ns / 2 + x.t1_ns / 2));
		for (uint32_t i = 0; i < x.n && !rc; i++) {
			t.item = &x.items[i];
			rc = item_take(w, &t, stacks_value(&x), inner != NULL);
		}
	}
	return rc;
}

/* ---- rows ---- */

static int by_waited(const void *a, const void *b)
{
	const struct waiting_row *x = a, *y = b;
	double p = waiting_waited(&x->time), q = waiting_waited(&y->time);

	if (p != q)
		return p < q ? 1 : -1;
	return strcmp(x->name, y->name);
}

static const char *text_of(struct waiting *w, const char *text)
{
	const char *kept = pool_text(&w->private->texts, text, strlen(text));

	return kept ? kept : "";
}

/* "waits for a mutex: at 0x12" is a mutex at 0x12. */
static void fill_object(struct waiting *w, struct waiting_row *row, const struct tally_key *key)
{
	char text[512];

	row->kind = (enum wait_kind)key->a;
	row->object = key->text ? key->text : "";
	snprintf(text, sizeof text, "%s%s%s", wait_kind_words(row->kind), *row->object ? ": " : "",
		 row->object);
	row->name = text_of(w, text);
}

static void fill_function(const struct waiting *w, struct waiting_row *row,
			  const struct tally_key *key)
{
	const struct stacks_function *f = &w->stacks->functions[key->a];

	row->code = key->a;
	row->name = row->shown = f->shown;
	row->function = f->name;
	row->module = *f->module ? f->module : NULL;
	row->file = key->text && *key->text ? key->text : NULL;
	row->line = row->file ? key->b : 0;
}

static void fill_place(struct waiting *w, struct waiting_row *row, const struct tally_key *key)
{
	fill_function(w, row, &w->private->table[WAITING_BY_FUNCTION].keys.row[key->b].key);
	fill_object(w, row, key); /* and its name */
}

static void fill_rank(struct waiting *w, struct waiting_row *row, const struct tally_key *key)
{
	char text[32];

	snprintf(text, sizeof text, "rank %u", key->a - 1);
	row->name = key->a ? text_of(w, text) : "no rank";
	row->rank = key->a ? (double)key->a - 1 : NAN;
}

static void fill(struct waiting *w, enum waiting_by by, struct waiting_row *row,
		 const struct tally_key *key)
{
	const struct run *r = w->stacks->run;

	switch (by) {
	case WAITING_BY_OBJECT:
		fill_object(w, row, key);
		break;
	case WAITING_BY_FUNCTION:
		fill_function(w, row, key);
		break;
	case WAITING_BY_PLACE:
		fill_place(w, row, key);
		break;
	case WAITING_BY_CLASS:
		row->kind = (enum wait_kind)key->a;
		row->name = wait_kind_words(row->kind);
		break;
	case WAITING_BY_RANK:
		fill_rank(w, row, key);
		break;
	case WAITING_BY_NODE:
		row->node = key->a;
		row->name =
			key->a < r->nnodes && r->nodes[key->a].host ? r->nodes[key->a].host : "";
		break;
	case WAITING_BY_PHASE:
		row->name = text_of(w, key->text);
		break;
	default:
		row->command = key->text;
		row->name = *key->text ? key->text : "(unknown)";
		row->node = key->a;
		row->instance = key->b;
		row->tid = key->c;
		break;
	}
}

static int rows_make(struct waiting *w, enum waiting_by by)
{
	const struct table *t = &w->private->table[by];
	struct waiting_rows *rows = &w->rows[by];

	rows->row = calloc(t->keys.n + 1u, sizeof *rows->row);
	if (!rows->row)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->keys.n; i++) {
		struct waiting_row *row = &rows->row[rows->n++];

		*row = (struct waiting_row){ .rank = NAN, .time = t->time[i], .id = i };
		fill(w, by, row, &t->keys.row[i].key);
	}
	qsort(rows->row, rows->n, sizeof *rows->row, by_waited);
	return 0;
}

/* ---- what was not watched ---- */

/* Of one that is still there, up to the last that is known of any. */
static double lifetime(const struct waiting *w, const struct run_instance *p)
{
	const struct run *r = w->stacks->run;
	double from = run_seconds(r, p->node, p->birth_ns), end = w->private->end_s;

	if (p->end_ns != INT64_MAX)
		end = run_seconds(r, p->node, p->end_ns);
	return fmax(0, end - fmax(from, 0));
}

static void compare(struct waiting *w)
{
	const struct run *r = w->stacks->run;
	const struct waiting_rows *threads = &w->rows[WAITING_BY_THREAD];

	for (uint32_t i = 1; i < r->ninstances; i++)
		if (r->instances[i].domain && !strcmp(r->instances[i].domain, "process"))
			w->processes_s += lifetime(w, &r->instances[i]);
	for (uint32_t i = 0; i < threads->n; i++) {
		const struct waiting_row *t = &threads->row[i];
		const char *pid = t->instance ? run_label(r, t->instance, "pid") : NULL;

		if (pid && strtoul(pid, NULL, 10) == t->tid)
			w->watched_s += waiting_wall(&t->time);
	}
}

enum waiting_part waiting_part_of(const struct waiting *w, uint32_t stack, uint32_t *function)
{
	const struct meaning *m = &w->private->meaning[stack < w->stacks->run->nstacks ? stack : 0];

	*function = m->frame ? w->stacks->private->function_of[m->frame] : 0;
	return part_of(m);
}

int waiting_nodes(const struct waiting *w, const struct stacks_fold *f, struct waiting_node *out)
{
	const struct stacks_private *p = w->stacks->private;
	double(*sum)[WAITING_PARTS] = calloc(f->n, sizeof *sum);
	double *most = calloc(f->n, sizeof *most);
	int rc = sum && most ? 0 : -ENOMEM;

	memset(out, 0, f->n * sizeof *out);
	for (uint32_t i = 0; !rc && i < w->stacks->run->nstacks; i++) {
		const struct meaning *m = &w->private->meaning[i];
		const double self = p->place[i].self;
		uint32_t at = f->place[p->place[i].node];

		sum[at][part_of(m)] += self;
		if (m->waits && self > most[at]) {
			most[at] = self;
			out[at].function = p->function_of[m->frame];
		}
	}
	for (uint32_t i = rc ? 0 : f->n; i-- > 0;)
		for (int k = 0; k < WAITING_PARTS; k++) {
			sum[f->nodes[i].parent][k] += i ? sum[i][k] : 0;
			if (sum[i][k] > sum[i][out[i].part])
				out[i].part = (enum waiting_part)k;
		}
	free(sum);
	free(most);
	return rc;
}

void waiting_close(struct waiting *w)
{
	if (!w)
		return;
	for (int by = 0; by < WAITING_BY_NUMBER_OF; by++)
		free(w->rows[by].row);
	for (int by = 0; w->private && by < WAITING_BY_NUMBER_OF; by++) {
		tally_free(&w->private->table[by].keys);
		free(w->private->table[by].time);
	}
	if (w->private) {
		free(w->private->meaning);
		pool_free(&w->private->texts);
		tally_free(&w->private->spots.keys);
		free(w->private->spots.time);
	}
	free(w->spots);
	free(w->private);
	stacks_close(w->stacks);
	free(w);
}

static int make(struct waiting *w, struct run *r, const struct classes *c,
		const struct phases *phases, struct err *e)
{
	struct phase_inner inner = { 0 };
	int rc = stacks_open(&w->stacks, r, c, &(struct stacks_selection){ .kind = SAMPLE_WAITS },
			     e);

	if (rc || !(w->stacks->total > 0))
		return rc;
	rc = understand_all(w, r);
	if (!rc && phases)
		rc = phase_inner_make(&inner, phases, r);
	if (!rc)
		rc = take_all(w, phases ? &inner : NULL, e);
	for (int by = 0; by < WAITING_BY_NUMBER_OF && !rc; by++)
		rc = rows_make(w, (enum waiting_by)by);
	if (!rc)
		rc = waiting_spots_make(w, &w->private->spots.keys, w->private->spots.time);
	if (!rc)
		compare(w);
	phase_inner_free(&inner);
	return rc;
}

int waiting_open(struct waiting **out, struct run *r, const struct classes *c,
		 const struct phases *phases, struct err *e)
{
	struct waiting *w = calloc(1, sizeof *w);
	struct err why = { "" };
	int rc = -ENOMEM;

	*out = NULL;
	if (w)
		w->private = calloc(1, sizeof *w->private);
	if (w && w->private)
		rc = r->nsample_sets_of[SAMPLE_WAITS] ? make(w, r, c, phases, &why) : 0;
	if (rc || !w->stacks || !(w->stacks->total > 0)) {
		waiting_close(w);
		return rc ? err_set(e, rc, "%s",
				    *why.text ? why.text : "not enough memory to count waits")
			  : 0;
	}
	*out = w;
	return 0;
}
