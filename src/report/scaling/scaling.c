/* SPDX-License-Identifier: Apache-2.0 */
#include "report/scaling/scaling.h"

#include "base/array.h"
#include "core/statistics/stats.h"
#include "report/summary/mpi.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double shown_from = 0.01;

/* ---- runs ---- */

static const char *copy(struct scaling *x, const char *text)
{
	const char *kept = text ? pool_text(&x->pool, text, strlen(text)) : NULL;

	x->failed |= text && !kept;
	return kept;
}

static double ranks_of(const struct summary *s)
{
	double most = 0;

	for (uint32_t i = 0; i < s->nsteps; i++)
		most = fmax(most, s->steps[i].n);
	return most > 0 ? most : s->tasks_asked;
}

static uint32_t part_of_class(struct scaling *x, const char *class)
{
	uint32_t i = ACCOUNT_PARTS;

	while (i < x->nparts && strcmp(x->part[i].key, class) != 0)
		i++;
	if (i == x->nparts && i < SCALING_PARTS) {
		const char *kept = copy(x, class);

		x->part[x->nparts++] = (struct scaling_part){ kept ? kept : "", kept, true, false };
	}
	return i;
}

static void add_parts(struct scaling *x, struct scaling_run *r, const struct summary *s)
{
	for (uint32_t i = 0; i < SCALING_PARTS; i++)
		r->part_s[i] = NAN;
	for (uint32_t i = 0; i < ACCOUNT_PARTS; i++)
		r->part_s[i] = s->account.whole_s > 0 ? s->account.part_s[i] : NAN;
	for (uint32_t i = 0; i < s->nshares; i++) {
		uint32_t part = part_of_class(x, s->share[i].class);

		if (part < SCALING_PARTS)
			r->part_s[part] = s->share[i].ratio * s->cpu_s;
	}
}

void scaling_add(struct scaling *x, const struct summary *s, double amount)
{
	struct scaling_run *more = array_room(x->run, x->nruns, &x->capacity, sizeof *more), *r;

	x->failed |= !more;
	if (x->failed)
		return;
	if (!x->nparts)
		for (; x->nparts < ACCOUNT_PARTS; x->nparts++)
			x->part[x->nparts] = (struct scaling_part){ account_rows[x->nparts].key,
								    account_rows[x->nparts].label,
								    false, false };
	x->run = more;
	r = &x->run[x->nruns++];
	*r = (struct scaling_run){ .path = copy(x, s->path),
				   .command = copy(x, s->command),
				   .wall_s = s->wall_s,
				   .cpu_s = s->cpu_s,
				   .energy_j = s->energy_j,
				   .cores = summary_cores(s).v };
	r->amount[SCALING_CORES] = r->cores;
	r->amount[SCALING_NODES] = s->nhosts;
	r->amount[SCALING_RANKS] = ranks_of(s);
	r->amount[SCALING_OTHER] = amount;
	r->pop[SCALING_PARALLEL] = s->mpi ? s->mpi->pop.parallel : NAN;
	r->pop[SCALING_BALANCE] = s->mpi ? s->mpi->pop.balance : NAN;
	r->pop[SCALING_SERIALISATION] = s->mpi ? s->mpi->pop.serialisation : NAN;
	r->pop[SCALING_TRANSFER] = s->mpi ? s->mpi->pop.transfer : NAN;
	add_parts(x, r, s);
}

void scaling_free(struct scaling *x)
{
	free(x->run);
	free(x->step);
	pool_free(&x->pool);
	*x = (struct scaling){ 0 };
}

/* ---- steps ---- */

const char *scaling_unit(const struct scaling *x)
{
	static const char *const names[] = { "cores", "cores", "nodes", "ranks", NULL };

	return names[x->by] ? names[x->by] : x->by_name;
}

static bool differs(const struct scaling *x, enum scaling_by by)
{
	bool differs = false;

	for (uint32_t i = 0; i < x->nruns; i++) {
		if (!(x->run[i].amount[by] > 0))
			return false;
		differs |= x->run[i].amount[by] != x->run[0].amount[by];
	}
	return differs;
}

/* What they differ in, first of all in what was given. */
static int choose(struct scaling *x, struct err *e)
{
	static const enum scaling_by order[] = { SCALING_OTHER, SCALING_CORES, SCALING_RANKS,
						 SCALING_NODES };

	for (uint32_t i = 0; i < x->nruns; i++)
		if (!(x->run[i].wall_s > 0))
			return err_set(e, -EINVAL, "%.300s does not know how long its job took",
				       x->run[i].path);
	for (size_t i = 0; i < sizeof order / sizeof order[0] && x->by == SCALING_AUTO; i++)
		if (differs(x, order[i]))
			x->by = order[i];
	if (x->by == SCALING_AUTO)
		return err_set(e, -EINVAL,
			       "the runs have the same number of cores, ranks and nodes; name what "
			       "differs with --by VARIABLE, or give each its number: 1=RUN 2=RUN");
	for (uint32_t i = 0; i < x->nruns; i++)
		if (!(x->run[i].amount[x->by] > 0))
			return err_set(e, -EINVAL, "%.300s does not know its number of %.100s",
				       x->run[i].path, scaling_unit(x));
	if (!differs(x, x->by))
		return err_set(e, -EINVAL, "all runs have %.6g %.100s: there is nothing to compare",
			       x->run[0].amount[x->by], scaling_unit(x));
	return 0;
}

static int by_amount(const void *a, const void *b)
{
	double p = ((const struct scaling_run *)a)->at, q = ((const struct scaling_run *)b)->at;

	return (p > q) - (p < q);
}

/* Of ranks and the like, as many as the run that used most CPU time needed for each. */
static double cores_per_unit(const struct scaling *x)
{
	double most = 1;

	for (uint32_t i = 0; i < x->nruns && x->by != SCALING_CORES; i++) {
		const struct scaling_run *r = &x->run[i];

		most = fmax(most, x->by == SCALING_NODES
					  ? r->cores / r->at
					  : ceil(r->cpu_s / r->wall_s / r->at - 0.05));
	}
	return most;
}

static double mean_of(const struct scaling *x, const struct scaling_step *s,
		      double (*value)(const struct scaling_run *r, uint32_t i), uint32_t of)
{
	double sum = 0;

	for (uint32_t i = s->first; i < s->first + s->n; i++)
		sum += value(&x->run[i], of);
	return sum / s->n;
}

static double wall_of(const struct scaling_run *r, uint32_t i)
{
	(void)i;
	return r->wall_s;
}

static double energy_of(const struct scaling_run *r, uint32_t i)
{
	(void)i;
	return r->energy_j;
}

static double pop_of(const struct scaling_run *r, uint32_t i)
{
	return r->pop[i];
}

static int make_steps(struct scaling *x)
{
	x->step = calloc(x->nruns, sizeof *x->step);
	if (!x->step)
		return -ENOMEM;
	for (uint32_t i = 0; i < x->nruns; i++)
		x->run[i].at = x->run[i].amount[x->by];
	qsort(x->run, x->nruns, sizeof *x->run, by_amount);
	for (uint32_t i = 0; i < x->nruns; i++) {
		if (!i || x->run[i].at != x->run[i - 1].at)
			x->step[x->nsteps++] =
				(struct scaling_step){ .amount = x->run[i].at, .first = i };
		x->step[x->nsteps - 1].n++;
	}
	x->cores_per_unit = cores_per_unit(x);
	for (uint32_t i = 0; i < x->nsteps; i++) {
		struct scaling_step *s = &x->step[i];

		s->time = (struct fitted){ mean_of(x, s, wall_of, 0), NAN, NAN };
		s->energy_j = mean_of(x, s, energy_of, 0);
		s->core_hours = s->amount * x->cores_per_unit * s->time.value / 3600;
		for (uint32_t j = 0; j < SCALING_POP; j++)
			s->pop[j] = mean_of(x, s, pop_of, j);
	}
	return 0;
}

/* Of one run, as a share of its step's mean; steps are taken to vary alike. */
static void make_spread(struct scaling *x)
{
	double sum = 0;

	for (uint32_t i = 0; i < x->nsteps; i++)
		for (uint32_t j = x->step[i].first; j < x->step[i].first + x->step[i].n; j++)
			sum += pow(x->run[j].wall_s / x->step[i].time.value - 1, 2);
	x->spread_df = x->nruns - x->nsteps;
	x->spread = x->spread_df > 0 ? sqrt(sum / x->spread_df) : NAN;
}

/* share: half of the interval, of the value. */
static struct fitted around(double value, double share)
{
	return (struct fitted){ value, value * exp(-share), value * exp(share) };
}

static void make_speed(struct scaling *x)
{
	const struct scaling_step *base = &x->step[0];
	double t = x->spread_df > 0 ? student_quantile((1 - x->level) / 2, x->spread_df) : NAN;

	for (uint32_t i = 0; i < x->nsteps; i++) {
		struct scaling_step *s = &x->step[i];
		double more = s->amount / base->amount;
		double speedup = base->time.value / s->time.value * (x->weak ? more : 1);
		double share = t * x->spread * sqrt(1.0 / s->n + 1.0 / base->n);

		s->time = around(s->time.value, t * x->spread / sqrt(s->n));
		s->speedup = around(speedup, i ? share : NAN);
		s->efficiency = around(speedup / more, i ? share : NAN);
	}
}

/* ---- what is lost ---- */

/* Core-seconds of a part of a run whose capacity is given; idle is what the others leave. */
static double part_of(const struct scaling *x, const struct scaling_run *r, uint32_t part)
{
	double left = r->wall_s * r->at * x->cores_per_unit;

	if (part != ACCOUNT_IDLE)
		return isnan(r->part_s[part]) ? 0 : r->part_s[part];
	for (uint32_t i = 0; i < ACCOUNT_PARTS; i++)
		if (i != ACCOUNT_IDLE && !isnan(r->part_s[i]))
			left -= r->part_s[i];
	return left;
}

static double mean_part(const struct scaling *x, const struct scaling_step *s, uint32_t part)
{
	double sum = 0;

	for (uint32_t i = s->first; i < s->first + s->n; i++)
		sum += part_of(x, &x->run[i], part);
	return sum / s->n / (x->weak ? s->amount : 1);
}

static bool parts_are_known(const struct scaling *x)
{
	for (uint32_t i = 0; i < x->nruns; i++)
		if (!(x->run[i].cpu_s >= 0) || (isnan(x->run[i].part_s[ACCOUNT_USER]) &&
						isnan(x->run[i].part_s[ACCOUNT_COMPUTING])))
			return false;
	return true;
}

/* A run whose code was sampled has every class that it used; one that was not has none. */
static bool classes_are_known(const struct scaling *x)
{
	for (uint32_t i = 0; i < x->nruns; i++) {
		bool any = false;

		for (uint32_t j = ACCOUNT_PARTS; j < x->nparts; j++)
			any |= !isnan(x->run[i].part_s[j]);
		if (!any)
			return false;
	}
	return x->nparts > ACCOUNT_PARTS;
}

static void make_lost(struct scaling *x)
{
	bool known = parts_are_known(x), classes = classes_are_known(x);

	for (uint32_t i = 0; i < x->nsteps; i++) {
		struct scaling_step *s = &x->step[i];
		double capacity = s->time.value * x->cores_per_unit * (x->weak ? 1 : s->amount);

		s->lost_sum = known ? 0 : NAN;
		for (uint32_t j = 0; j < x->nparts; j++) {
			struct scaling_part *p = &x->part[j];

			s->lost[j] = !known || (p->is_class && !classes)
					     ? NAN
					     : (mean_part(x, s, j) - mean_part(x, &x->step[0], j)) /
						       capacity;
			p->shown |= fabs(s->lost[j]) >= shown_from;
			s->lost_sum += p->is_class ? 0 : s->lost[j];
		}
	}
}

/* ---- laws ---- */

/* Amdahl: T = c0 + c1 / p. Weak: T = c0 + c1 log2 p. USL: T p = c0 + c1 (p - 1) + c2 p (p - 1). */
enum law { LAW_AMDAHL, LAW_WEAK, LAW_UNIVERSAL };

static void law_row(enum law law, double p, double out[FIT_MOST])
{
	out[0] = 1;
	out[1] = law == LAW_AMDAHL ? 1 / p : law == LAW_WEAK ? log2(p) : p - 1;
	out[2] = p * (p - 1);
}

static int fit_law(struct fit *f, const struct scaling *x, enum law law)
{
	double(*row)[FIT_MOST] = calloc(x->nruns, sizeof *row);
	double *y = calloc(x->nruns, 2 * sizeof *y), *weight = y + x->nruns;
	int rc = row && y ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < x->nsteps && !rc; i++)
		for (uint32_t j = x->step[i].first; j < x->step[i].first + x->step[i].n; j++) {
			double p = x->step[i].amount, scale = law == LAW_UNIVERSAL ? p : 1;

			law_row(law, p, row[j]);
			y[j] = x->run[j].wall_s * scale;
			weight[j] = 1 / pow(x->step[i].time.value * scale, 2);
		}
	if (!rc)
		rc = fit_linear(f, (const double(*)[FIT_MOST])row, y, weight, x->nruns,
				law == LAW_UNIVERSAL ? 3 : 2);
	free(row);
	free(y);
	return rc;
}

/* Are the steps further off the curve than runs of one step are off each other? */
static double misfit(const struct scaling *x, const struct fit *f)
{
	double among = x->spread_df * x->spread * x->spread, df = f->df - x->spread_df;
	double ratio = (f->s2 * f->df - among) / df / (among / x->spread_df);

	if (!(x->spread_df > 0) || !(df > 0) || !(among > 0))
		return NAN;
	return ratio > 0 ? f_above(ratio, df, x->spread_df) : 1;
}

static void fit_weak(struct scaling *x)
{
	if (fit_law(&x->fit, x, LAW_WEAK))
		return;
	x->doubling = fit_ratio(&x->fit, (const double[]){ 0, 1, 0 }, (const double[]){ 1, 0, 0 },
				x->level);
	x->p_misfit = misfit(x, &x->fit);
}

static void fit_strong(struct scaling *x)
{
	static const double first[] = { 1, 0, 0 }, second[] = { 0, 1, 0 }, third[] = { 0, 0, 1 },
			    both[] = { 1, 1, 0 };
	struct fit universal = { 0 };

	if (fit_law(&x->fit, x, LAW_AMDAHL))
		return;
	x->serial = fit_ratio(&x->fit, first, both, x->level);
	x->p_misfit = misfit(x, &x->fit);
	if (x->nsteps < 4 || fit_law(&universal, x, LAW_UNIVERSAL))
		return;
	x->contention = fit_ratio(&universal, second, first, x->level);
	x->crosstalk = fit_ratio(&universal, third, first, x->level);
	if (!(x->crosstalk.low > 0))
		return;
	x->has_crosstalk = true;
	x->fit = universal;
	x->p_misfit = misfit(x, &universal);
	if (x->contention.value < 1)
		x->best = sqrt((1 - x->contention.value) / x->crosstalk.value);
}

static void expect_next(struct scaling *x)
{
	enum law law = x->weak ? LAW_WEAK : x->has_crosstalk ? LAW_UNIVERSAL : LAW_AMDAHL;
	double row[FIT_MOST], scale;

	if (!x->fit.n || !(x->fit.df > 0))
		return;
	law_row(law, x->next, row);
	scale = law == LAW_UNIVERSAL ? x->next : 1;
	x->next_time = fit_at(&x->fit, row, x->level);
	x->next_time.value /= scale;
	x->next_time.low = fmax(0, x->next_time.low / scale);
	x->next_time.high /= scale;
}

/* ---- all of it ---- */

int scaling_judge(struct scaling *x, struct err *e)
{
	const struct fitted none = { NAN, NAN, NAN };
	int rc;

	if (x->failed)
		return err_set(e, -ENOMEM, "out of memory for the runs");
	rc = choose(x, e);
	if (rc)
		return rc;
	if (make_steps(x))
		return err_set(e, -ENOMEM, "out of memory for the runs");
	make_spread(x);
	make_speed(x);
	make_lost(x);
	x->serial = x->doubling = x->contention = x->crosstalk = x->next_time = none;
	x->best = x->p_misfit = NAN;
	x->next = 2 * x->step[x->nsteps - 1].amount;
	if (x->weak)
		fit_weak(x);
	else
		fit_strong(x);
	expect_next(x);
	for (uint32_t i = 0; i < x->nsteps; i++)
		if (x->step[i].efficiency.value >= x->wanted)
			x->ask = i;
	return 0;
}
