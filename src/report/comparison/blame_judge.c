/* SPDX-License-Identifier: Apache-2.0 */
/* blame_judge.c - whether runs can be held against each other, and which parts differ. */
#include "core/statistics/student.h"
#include "report/comparison/blame.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
	double first = b->run[0].period_ns;

	for (uint32_t i = 1; i < b->nruns && !b->refused.len; i++) {
		double other = b->run[i].period_ns;

		if (isnan(first) != isnan(other))
			bytes_puts(&b->refused,
				   "no code is blamed, since the stacks of some runs were "
				   "recorded by another program: record all runs with --stacks");
		else if (fabs(first - other) > rates_alike * first)
			bytes_printf(&b->refused,
				     "no code is blamed, since stacks were sampled %.0f times a "
				     "second in some runs and %.0f times in others: record all "
				     "with the same --stacks=N",
				     1e9 / first, 1e9 / other);
		else if (b->run[0].exact != b->run[i].exact)
			bytes_puts(&b->refused,
				   "no code is blamed, since the exact CPU time of some runs is "
				   "not known: leave those out");
	}
}

static void refuse(struct blame *b)
{
	for (int side = 0; side < BLAME_SIDES && !b->refused.len; side++)
		if (!runs_of(b, side))
			bytes_printf(
				&b->refused,
				"no code is blamed, since the runs of %s have no stacks: record "
				"both sides with --stacks",
				side ? "B" : "A");
	if (!b->refused.len)
		refuse_rates(b);
}

static void say_without(struct blame *b)
{
	for (int side = 0; side < BLAME_SIDES; side++)
		if (b->without[side])
			bytes_printf(&b->note, "%u run%s of %s without stacks %s left out. ",
				     b->without[side], b->without[side] == 1 ? "" : "s",
				     side ? "B" : "A", b->without[side] == 1 ? "is" : "are");
}

/* ---- parts ---- */

/* The squared error that counting samples gives to a run's value of a part: the binomial one. What
 * no sample is of has none. */
static double counting_of(const struct blame_run *r, const struct blame_part *p, double seconds)
{
	double share = r->sampled_s > 0 ? fmin(1, fmax(0, seconds / r->sampled_s)) : 0;

	if (p->level == BLAME_COMMAND || p->kind >= BLAME_SHORT)
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
		blame_match(b);
		blame_tidy(b);
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
