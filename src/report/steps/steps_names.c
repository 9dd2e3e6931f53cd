/* SPDX-License-Identifier: Apache-2.0 */
/* steps_names.c - steps that a program names: spans or marks that repeat. */
#include "base/array.h"
#include "report/steps/steps.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Repeats that are enough; spans and marks that are looked at. */
enum { LEAST = 5, MOST = 1 << 18 };

struct item {
	char name[STEP_NAME];
	uint32_t node, track;
	double from_s, to_s; /* to_s NAN: a mark */
};

struct items {
	struct item *item;
	uint32_t n, cap;
	bool failed;
};

/* "epoch 12 of 90" is "epoch # of #". */
static void put_name(char out[STEP_NAME], const char *name)
{
	size_t n = 0;

	for (size_t i = 0; name[i] && n < STEP_NAME - 1; i++) {
		bool digit = isdigit((unsigned char)name[i]);

		if (digit && n && out[n - 1] == '#')
			continue;
		out[n++] = digit ? '#' : name[i];
	}
	out[n] = '\0';
}

static void add(struct items *x, const struct item *it, const char *name)
{
	void *room;

	if (x->failed || !name || !*name || x->n == MOST || !strncmp(name, "sonde.", 6))
		return;
	room = array_room(x->item, x->n, &x->cap, sizeof *x->item);
	x->failed = !room;
	if (!room)
		return;
	x->item = room;
	x->item[x->n] = *it;
	put_name(x->item[x->n++].name, name);
}

bool step_is_call(const char *name)
{
	return name && !strncmp(name, "MPI_", strlen("MPI_"));
}

/* A call of MPI is no step: steps are from one to the next (steps_recur.c). */
static void add_span(struct items *x, const struct run *r, const struct run_span *s)
{
	if (s->end_ns == INT64_MAX || s->end_ns <= s->begin_ns || step_is_call(s->name))
		return;
	add(x,
	    &(struct item){ .node = s->node,
			    .track = s->track,
			    .from_s = run_seconds(r, s->node, s->begin_ns),
			    .to_s = run_seconds(r, s->node, s->end_ns) },
	    s->name);
}

static int collect(struct items *x, const struct run *r)
{
	for (uint32_t i = 1; i < r->nspans; i++)
		add_span(x, r, &r->spans[i]);
	for (uint32_t i = 0; i < r->npacks && r->npacked <= MOST; i++) {
		const struct run_span *s;
		struct err e;
		int n = r->unpack ? r->unpack(r, i, &s, &e) : 0;

		for (int k = 0; k < n; k++)
			add_span(x, r, &s[k]);
	}
	for (uint32_t i = 1; i < r->nmarks; i++)
		add(x,
		    &(struct item){ .node = r->marks[i].node,
				    .track = r->marks[i].instance,
				    .from_s = run_seconds(r, r->marks[i].node, r->marks[i].at_ns),
				    .to_s = NAN },
		    r->marks[i].name);
	return x->failed ? -ENOMEM : 0;
}

/* Those of one name, node and track, spans apart from marks. */
static int by_row(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int name = strcmp(x->name, y->name);

	if (name)
		return name;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	return isnan(x->to_s) - isnan(y->to_s);
}

static int in_order(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int row = by_row(a, b);

	return row ? row : (x->from_s > y->from_s) - (x->from_s < y->from_s);
}

/* Names that programs give to steps. */
static bool is_step_word(const char *name)
{
	static const char *const words[] = { "step",  "iter", "epoch", "batch",
					     "cycle", "loop", "round" };

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strcasestr(name, words[i]))
			return true;
	return false;
}

/* The time that steps of these would take; 0: they are none. */
static double covered(const struct item *it, uint32_t n)
{
	bool marks = isnan(it->to_s);
	double sum = 0, over = 0;

	if (n < (marks ? LEAST + 1 : LEAST))
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		sum += marks ? 0 : it[i].to_s - it[i].from_s;
		if (i + 1 < n && !marks)
			over += fmax(0, it[i].to_s - it[i + 1].from_s);
	}
	if (marks)
		sum = it[n - 1].from_s - it[0].from_s;
	return over > sum / 50 ? 0 : sum;
}

static int take(struct steps *x, const struct item *it, uint32_t n)
{
	bool marks = isnan(it->to_s);

	x->step = calloc(n, sizeof *x->step);
	if (!x->step)
		return -ENOMEM;
	x->n = marks ? n - 1 : n;
	x->node = it->node;
	x->source = marks ? STEPS_OF_MARKS : STEPS_OF_SPANS;
	memcpy(x->name, it->name, sizeof x->name);
	for (uint32_t i = 0; i < x->n; i++)
		x->step[i] = (struct step){ .from_s = it[i].from_s,
					    .to_s = marks ? it[i + 1].from_s : it[i].to_s };
	return 0;
}

int steps_of_names(struct steps *x, const struct summary *s, const struct run *r)
{
	const double least = 0.3, wordy = 1.25;
	struct items all = { 0 };
	double most = 0;
	uint32_t best = 0, nbest = 0, n;
	int rc = collect(&all, r);

	if (!rc && all.n)
		qsort(all.item, all.n, sizeof *all.item, in_order);
	for (uint32_t i = 0; !rc && i < all.n; i += n) {
		double c;

		for (n = 1; i + n < all.n && !by_row(&all.item[i], &all.item[i + n]);)
			n++;
		c = covered(&all.item[i], n);
		if (!(c >= least * s->wall_s))
			continue;
		c *= is_step_word(all.item[i].name) ? wordy : 1;
		if (c > most) {
			most = c;
			best = i;
			nbest = n;
		}
	}
	if (!rc && nbest)
		rc = take(x, &all.item[best], nbest);
	free(all.item);
	return rc;
}
