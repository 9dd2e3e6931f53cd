/* SPDX-License-Identifier: Apache-2.0 */
/* blame_match.c - which part of A is which part of B, and how far down that is certain. */
#include "report/comparison/blame.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Smaller parts have no row of their own, as a share of the whole. */
static const double row_least = 0.005;
/* A function that only one side has is one that the other side never ran if it has so many samples
 * and such a share of the whole, not one that was missed by chance. */
static const double one_sided_samples = 10, one_sided_share = 0.01;
/* It may be the other end of a change of this part of it in the other direction. */
static const double counterpart = 0.25;

/* What rounding leaves. */
static const double nothing_s = 1e-9;

double blame_mean(const struct blame *b, const struct blame_part *p, int side)
{
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->nruns; i++) {
		if (b->run[i].side != side)
			continue;
		sum += p->value[i];
		n++;
	}
	return n ? sum / n : 0;
}

static double whole_mean(const struct blame *b, int side)
{
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->nruns; i++) {
		sum += b->run[i].side == side ? b->run[i].whole_s : 0;
		n += b->run[i].side == side;
	}
	return n ? sum / n : 0;
}

static double larger_whole(const struct blame *b)
{
	return fmax(whole_mean(b, 0), whole_mean(b, 1));
}

static void add_values(const struct blame *b, struct blame_part *to, const struct blame_part *from)
{
	for (uint32_t i = 0; i < b->nruns; i++)
		to->value[i] += from->value[i];
}

static bool is_nothing(const struct blame *b, const struct blame_part *p)
{
	for (uint32_t i = 0; i < b->nruns; i++)
		if (fabs(p->value[i]) > nothing_s)
			return false;
	return true;
}

static void part_remove(struct blame *b, uint32_t at)
{
	free(b->part[at].value);
	memmove(&b->part[at], &b->part[at + 1], (--b->nparts - at) * sizeof *b->part);
}

/* To `to`, which is another part; later parts move. */
static void part_merge(struct blame *b, struct blame_part *to, uint32_t at)
{
	add_values(b, to, &b->part[at]);
	part_remove(b, at);
}

/* ---- one program, or command, under two names ---- */

static bool is_program(const struct blame_module *m)
{
	return !strstr(m->name, ".so") && *m->name != '[' && *m->name != '(';
}

/* The only program that is on that side and not on the other; NULL: none is, or several are. */
static struct blame_module *lone_program(struct blame *b, int side)
{
	struct blame_module *found = NULL;

	for (uint32_t i = 0; i < b->nmodules; i++) {
		struct blame_module *m = &b->module[i];

		if (!m->file[side] || m->file[!side] || !is_program(m))
			continue;
		if (found)
			return NULL;
		found = m;
	}
	return found;
}

static void say_same(struct blame *b, const char *what, const char *a, const char *other)
{
	bytes_printf(&b->note, "The %s %.60s of A is taken for %.60s of B. ", what, a, other);
}

/* Functions of `of_b` become those of `of_a`; what is there twice then is one. */
static void rename_modules(struct blame *b, const char *of_a, const char *of_b)
{
	for (uint32_t i = 0; i < b->nparts;) {
		struct blame_part *p = &b->part[i], *same;

		if (p->level != BLAME_FUNCTION || strcmp(p->module, of_b) != 0) {
			i++;
			continue;
		}
		same = blame_find(b, p->level, p->kind, p->name, of_a);
		if (same) {
			part_merge(b, same, i);
			continue;
		}
		p->module = of_a;
		i++;
	}
}

static void match_programs(struct blame *b)
{
	struct blame_module *a = lone_program(b, 0), *other = lone_program(b, 1);

	if (!a || !other)
		return;
	say_same(b, "program", a->name, other->name);
	rename_modules(b, a->name, other->name);
	a->file[1] = other->file[1];
	a->build_id[1] = other->build_id[1];
	a->mixed[1] = other->mixed[1];
	other->file[1] = NULL;
}

static struct blame_part *lone_command(struct blame *b, int side)
{
	struct blame_part *found = NULL;

	for (uint32_t i = 0; i < b->nparts; i++) {
		struct blame_part *p = &b->part[i];

		if (p->level != BLAME_COMMAND || p->kind != BLAME_NAMED ||
		    !(blame_mean(b, p, side) > 0) || blame_mean(b, p, !side) > 0)
			continue;
		if (found)
			return NULL;
		found = p;
	}
	return found;
}

static void match_commands(struct blame *b)
{
	struct blame_part *a = lone_command(b, 0), *other = lone_command(b, 1);

	if (!a || !other)
		return;
	say_same(b, "command", a->name, other->name);
	add_values(b, a, other);
	part_remove(b, (uint32_t)(other - b->part));
}

void blame_match(struct blame *b)
{
	match_programs(b);
	match_commands(b);
}

/* ---- rows ---- */

static double size_of(const struct blame *b, const struct blame_part *p)
{
	return fmax(blame_mean(b, p, 0), blame_mean(b, p, 1));
}

/* Those that are too small, or too many, are in the level's row of others. */
static void merge_small(struct blame *b, enum blame_level level, double least)
{
	struct blame_part *others = NULL;
	const char *name = level == BLAME_FUNCTION ? "other functions"
			   : level == BLAME_CLASS  ? "other classes"
						   : "other commands";
	uint32_t shown = 0;

	for (uint32_t i = 0; i < b->nparts && !b->failed; i++) {
		const struct blame_part *p = &b->part[i];

		if (p->level != level || p->kind != BLAME_NAMED)
			continue;
		if (size_of(b, p) >= least && shown++ < BLAME_PARTS_SHOWN)
			continue;
		others = blame_find(b, level, BLAME_OTHERS, name, "");
		if (!others) {
			blame_put(b, level, BLAME_OTHERS, name, "", 0);
			others = blame_find(b, level, BLAME_OTHERS, name, "");
		}
		if (others)
			part_merge(b, others, i--);
	}
}

struct sized {
	struct blame_part part;
	double size;
};

static int by_size(const void *a, const void *b)
{
	const struct sized *x = a, *y = b;

	if (x->part.level != y->part.level)
		return x->part.level < y->part.level ? -1 : 1;
	if (x->part.kind != y->part.kind)
		return x->part.kind < y->part.kind ? -1 : 1;
	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return strcmp(x->part.name, y->part.name);
}

static void sort_parts(struct blame *b)
{
	struct sized *s = calloc(b->nparts + 1u, sizeof *s);

	b->failed |= !s;
	for (uint32_t i = 0; i < b->nparts && s; i++)
		s[i] = (struct sized){ b->part[i], size_of(b, &b->part[i]) };
	if (s)
		qsort(s, b->nparts, sizeof *s, by_size);
	for (uint32_t i = 0; i < b->nparts && s; i++)
		b->part[i] = s[i].part;
	free(s);
}

/* ---- functions that were renamed or inlined ---- */

/* 1: only B has it, -1: only A has; 0: both, or it is too small to be sure. */
static int one_sided(const struct blame *b, const struct blame_part *p, double least)
{
	double a = blame_mean(b, p, 0), other = blame_mean(b, p, 1), samples = 0;

	if (p->level != BLAME_FUNCTION || p->kind != BLAME_NAMED || (a > 0 && other > 0) ||
	    fmax(a, other) < least)
		return 0;
	for (uint32_t i = 0; i < b->nruns; i++)
		samples += p->value[i] / b->run[i].period_s;
	return samples < one_sided_samples ? 0 : other > 0 ? 1 : -1;
}

/* Of a function that appeared (1) or is gone (-1), may its time have moved from or to p? */
static bool may_be_counterpart(const struct blame *b, const struct blame_part *p,
			       const struct blame_part *of, int sided)
{
	double change = blame_mean(b, p, 1) - blame_mean(b, p, 0);

	return p != of && p->level == BLAME_FUNCTION && p->kind == BLAME_NAMED &&
	       !strcmp(p->module, of->module) && sided * change <= -counterpart * size_of(b, of);
}

static bool is_unsure(const struct blame *b, const struct blame_part *p, double least)
{
	int sided = one_sided(b, p, least), other;

	if (p->level != BLAME_FUNCTION || p->kind != BLAME_NAMED)
		return false;
	for (uint32_t i = 0; i < b->nparts; i++) {
		const struct blame_part *q = &b->part[i];

		if (sided && may_be_counterpart(b, q, p, sided))
			return true;
		other = one_sided(b, q, least);
		if (other && may_be_counterpart(b, p, q, other))
			return true;
	}
	return false;
}

static void merge_unsure(struct blame *b, const bool *unsure)
{
	uint32_t last = b->nparts;
	struct blame_part *to;

	for (uint32_t i = last; i-- > 0 && !b->failed;) {
		const char *module = b->part[i].module;

		if (!unsure[i])
			continue;
		to = blame_find(b, BLAME_FUNCTION, BLAME_MODULE, "renamed or inlined", module);
		if (!to) {
			blame_put(b, BLAME_FUNCTION, BLAME_MODULE, "renamed or inlined", module, 0);
			bytes_printf(
				&b->note,
				"Functions of %.60s that only A or only B has may be the same under "
				"another name, or inlined into others: what they share is blamed on "
				"the module. ",
				*module ? module : "unknown code");
			to = blame_find(b, BLAME_FUNCTION, BLAME_MODULE, "renamed or inlined",
					module);
		}
		if (to)
			part_merge(b, to, i);
	}
}

static void stop_at_modules(struct blame *b)
{
	double least = one_sided_share * larger_whole(b);
	bool *unsure = calloc(b->nparts + 1u, sizeof *unsure);

	b->failed |= !unsure;
	for (uint32_t i = 0; i < b->nparts && unsure; i++)
		unsure[i] = is_unsure(b, &b->part[i], least);
	if (unsure)
		merge_unsure(b, unsure);
	free(unsure);
}

/* What no run has; commands, unless each run has them. */
static void drop_nothing(struct blame *b)
{
	for (uint32_t i = b->nparts; i-- > 0;) {
		const struct blame_part *p = &b->part[i];

		if (is_nothing(b, p) || (p->level == BLAME_COMMAND && b->commands < b->nruns))
			part_remove(b, i);
	}
}

void blame_tidy(struct blame *b)
{
	drop_nothing(b);
	sort_parts(b);
	for (enum blame_level level = BLAME_CLASS; level < BLAME_LEVELS; level++)
		merge_small(b, level, row_least * larger_whole(b));
	stop_at_modules(b);
	sort_parts(b);
}
