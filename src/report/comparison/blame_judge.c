/* SPDX-License-Identifier: Apache-2.0 */
/* blame_judge.c - which part of A is which part of B, whether runs can be held against each other,
 * and which parts differ. */
#include "core/statistics/stats.h"
#include "report/comparison/blame.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- which part of A is which part of B ---- */

/* Smaller parts have no row of their own, as a share of the whole. */
static const double row_least = 0.005;
/* A function that only one side has is one that the other side never ran if it has so many samples
 * and such a share of the whole, not one that was missed by chance. */
static const double one_sided_samples = 10, one_sided_share = 0.01;
/* It may be the other end of changes of this part of it in the other direction, of functions that
 * each have such a part: it was inlined into several. */
static const double counterpart = 0.25, one_of_several = 0.06, most_of_it = 0.75;

/* What rounding leaves. */
static const double nothing_s = 1e-9;

static double mean_of(const struct blame *b, const struct blame_part *p, int side)
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
		    !(mean_of(b, p, side) > 0) || mean_of(b, p, !side) > 0)
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

static void match(struct blame *b)
{
	match_programs(b);
	match_commands(b);
}

/* ---- rows ---- */

static double size_of(const struct blame *b, const struct blame_part *p)
{
	return fmax(mean_of(b, p, 0), mean_of(b, p, 1));
}

/* Those that are too small, or too many, are in the level's row of others. */
static void merge_small(struct blame *b, enum blame_level level, double least)
{
	const char *name = blame_words[b->subject].others[level];
	struct blame_part *others = NULL;
	uint32_t shown = 0;

	for (uint32_t i = 0; i < b->nparts && name && !b->failed; i++) {
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
	double a = mean_of(b, p, 0), other = mean_of(b, p, 1), samples = 0;

	if (p->level != BLAME_FUNCTION || p->kind != BLAME_NAMED || (a > 0 && other > 0) ||
	    fmax(a, other) < least)
		return 0;
	for (uint32_t i = 0; i < b->nruns; i++)
		samples += p->value[i] / b->run[i].period_s;
	return samples < one_sided_samples ? 0 : other > 0 ? 1 : -1;
}

/* Of a function that appeared (1) or is gone (-1), how much of its time may have moved from or to
 * p, if that is such a part of it. */
static double moved(const struct blame *b, const struct blame_part *p, const struct blame_part *of,
		    int sided, double part)
{
	double change = mean_of(b, p, 1) - mean_of(b, p, 0);

	if (p == of || p->level != BLAME_FUNCTION || p->kind != BLAME_NAMED ||
	    strcmp(p->module, of->module) != 0 || sided * change > -part * size_of(b, of))
		return 0;
	return fabs(change);
}

static double all_moved(const struct blame *b, uint32_t of, int sided, double part)
{
	double all = 0;

	for (uint32_t i = 0; i < b->nparts; i++)
		all += moved(b, &b->part[i], &b->part[of], sided, part);
	return all;
}

/* Where large parts explain too little of it, smaller ones do: it was inlined into several. */
static void find_unsure(const struct blame *b, uint32_t of, int sided, bool *unsure)
{
	double size = size_of(b, &b->part[of]), part = counterpart;

	if (all_moved(b, of, sided, part) < most_of_it * size)
		part = one_of_several;
	if (all_moved(b, of, sided, part) < counterpart * size)
		return;
	unsure[of] = true;
	for (uint32_t i = 0; i < b->nparts; i++)
		unsure[i] = unsure[i] || moved(b, &b->part[i], &b->part[of], sided, part) > 0;
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
	for (uint32_t i = 0; i < b->nparts && unsure; i++) {
		int sided = one_sided(b, &b->part[i], least);

		if (sided)
			find_unsure(b, i, sided, unsure);
	}
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

static void tidy(struct blame *b)
{
	drop_nothing(b);
	sort_parts(b);
	for (enum blame_level level = BLAME_CLASS; level < BLAME_LEVELS; level++)
		merge_small(b, level, row_least * larger_whole(b));
	stop_at_modules(b);
	sort_parts(b);
}

/* ---- which parts differ ---- */

/* All intervals of parts together are right in so many of a hundred comparisons. */
static const double level_of_parts = 0.99, level_of_whole = 0.95;
/* Less of the whole than this is not blamed. */
static const double least_share = 0.005;
static const double rates_alike = 0.01;

bool blame_is_empty(const struct blame *b)
{
	return !b->nruns;
}

static uint32_t runs_of(const struct blame *b, int side)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->nruns; i++)
		n += b->run[i].side == side;
	return n;
}

/* ---- what cannot be compared ---- */

static void refuse_rates(struct blame *b)
{
	const struct blame_words *w = &blame_words[b->subject];
	double first = b->run[0].period_ns;

	for (uint32_t i = 1; i < b->nruns && !b->refused.len; i++) {
		double other = b->run[i].period_ns;

		if ((b->run[0].after_s > 0) != (b->run[i].after_s > 0))
			bytes_printf(&b->refused,
				     "%s is blamed, since some runs have samples of long processes "
				     "only, as by default, and others of all: record all with the "
				     "same %s",
				     w->nothing, w->option);
		else if (isnan(first) != isnan(other))
			bytes_printf(&b->refused,
				     "%s is blamed, since the %s of some runs were recorded by "
				     "another program: record all runs with %s",
				     w->nothing, w->lacked, w->option);
		else if (fabs(first - other) > rates_alike * first)
			bytes_printf(&b->refused,
				     "%s is blamed, since %s were sampled %.0f times a second in "
				     "some runs and %.0f times in others: record all with the "
				     "same %s=N",
				     w->nothing, w->lacked, 1e9 / first, 1e9 / other, w->option);
		else if (b->run[0].exact != b->run[i].exact)
			bytes_puts(&b->refused,
				   "no code is blamed, since the exact CPU time of some runs is "
				   "not known: leave those out");
	}
}

static void refuse(struct blame *b)
{
	const struct blame_words *w = &blame_words[b->subject];

	for (int side = 0; side < BLAME_SIDES && !b->refused.len; side++)
		if (!runs_of(b, side) && b->brief[side] && b->brief[side] == b->without[side])
			bytes_printf(
				&b->refused,
				"%s is blamed, since the processes of %s were too short for the "
				"samples that are taken by default: record both sides with %s",
				w->nothing, side ? "B" : "A", w->option);
		else if (!runs_of(b, side))
			bytes_printf(
				&b->refused,
				"%s is blamed, since the runs of %s have no %s: record both sides "
				"with %s",
				w->nothing, side ? "B" : "A", w->lacked, w->option);
	if (!b->refused.len)
		refuse_rates(b);
}

static void say_without(struct blame *b)
{
	for (int side = 0; side < BLAME_SIDES; side++)
		if (b->without[side])
			bytes_printf(&b->note, "%u run%s of %s without %s %s left out. ",
				     b->without[side], b->without[side] == 1 ? "" : "s",
				     side ? "B" : "A", blame_words[b->subject].lacked,
				     b->without[side] == 1 ? "is" : "are");
}

/* ---- parts ---- */

/* The squared error that counting samples gives to a run's value of a part: the binomial one. What
 * no sample is of has none. */
static double counting_of(const struct blame_run *r, const struct blame_part *p, double seconds)
{
	double share = r->sampled_s > 0 ? fmin(1, fmax(0, seconds / r->sampled_s)) : 0;

	if (p->level == BLAME_COMMAND || p->level == BLAME_PHASE || p->kind >= BLAME_SHORT)
		return 0;
	return seconds > 0 ? seconds * r->period_s * (1 - share) : 0;
}

/* Of the difference of the means. */
static double counting_error2(const struct blame *b, const struct blame_part *p)
{
	double sum[BLAME_SIDES] = { 0 }, n[BLAME_SIDES] = { 0 };

	for (uint32_t i = 0; i < b->nruns; i++) {
		sum[b->run[i].side] += counting_of(&b->run[i], p, p->value[i]);
		n[b->run[i].side]++;
	}
	return sum[0] / (n[0] * n[0]) + sum[1] / (n[1] * n[1]);
}

/* The z with P(|Z| > z) = beyond. */
static double normal_reach(double beyond)
{
	return student_quantile(beyond / 2, 1e9);
}

struct room {
	double *value;
	int64_t *at;
};

static uint32_t gather(const struct blame *b, const double *value, int side, struct room *room,
		       uint32_t from)
{
	uint32_t n = from;

	for (uint32_t i = 0; i < b->nruns; i++) {
		if (b->run[i].side != side)
			continue;
		room->at[n] = b->run[i].at;
		room->value[n++] = value ? value[i] : b->run[i].whole_s;
	}
	return n - from;
}

/* value NULL: the whole. */
static int judge(const struct blame *b, const double *value, const struct compare_wish *w,
		 struct room *room, struct compared *out)
{
	uint32_t na = gather(b, value, 0, room, 0), nb = gather(b, value, 1, room, na);
	bool timed = !b->independent;

	for (uint32_t i = 0; i < na + nb; i++)
		timed = timed && room->at[i] != 0;
	return compare_groups(
		out, &(struct sample_group){ room->value, timed ? room->at : NULL, na },
		&(struct sample_group){ room->value + na, timed ? room->at + na : NULL, nb }, w);
}

/* The interval by the counting of samples: it holds for single runs, too, and for few it tells when
 * they are alike by chance. */
static void count(struct blame *b, struct blame_part *p, double beyond)
{
	double error = sqrt(counting_error2(b, p)), reach = error * normal_reach(beyond);
	double counted = error > 0 ? 2 * normal_above(fabs(p->result.difference) / error) : 0;

	for (uint32_t i = 0; i < b->nruns; i++)
		p->samples[b->run[i].side] += p->value[i] / b->run[i].period_s;
	p->counted_low = p->result.difference - reach;
	p->counted_high = p->result.difference + reach;
	if (isnan(p->result.low))
		return;
	p->result.low = fmin(p->result.low, p->counted_low);
	p->result.high = fmax(p->result.high, p->counted_high);
	p->result.p = fmax(p->result.p, counted);
}

static void judge_part(struct blame *b, struct blame_part *p, struct room *room)
{
	double beyond = (1 - level_of_parts) / b->nparts, chance;
	struct compare_wish w = { .level = 1 - beyond, .parts = true };

	b->failed |= judge(b, p->value, &w, room, &p->result) != 0;
	count(b, p, beyond);
	/* A drift must not be the cause, either. */
	chance = isnan(p->result.p) ? NAN : fmax(p->result.p, fmin(1, 2 * p->result.p_drift));
	p->p = isnan(chance) ? NAN : fmin(1, chance * b->nparts);
	p->blamed = p->p <= 1 - level_of_parts &&
		    fabs(p->result.difference) >= least_share * b->whole.a;
}

int blame_judge(struct blame *b)
{
	struct compare_wish w = { .level = level_of_whole, .parts = true };
	struct room room = { calloc(b->nruns + 1u, sizeof *room.value),
			     calloc(b->nruns + 1u, sizeof *room.at) };

	b->level = level_of_parts;
	b->failed |= !room.value || !room.at;
	if (!b->failed && b->nruns)
		refuse(b);
	if (!b->failed && b->nruns && !b->refused.len) {
		say_without(b);
		match(b);
		tidy(b);
		b->failed |= judge(b, NULL, &w, &room, &b->whole) != 0;
		for (uint32_t i = 0; i < b->nparts && !b->failed; i++)
			judge_part(b, &b->part[i], &room);
		b->judged = !b->failed;
	}
	b->failed |= b->refused.failed || b->note.failed;
	free(room.value);
	free(room.at);
	return b->failed ? -ENOMEM : 0;
}
