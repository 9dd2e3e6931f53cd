/* SPDX-License-Identifier: Apache-2.0 */
/* steps_code.c - which code and which waits took longer in slow steps than in plain ones. */
#include "core/stacks/within.h"
#include "report/steps/steps.h"
#include "report/summary/code.h"
#include "report/summary/waittime.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Growths of a kind of steps, and of a kind of samples. */
enum { OF_KIND = STEP_GROWTHS / 2, OF_SAMPLES = OF_KIND / 2 };

/* Steps of a group: those of a kind, or one alone (from STEP_KINDS on). */
struct group {
	enum step_kind kind;
	uint32_t steps, step;
	double length_s;
};

struct looking {
	struct steps *x;
	const struct stacks *stacks, *waits;
	struct group group[STEP_KINDS + STEP_LOOKS];
	uint32_t ngroups;
	struct step_growth grown[STEP_KINDS][SAMPLE_KIND_NUMBER_OF][OF_SAMPLES];
	double by[STEP_KINDS][SAMPLE_KIND_NUMBER_OF][OF_SAMPLES];
	double most[STEP_KINDS + STEP_LOOKS];
};

static double length_of(const struct step *p)
{
	return p->to_s - p->from_s;
}

static bool is_looked_at(enum step_kind kind)
{
	return kind == STEP_SLOW || kind == STEP_CHECKPOINT;
}

/* The longest that are slow or have a checkpoint have a group of their own. */
static uint32_t least_alone(const struct steps *x, double *least_s)
{
	double longest[STEP_LOOKS];
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->n; i++) {
		double s = length_of(&x->step[i]);
		uint32_t at;

		if (!is_looked_at(x->step[i].kind) ||
		    (n == STEP_LOOKS && s <= longest[STEP_LOOKS - 1]))
			continue;
		n += n < STEP_LOOKS;
		for (at = n - 1; at && longest[at - 1] < s; at--)
			longest[at] = longest[at - 1];
		longest[at] = s;
	}
	*least_s = n ? longest[n - 1] : INFINITY;
	return n;
}

static void group_add(struct group *g, const struct step *p)
{
	g->steps++;
	g->length_s += length_of(p);
}

static void find_groups(struct looking *k, struct within_interval *interval)
{
	const struct steps *x = k->x;
	double least_s;
	uint32_t alone = least_alone(x, &least_s);

	k->ngroups = STEP_KINDS;
	for (uint32_t i = 0; i < x->n; i++) {
		const struct step *p = &x->step[i];
		uint32_t at = p->kind;

		k->group[at].kind = p->kind;
		group_add(&k->group[at], p);
		if (is_looked_at(p->kind) && length_of(p) >= least_s && alone) {
			at = k->ngroups++;
			k->group[at] = (struct group){ .kind = p->kind, .step = i };
			group_add(&k->group[at], p);
			alone--;
		}
		interval[i] = (struct within_interval){ p->from_s, p->to_s, at };
	}
}

/* Seconds of a step of the group, and of a plain one as long. */
struct seconds {
	double here, usual, by;
};

/* Threads that only wait do so as long as a step takes: what they waited in proportion is no
 * growth. What grows less than this, a share of a plain step and of what is longer, is chance. */
static bool has_grown(const struct looking *k, const struct group *g, bool waits,
		      const double sum[2], struct seconds *out)
{
	const double share = 0.05, part = 0.1;
	double plain_s = k->group[STEP_PLAIN].length_s / k->group[STEP_PLAIN].steps;
	double longer_s = g->length_s / g->steps - plain_s,
	       ratio = g->length_s / g->steps / plain_s;

	out->here = sum[0] / g->steps;
	out->usual = sum[1] / k->group[STEP_PLAIN].steps;
	out->by = out->here - out->usual * (waits ? fmax(1, ratio) : 1);
	return out->by > fmax(share * plain_s, part * longer_s);
}

static struct step_growth growth_of(const struct looking *k, const struct within_cell *c,
				    enum step_kind of, const struct seconds *s)
{
	const struct stacks *stacks = c->kind == SAMPLE_WAITS ? k->waits : k->stacks;
	const struct stacks_function *f = stacks && c->function && c->function < stacks->nfunctions
						  ? &stacks->functions[c->function]
						  : NULL;

	return (struct step_growth){ .of = of,
				     .kind = c->kind,
				     .part = c->part,
				     .function = f ? f->shown : "",
				     .module = f ? f->module : "",
				     .here_s = s->here,
				     .usual_s = s->usual };
}

static void keep_of_kind(struct looking *k, const struct within_cell *c, enum step_kind of,
			 const struct seconds *s)
{
	struct step_growth *grown = k->grown[of][c->kind];
	double *by = k->by[of][c->kind];
	int at = OF_SAMPLES;

	while (at && s->by > by[at - 1])
		at--;
	if (at == OF_SAMPLES)
		return;
	for (int i = OF_SAMPLES - 1; i > at; i--) {
		grown[i] = grown[i - 1];
		by[i] = by[i - 1];
	}
	grown[at] = growth_of(k, c, of, s);
	by[at] = s->by;
}

/* All cells of one function and one kind of wait. */
static void look_at(struct looking *k, const struct within_cell *c, uint32_t n)
{
	double sum[STEP_KINDS + STEP_LOOKS] = { 0 };
	struct seconds s;

	for (uint32_t i = 0; i < n; i++) {
		sum[c[i].group] += c[i].seconds;
		if (c[i].group >= STEP_KINDS)
			sum[k->group[c[i].group].kind] += c[i].seconds;
	}
	for (uint32_t g = 0; g < k->ngroups; g++) {
		bool alone = g >= STEP_KINDS;
		const double both[2] = { sum[g], sum[STEP_PLAIN] };

		if (!k->group[g].steps || !is_looked_at(k->group[g].kind) ||
		    !has_grown(k, &k->group[g], c->kind == SAMPLE_WAITS, both, &s))
			continue;
		if (!alone) {
			keep_of_kind(k, c, k->group[g].kind, &s);
		} else if (s.by > k->most[g]) {
			k->most[g] = s.by;
			k->x->step[k->group[g].step].grew = growth_of(k, c, k->group[g].kind, &s);
		}
	}
}

static void keep_all(struct looking *k)
{
	static const enum step_kind kinds[] = { STEP_SLOW, STEP_CHECKPOINT };
	static const enum sample_kind samples[] = { SAMPLE_CPU, SAMPLE_PYTHON, SAMPLE_WAITS };

	for (size_t of = 0; of < sizeof kinds / sizeof kinds[0]; of++)
		for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
			for (int n = 0; n < OF_SAMPLES && k->x->ngrew < STEP_GROWTHS; n++) {
				const struct step_growth *g = &k->grown[kinds[of]][samples[i]][n];

				if (g->function)
					k->x->grew[k->x->ngrew++] = *g;
			}
}

static bool same_row(const struct within_cell *a, const struct within_cell *b)
{
	return a->kind == b->kind && a->function == b->function && a->part == b->part;
}

int steps_code_make(struct steps *x, const struct summary *s, struct err *e)
{
	const struct waiting *waiting = s->waits ? s->waits->waiting : NULL;
	struct looking k = { .x = x,
			     .stacks = s->code ? s->code->stacks : NULL,
			     .waits = waiting ? waiting->stacks : NULL };
	struct within_interval *interval;
	struct within in;
	int rc;

	if ((!k.stacks && !k.waits) || x->count[STEP_PLAIN] < 3 ||
	    !(x->count[STEP_SLOW] + x->count[STEP_CHECKPOINT]))
		return 0;
	interval = malloc(x->n * sizeof *interval);
	if (!interval)
		return err_set(e, -ENOMEM, "out of memory for the code of %u steps", x->n);
	find_groups(&k, interval);
	rc = within_make(&in, k.stacks, waiting, &(struct within_wish){ x->node, x->n, interval },
			 e);
	for (uint32_t i = 0, n; !rc && i < in.n; i += n) {
		for (n = 1; i + n < in.n && same_row(&in.cell[i], &in.cell[i + n]); n++)
			;
		if (in.set_s < x->mean_s)
			look_at(&k, &in.cell[i], n);
	}
	keep_all(&k);
	within_free(&in);
	free(interval);
	return rc;
}
