/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.c - counts samples by stack, process and thread, in one pass over them. */
#include "core/stacks/stacks.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/text/decimal.h"
#include "core/glob.h"
#include "core/stacks/stacks_part.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is counted by what ---- */

static uint32_t key_sum(const struct tally_key *key)
{
	const uint32_t ids[] = { key->a, key->b, key->c };

	return (uint32_t)hash_text(hash_bytes(0, ids, sizeof ids), key->text);
}

static bool key_same(const struct tally_key *x, const struct tally_key *y)
{
	const char *a = x->text ? x->text : "", *b = y->text ? y->text : "";

	return x->a == y->a && x->b == y->b && x->c == y->c && (a == b || !strcmp(a, b));
}

static int tally_grow(struct tally *t)
{
	uint32_t n = t->nslots ? t->nslots * 2 : 256;
	uint32_t *slot = n ? calloc(n, sizeof *slot) : NULL;

	if (!slot)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t at = key_sum(&t->row[i].key) & (n - 1);

		while (slot[at])
			at = (at + 1) & (n - 1);
		slot[at] = i + 1;
	}
	free(t->slot);
	t->slot = slot;
	t->nslots = n;
	return 0;
}

int tally_find(struct tally *t, const struct tally_key *key, uint32_t *row)
{
	struct tally_row *moved;
	uint32_t at;

	if (t->n >= t->nslots / 2 && tally_grow(t))
		return -ENOMEM;
	for (at = key_sum(key) & (t->nslots - 1); t->slot[at]; at = (at + 1) & (t->nslots - 1)) {
		*row = t->slot[at] - 1;
		if (key_same(&t->row[*row].key, key))
			return 0;
	}
	moved = array_room(t->row, t->n, &t->cap, sizeof *moved);
	if (!moved)
		return -ENOMEM;
	t->row = moved;
	t->row[t->n] = (struct tally_row){ *key, 0, 0 };
	*row = t->n++;
	t->slot[at] = t->n;
	return 0;
}

void tally_free(struct tally *t)
{
	free(t->row);
	free(t->slot);
	*t = (struct tally){ 0 };
}

static int tally_add(struct tally *t, const struct tally_key *key, double self, double samples)
{
	uint32_t row;
	int rc = tally_find(t, key, &row);

	if (!rc) {
		t->row[row].self += self;
		t->row[row].samples += samples;
	}
	return rc;
}

/* ---- samples ---- */

double stacks_value(const struct run_samples *x)
{
	return stacks_in_bytes(x->kind) ? (double)x->unit : (double)x->unit / 1e9;
}

double stacks_selected(const struct stacks *s, const struct run_samples *x)
{
	const struct stacks_selection *sel = &s->selection;
	double from, to, most, least;

	if (x->kind != sel->kind || (sel->node && sel->node != x->node) ||
	    (sel->instance && sel->instance != x->instance) ||
	    (sel->at_ns && sel->at_ns[x->node] != x->t1_ns) ||
	    (sel->command && strcmp(sel->command, x->command) != 0))
		return 0;
	if (!(sel->from_s < sel->to_s))
		return 1;
	from = run_seconds(s->run, x->node, x->t0_ns);
	to = run_seconds(s->run, x->node, x->t1_ns);
	if (!(to > from))
		return from >= sel->from_s && from < sel->to_s;
	least = fmax(from, sel->from_s);
	most = fmin(to, sel->to_s);
	return most > least ? (most - least) / (to - from) : 0;
}

static int item_take(struct stacks *s, const struct run_samples *x, const struct event_item *item,
		     double part)
{
	struct stacks_private *p = s->private;
	struct stacks_place *place = &p->place[item->node < s->run->nstacks ? item->node : 0];
	uint32_t frame = s->run->stacks[place - p->place].frame;
	double samples = (double)item->weight * part, one = stacks_value(x), self = samples * one;
	int rc;

	if (!(self > 0) || (s->selection.tid && s->selection.tid != item->task))
		return 0;
	place->self += self;
	place->samples += samples;
	s->total += self;
	s->samples += samples;
	p->square += samples * one * one;
	rc = tally_add(&p->threads,
		       &(struct tally_key){ x->command, x->node, x->instance, item->task }, self,
		       samples);
	return rc ? rc
		  : tally_add(&p->leaves,
			      &(struct tally_key){ x->command, p->function_of[frame], 0, 0 }, self,
			      samples);
}

static int samples_take(struct stacks *s, struct err *e)
{
	struct run *r = s->run;
	struct run_samples x;
	int rc = r->next_samples ? r->rewind_samples(r) : 0;

	while (!rc && r->next_samples && (rc = r->next_samples(r, &x, e)) > 0) {
		double part = stacks_selected(s, &x);

		rc = 0;
		for (uint32_t i = 0; i < x.n && part > 0 && !rc; i++)
			rc = item_take(s, &x, &x.items[i], part);
	}
	return rc;
}

/* ---- shares ---- */

double stacks_share(const struct stacks *s, double part)
{
	return s->total > 0 ? part / s->total : 0;
}

double stacks_matching(const struct stacks *s, const char *globs)
{
	uint8_t *below = calloc(s->nnodes + 1u, 1), *matches = calloc(s->nfunctions + 1u, 1);
	double sum = 0;

	for (uint32_t i = 0; i < s->nfunctions && below && matches; i++)
		matches[i] = glob_match(globs, s->functions[i].shown);
	for (uint32_t i = 1; i < s->nnodes && below && matches; i++) {
		bool here = matches[s->nodes[i].function];

		below[i] = here || below[s->nodes[i].parent];
		if (here && !below[s->nodes[i].parent])
			sum += s->nodes[i].total;
	}
	free(matches);
	if (!below || !matches)
		sum = NAN;
	free(below);
	return sum;
}

double stacks_error(const struct stacks *s, double share)
{
	double n = s->effective;

	if (!(n > 0))
		return 1;
	share = fmin(1, fmax(0, share));
	return fmin(1, fmax(1.96 * sqrt(share * (1 - share) / n), 1 / n));
}

const struct stacks_function *stacks_function_of(const struct stacks *s, uint32_t frame)
{
	return &s->functions[s->private->function_of[frame]];
}

/* The rank that a task has in words, or a process of an import; NAN: it has none. */
static double task_rank(const struct run *r, uint32_t instance)
{
	const char *domain = r->instances[instance].domain, *rank = run_label(r, instance, "rank");

	if (!domain || !rank || !*rank ||
	    (strcmp(domain, "task") != 0 && strcmp(domain, "process") != 0))
		return NAN;
	return decimal_parse(rank, NULL);
}

/* The rank of the task whose command this process is: of its number, and as old. */
static double command_rank(const struct stacks *s, uint32_t process)
{
	static const int64_t near_ns = INT64_C(5000000000);
	const struct run *r = s->run;
	const char *pid = run_label(r, process, "pid"), *command;
	const struct run_instance *p = &r->instances[process];

	for (uint32_t i = 0; pid && i < s->private->ntasks; i++) {
		uint32_t task = s->private->task[i];
		const struct run_instance *t = &r->instances[task];
		int64_t apart;

		if (t->node != p->node ||
		    __builtin_sub_overflow(t->birth_ns, p->birth_ns, &apart) || apart > near_ns ||
		    apart < -near_ns)
			continue;
		command = run_label(r, task, "command_pid");
		if (command && !strcmp(command, pid))
			return task_rank(r, task);
	}
	return NAN;
}

/* Of it and of all on the way up to the first that is known, which are known then, too. */
static double find_rank(const struct stacks *s, uint32_t instance)
{
	enum { STEPS_MAX = 1000 };
	const struct run *r = s->run;
	double *known = s->private->rank, rank = NAN;
	uint32_t at = instance;
	int n = 0;

	for (; n < STEPS_MAX && isnan(rank) && at && at < r->ninstances && known[at] < 0; n++) {
		rank = task_rank(r, at);
		if (isnan(rank))
			rank = command_rank(s, at);
		at = r->instances[at].parent;
	}
	if (isnan(rank) && at && at < r->ninstances && !(known[at] < 0))
		rank = known[at];
	rank = rank >= 0 ? rank : NAN;
	for (at = instance; n-- > 0; at = r->instances[at].parent)
		known[at] = rank;
	return rank;
}

double stacks_rank(struct stacks *s, uint32_t instance)
{
	double *known = s->private->rank;

	if (instance >= s->run->ninstances || !s->private->ntasks)
		return NAN;
	if (known[instance] < 0)
		known[instance] = find_rank(s, instance);
	return known[instance];
}

/* Tasks that have ranks; ranks that nobody asked for yet are below 0. */
static int ranks_begin(struct stacks *s)
{
	struct stacks_private *p = s->private;
	const struct run *r = s->run;

	p->rank = calloc(r->ninstances + 1u, sizeof *p->rank);
	p->task = calloc(r->ninstances + 1u, sizeof *p->task);
	if (!p->rank || !p->task)
		return -ENOMEM;
	for (uint32_t i = 1; i < r->ninstances; i++) {
		p->rank[i] = -1;
		if (!isnan(task_rank(r, i)))
			p->task[p->ntasks++] = i;
	}
	p->rank[0] = NAN;
	return 0;
}

/* ---- all of it ---- */

void stacks_close(struct stacks *s)
{
	struct stacks_private *p = s ? s->private : NULL;

	if (p) {
		pool_free(&p->texts);
		free(p->place);
		free(p->rank);
		free(p->task);
		tally_free(&p->threads);
		tally_free(&p->leaves);
		tally_free(&p->functions);
		tally_free(&p->lines);
		tally_free(&p->children);
		free(p->function_of);
		free(p->line_of);
		free(p->line);
		free(p);
	}
	for (int by = 0; s && by < STACKS_BY_NUMBER_OF; by++)
		free(s->rows[by].row);
	if (s) {
		free(s->functions);
		free(s->nodes);
	}
	free(s);
}

static int make(struct stacks *s, struct err *e)
{
	struct stacks_private *p = s->private;
	int rc;

	p->place = calloc(s->run->nstacks + 1u, sizeof *p->place);
	rc = p->place && !ranks_begin(s) ? stacks_code_make(s) : -ENOMEM;
	if (!rc && s->run->nstacks)
		rc = samples_take(s, e);
	if (rc)
		return rc;
	s->effective = p->square > 0 ? s->total * s->total / p->square : 0;
	rc = stacks_tree_make(s);
	return rc ? rc : stacks_rows_make(s);
}

int stacks_open(struct stacks **out, struct run *r, const struct classes *c,
		const struct stacks_selection *sel, struct err *e)
{
	struct stacks *s = calloc(1, sizeof *s);
	struct err why = { "" };
	int rc = -ENOMEM;

	*out = NULL;
	if (s)
		s->private = calloc(1, sizeof *s->private);
	if (s && s->private) {
		s->run = r;
		s->classes = c;
		s->selection = *sel;
		rc = make(s, &why);
	}
	if (rc) {
		stacks_close(s);
		return err_set(e, rc, "%s",
			       *why.text ? why.text : "not enough memory to count samples");
	}
	*out = s;
	return 0;
}
