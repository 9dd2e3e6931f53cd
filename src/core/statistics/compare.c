/* SPDX-License-Identifier: Apache-2.0 */
#include "core/statistics/compare.h"

#include "core/describe.h"
#include "core/statistics/stats.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* ---- ranks ---- */

enum { EXACT_MOST = 20 };

/* How many of C(na + nb, na) arrangements have each U, as the coefficients of the Gaussian
 * binomial: the product of (1 - q^(nb + i)) / (1 - q^i). All are whole and below 2^53. Returns P(U
 * >= u). */
static double exact_above(double u, uint32_t na, uint32_t nb)
{
	double ways[EXACT_MOST * EXACT_MOST + 1] = { 1 }, all = 0, above = 0;
	uint32_t most = na * nb;

	for (uint32_t i = 1; i <= na; i++) {
		for (uint32_t k = most; k >= nb + i; k--)
			ways[k] -= ways[k - nb - i];
		for (uint32_t k = i; k <= most; k++)
			ways[k] += ways[k - i];
	}
	for (uint32_t k = 0; k <= most; k++) {
		all += ways[k];
		above += k >= u ? ways[k] : 0;
	}
	return above / all;
}

/* The sum of t^3 - t over all values that occur t times, in two sorted groups. */
static double ties(const double *a, uint32_t na, const double *b, uint32_t nb)
{
	double sum = 0;

	for (uint32_t i = 0, k = 0; i < na || k < nb;) {
		double v = k == nb || (i < na && a[i] < b[k]) ? a[i] : b[k];
		double t = 0;

		for (; i < na && a[i] == v; i++)
			t++;
		for (; k < nb && b[k] == v; k++)
			t++;
		sum += t * t * t - t;
	}
	return sum;
}

struct ranks ranks_of(const double *a, uint32_t na, const double *b, uint32_t nb)
{
	struct ranks r = { 0, NAN, NAN };
	double pairs = (double)na * nb, n = (double)na + nb, tied = ties(a, na, b, nb), far, sd;

	if (!na || !nb)
		return (struct ranks){ NAN, NAN, NAN };
	for (uint32_t k = 0, below = 0, upto = 0; k < nb; k++) {
		while (below < na && a[below] < b[k])
			below++;
		while (upto < na && a[upto] <= b[k])
			upto++;
		r.u += (below + upto) / 2.0;
	}
	r.delta = 2 * r.u / pairs - 1;
	far = fmax(r.u, pairs - r.u);
	sd = sqrt(pairs / 12 * (n + 1 - tied / (n * (n - 1))));
	if (tied == 0 && na <= EXACT_MOST && nb <= EXACT_MOST)
		r.p = fmin(1, 2 * exact_above(far, na, nb));
	else if (sd > 0)
		r.p = fmin(1, 2 * normal_above((far - pairs / 2 - 0.5) / sd));
	else
		r.p = 1;
	return r;
}

/* ---- groups ---- */

/* A fifth of the values is cut off at each end, from this many values on. */
enum { TRIM_FROM = 8, TRIM_OF = 5 };
/* The order tells nothing of fewer runs than this. */
enum { ORDER_FROM = 6 };
enum { REPEATS_MOST = 1000000 };
/* Powers of two; of what is tinier, differences would be lost when it is given back. */
enum { SCALE_FROM = 200, SCALE_TINIEST = -900 };
/* A drift is taken out when it is this unlikely to be none. */
static const double drift_level = 0.1;
/* And whether or not one is seen, a difference has to be there without it, as surely as this. */
static const double shift_level = 0.05;
static const double likeness_most = 0.9;

struct item {
	double v;
	int64_t at;
	bool group; /* false: a, true: b */
};

/* Both groups in the order of time, and what that order does to the interval. */
struct ordered {
	struct item *item;
	uint32_t n, count[2];
	double rho, drift;
	double shift, shift_factor; /* of the difference, were the drift taken out: its change,
				     * and that of its variance */
	double likeness_factor, drift_factor; /* of the variance of the difference */
};

static int by_time(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (x->group > y->group) - (x->group < y->group);
}

static void means_of(const struct ordered *o, double *value_mean, double *place_mean)
{
	double value[2] = { 0 }, place[2] = { 0 };

	for (uint32_t i = 0; i < o->n; i++) {
		value[o->item[i].group] += o->item[i].v;
		place[o->item[i].group] += i;
	}
	for (int g = 0; g < 2; g++) {
		value_mean[g] = value[g] / o->count[g];
		place_mean[g] = place[g] / o->count[g];
	}
}

/* A straight drift over all runs, beside the difference of the groups (analysis of covariance with
 * the place in the order). What is less known of the difference without it is in shift_factor:
 * nothing when the groups took turns, much when one followed the other. When a drift is seen, it is
 * taken out, but of parts. */
static void look_for_drift(struct ordered *o, bool parts)
{
	double value[2], place[2], xx = 0, xy = 0, yy = 0, slope, rest, df = o->n - 3.0, apart;

	means_of(o, value, place);
	for (uint32_t i = 0; i < o->n; i++) {
		double x = i - place[o->item[i].group], y = o->item[i].v - value[o->item[i].group];

		xx += x * x;
		xy += x * y;
		yy += y * y;
	}
	slope = xy / xx;
	rest = yy - slope * xy;
	apart = place[1] - place[0];
	o->shift = -slope * apart;
	o->shift_factor = 1 + apart * apart / xx / (1.0 / o->count[0] + 1.0 / o->count[1]);
	if (parts || !(rest > 0) || student_beyond(slope / sqrt(rest / df / xx), df) > drift_level)
		return;
	for (uint32_t i = 0; i < o->n; i++)
		o->item[i].v -= slope * (i - (o->n - 1) / 2.0);
	o->drift = slope;
	o->drift_factor = o->shift_factor;
	o->shift = 0;
	o->shift_factor = 1;
}

/* The correlation of neighbours in time, without what taking out the means of the groups did to
 * it. Less than 0 is taken for 0. */
static double neighbours_alike(const struct ordered *o)
{
	double value[2], place[2], squares = 0, products = 0, bias = 0, rho;

	means_of(o, value, place);
	for (uint32_t i = 0; i < o->n; i++) {
		uint32_t g = o->item[i].group, next = i + 1 < o->n ? o->item[i + 1].group : 2;
		double e = o->item[i].v - value[g];

		squares += e * e;
		if (next < 2)
			products += e * (o->item[i + 1].v - value[next]);
		if (next == g)
			bias -= 1.0 / o->count[g];
	}
	bias /= o->n - 2;
	if (!(squares > 0) || !(1 + 3 * bias > 0))
		return 0;
	rho = (products / squares - bias) / (1 + 3 * bias);
	return fmin(fmax(rho, 0), likeness_most);
}

/* How much larger the variance of the difference is than that of independent values with the same
 * spread within the groups, when runs that are k places apart are correlated by rho^k. */
static double likeness_factor(const struct ordered *o)
{
	double shared[2][2] = { { 0 } }, variance, left = 0;
	double before[2] = { 0 }; /* the sum of rho^k over those k places before, by group */

	for (uint32_t i = 0; i < o->n; i++) {
		bool h = o->item[i].group;

		shared[0][h] += 2 * before[0];
		shared[1][h] += 2 * before[1];
		shared[h][h]++;
		before[h]++;
		before[0] *= o->rho;
		before[1] *= o->rho;
	}
	variance = -(shared[0][1] + shared[1][0]) / ((double)o->count[0] * o->count[1]);
	for (int g = 0; g < 2; g++) {
		double n = o->count[g];

		variance += shared[g][g] / (n * n);
		left += n - shared[g][g] / n;
	}
	variance /= 1.0 / o->count[0] + 1.0 / o->count[1];
	return fmax(1, variance * (o->n - 2) / left);
}

static void look_at_order(struct ordered *o, bool known, bool parts)
{
	o->likeness_factor = o->drift_factor = o->shift_factor = 1;
	if (!known || o->n < ORDER_FROM || o->count[0] < 3 || o->count[1] < 3)
		return;
	qsort(o->item, o->n, sizeof *o->item, by_time);
	look_for_drift(o, parts);
	o->rho = neighbours_alike(o);
	if (o->rho > 0)
		o->likeness_factor = likeness_factor(o);
}

/* The centre of a group, and what is known of it: the squared error of the centre and the degrees
 * of freedom of that. */
struct centre {
	double at, error2, df, squares;
	uint32_t n;
};

/* The trimmed mean with the winsorized variance (Yuen 1974); without trimming it is the mean with
 * its standard error. v is sorted. */
static struct centre centre_of(const double *v, uint32_t n, bool parts)
{
	struct centre c = { .n = n };
	uint32_t cut = n >= TRIM_FROM && !parts ? n / TRIM_OF : 0, kept = n - 2 * cut;
	double sum = 0, mean = 0, winsorized, squares = 0;

	for (uint32_t i = cut; i < n - cut; i++)
		sum += v[i];
	c.at = sum / kept;
	winsorized = (sum + cut * (v[cut] + v[n - cut - 1])) / n;
	for (uint32_t i = 0; i < n; i++) {
		double e = (i < cut ? v[cut] : i >= n - cut ? v[n - cut - 1] : v[i]) - winsorized;

		squares += e * e;
	}
	for (uint32_t i = 0; i < n; i++)
		mean += v[i] / n;
	for (uint32_t i = 0; i < n; i++)
		c.squares += (v[i] - mean) * (v[i] - mean);
	c.df = kept - 1.0;
	c.error2 = kept > 1 ? squares / (kept * (kept - 1.0)) : NAN;
	return c;
}

/* Squared error and degrees of freedom of the difference: Welch's, as Yuen has it. A single value
 * tells no spread: then that of the other group, or one that is known beside them, is taken to be
 * its, too (Student's). */
static void error_of(const struct centre *a, const struct centre *b, const struct compare_wish *w,
		     double *error2, double *df)
{
	double na = a->n, nb = b->n, pooled;

	if (a->n > 1 && b->n > 1 && !(w->spread_df > 0) && !w->parts) {
		double sum = a->error2 + b->error2;

		*error2 = sum;
		*df = sum > 0 ? sum * sum /
					(a->error2 * a->error2 / a->df +
					 b->error2 * b->error2 / b->df)
			      : na + nb - 2;
		return;
	}
	*df = na + nb - 2 + w->spread_df;
	pooled = (a->squares + b->squares + w->spread * w->spread * w->spread_df) / *df;
	*error2 = *df > 0 ? pooled * (1 / na + 1 / nb) : NAN;
}

static void decide(struct compared *c, double error2, double df, const struct ordered *o,
		   const struct compare_wish *w)
{
	double error = sqrt(error2), reach;

	/* Values without any spread: of many, what is seen is what is; two tell nothing. */
	if (isnan(error) || !(df > 0) || (error == 0 && df < 3))
		return;
	if (error == 0) {
		c->low = c->high = c->difference;
		c->p = c->difference == 0;
		c->p_drift = c->p;
		c->p_same = fabs(c->difference) >= c->margin && c->margin > 0;
	} else {
		reach = error * student_quantile((1 - w->level) / 2, df);
		c->low = c->difference - reach;
		c->high = c->difference + reach;
		c->p = student_beyond(c->difference / error, df);
		c->p_drift = student_above(copysign(1, c->difference) * (c->difference + o->shift) /
						   (error * sqrt(o->shift_factor)),
					   df);
		c->p_same = fmax(student_above((c->difference + c->margin) / error, df),
				 student_above((c->margin - c->difference) / error, df));
	}
	c->finding = compare_finding(c, c->p, w->level);
}

enum finding_of_two compare_finding(const struct compared *c, double p, double level)
{
	if (c->finding == COMPARE_UNKNOWN || isnan(c->low))
		return c->finding;
	if (c->low >= -c->margin && c->high <= c->margin)
		return COMPARE_SAME;
	if (!(p <= 1 - level) || c->p_drift > shift_level)
		return COMPARE_INCONCLUSIVE;
	return c->difference > 0 ? COMPARE_MORE : COMPARE_LESS;
}

/* The values of both groups, each sorted, to value[]: as measured when drift is what was taken out
 * of them, without it when that is 0. */
static void sort_groups(const struct ordered *o, double drift, double *value)
{
	uint32_t n[2] = { 0, o->count[0] };

	for (uint32_t i = 0; i < o->n; i++)
		value[n[o->item[i].group]++] = o->item[i].v + drift * (i - (o->n - 1) / 2.0);
	sort_values(value, o->count[0]);
	sort_values(value + o->count[0], o->count[1]);
}

/* value: room for all of both groups. */
static void compare_ordered(struct compared *c, const struct ordered *o, double *value,
			    const struct compare_wish *w)
{
	double *part[2] = { value, value + o->count[0] }, error2, df;
	struct centre a, b;
	struct ranks ranks;

	sort_groups(o, o->drift, value);
	c->a = centre_of(part[0], o->count[0], w->parts).at;
	c->b = centre_of(part[1], o->count[1], w->parts).at;
	sort_groups(o, 0, value);
	a = centre_of(part[0], o->count[0], w->parts);
	b = centre_of(part[1], o->count[1], w->parts);
	ranks = ranks_of(part[0], o->count[0], part[1], o->count[1]);
	c->finding = COMPARE_INCONCLUSIVE;
	c->difference = b.at - a.at;
	c->margin = fmax(w->margin_ratio * fabs(c->a), w->margin_absolute);
	c->effect = ranks.delta;
	c->p_ranks = ranks.p;
	c->likeness = o->rho;
	c->drift = o->drift;
	c->widened = sqrt(o->likeness_factor * o->drift_factor);
	df = o->n - 2 + w->spread_df;
	c->spread =
		df > 0 ? sqrt((a.squares + b.squares + w->spread * w->spread * w->spread_df) / df)
		       : NAN;
	error_of(&a, &b, w, &error2, &df);
	df -= o->drift != 0;
	df *= (1 - o->rho * o->rho) / (1 + o->rho * o->rho);
	decide(c, error2 * c->widened * c->widened, df, o, w);
}

static void add_group(struct ordered *o, const struct sample_group *g, bool which)
{
	for (uint32_t i = 0; i < g->n; i++)
		o->item[o->n++] = (struct item){ g->value[i], g->at ? g->at[i] : 0, which };
	o->count[which] = g->n;
}

/* Takes a power of two out of values whose fourth powers doubles cannot hold. It is returned; 0 of
 * any others, which stay as they are. */
static int take_scale(struct ordered *o)
{
	double most = 0;
	int scale;

	for (uint32_t i = 0; i < o->n; i++)
		most = fmax(most, fabs(o->item[i].v));
	(void)frexp(most, &scale);
	if (abs(scale) < SCALE_FROM || scale < SCALE_TINIEST)
		return 0;
	for (uint32_t i = 0; i < o->n; i++)
		o->item[i].v = ldexp(o->item[i].v, -scale);
	return scale;
}

static void give_scale_back(struct compared *c, int scale)
{
	double *const of_unit[] = { &c->a,    &c->b,      &c->difference, &c->low,
				    &c->high, &c->margin, &c->spread,     &c->drift };

	for (size_t i = 0; i < sizeof of_unit / sizeof of_unit[0]; i++)
		*of_unit[i] = ldexp(*of_unit[i], scale);
}

int compare_groups(struct compared *out, const struct sample_group *a, const struct sample_group *b,
		   const struct compare_wish *w)
{
	size_t n = (size_t)a->n + b->n;
	struct ordered o = { .item = calloc(n + 1, sizeof *o.item) };
	double *value = calloc(n + 1, sizeof *value);
	struct compare_wish scaled = *w;
	int scale;

	*out = (struct compared){ .na = a->n, .nb = b->n, .widened = 1 };
	out->a = out->b = out->difference = out->low = out->high = out->margin = NAN;
	out->p = out->p_drift = out->p_same = out->effect = out->p_ranks = out->spread = NAN;
	if (o.item && value && a->n && b->n) {
		add_group(&o, a, false);
		add_group(&o, b, true);
		scale = take_scale(&o);
		scaled.margin_absolute = ldexp(w->margin_absolute, -scale);
		scaled.spread = ldexp(w->spread, -scale);
		look_at_order(&o, a->at && b->at, w->parts);
		compare_ordered(out, &o, value, &scaled);
		give_scale_back(out, scale);
	}
	free(value);
	free(o.item);
	return o.item && value ? 0 : -ENOMEM;
}

/* With n values in each group, the interval of no difference leaves the margin in more than one of
 * 10 cases. */
static bool too_few(uint32_t n, double spread, double margin, double level)
{
	double df = 2.0 * n - 2;
	double reach = student_quantile((1 - level) / 2, df) + student_quantile(0.05, df);

	return reach * spread * sqrt(2.0 / n) > margin;
}

uint32_t compare_repeats(double spread, double margin, double level)
{
	uint32_t low = 1, high = 2;

	if (!(spread >= 0) || !(margin > 0))
		return 0;
	while (high <= REPEATS_MOST && too_few(high, spread, margin, level)) {
		low = high;
		high *= 2;
	}
	while (high - low > 1) {
		uint32_t n = low + (high - low) / 2;

		if (too_few(n, spread, margin, level))
			low = n;
		else
			high = n;
	}
	return high > REPEATS_MOST ? 0 : high;
}
