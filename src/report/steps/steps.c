/* SPDX-License-Identifier: Apache-2.0 */
#include "report/steps/steps.h"
#include "core/statistics/cycle.h"
#include "core/statistics/stats.h"
#include "report/steps/steps_grid.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* In whose samples steps are looked for. */
enum { SIGNALS = STEP_CALLS + 1 };
static int no_memory(const struct run *r, struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for the steps of %.300s", r->path);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The node with most samples. */
static uint32_t choose_node(const struct run *r)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < r->nnodes; i++)
		if (r->nodes[i].rows >= CYCLE_LEAST &&
		    (!best || r->nodes[i].rows > r->nodes[best].rows))
			best = i;
	return best;
}

/* How well most beginnings fit: a fit that is clearly worse may be one that there is not, within a
 * step that took long. NAN: out of memory. */
static double clear_fit(const struct cycle *c)
{
	const double worse = 0.3;
	double *fit = malloc((c->n + 1u) * sizeof *fit), middle;

	if (!fit)
		return NAN;
	for (uint32_t i = 0; i < c->n; i++)
		fit[i] = c->begin[i].fit;
	qsort(fit, c->n, sizeof *fit, by_value);
	middle = fit[c->n / 2];
	free(fit);
	return middle - worse;
}

/* Whether a step has as many readings of the measure as it takes: what is read less often than
 * others is read at even distances, and so repeats in the grid by itself. */
static bool is_read_enough(const struct steps *x, const struct step_grid *g, uint32_t measure)
{
	const double mean = CYCLE_VALUES - 0.3, most = 0.75;
	uint32_t all = 0, enough = 0;

	for (uint32_t i = 0; i < x->n; i++) {
		uint32_t n = step_grid_read(g, measure, x->step[i].from_s, x->step[i].to_s);

		all += n;
		enough += n + 1 >= CYCLE_VALUES;
	}
	return all >= mean * x->n && enough >= most * x->n;
}

/* So few bytes a step are no data, but what a runtime asks again and again by its clock: how many
 * cores there are, who woke it. */
static bool reads_nothing(const struct steps *x, const struct step_grid *g)
{
	const double data = 256;
	double from_s = x->step[0].from_s, to_s = x->step[x->n - 1].to_s;

	return step_grid_mean(g, STEP_READ, from_s, to_s) * (to_s - from_s) < data * x->n;
}

/* Threads that never give up a CPU have no rests in which they use less of it. */
bool steps_are_of_job(const struct steps *x, const struct step_grid *g, uint32_t measure)
{
	if (measure == STEP_CPU && g->rests < x->n)
		return false;
	if ((measure == STEP_READ || measure == STEP_READ_CALLS) && reads_nothing(x, g))
		return false;
	return is_read_enough(x, g, measure);
}

/* In the measures that are left. */
static int find_in(struct steps *x, const struct step_grid *g, const uint32_t *measure,
		   uint32_t nmeasures, uint32_t *shown_by)
{
	const double *signal[SIGNALS] = { 0 };
	struct cycle c;
	double clear = NAN;
	int rc;

	for (uint32_t i = 0; i < nmeasures; i++)
		signal[i] = g->value[measure[i]];
	rc = cycle_find(&c, signal, nmeasures, g->n);
	if (!rc && c.n > 1) {
		x->step = calloc(c.n - 1, sizeof *x->step);
		rc = x->step ? 0 : -ENOMEM;
		x->n = rc ? 0 : c.n - 1;
		*shown_by = c.signal;
		x->metric = step_measures[measure[c.signal]].metric;
		x->grain_s = fmax(1, c.grain) * g->width_s;
	}
	if (x->n)
		clear = clear_fit(&c);
	for (uint32_t i = 0; i < x->n; i++) {
		x->step[i].from_s = g->from_s + c.begin[i].at * g->width_s;
		x->step[i].to_s = g->from_s + c.begin[i + 1].at * g->width_s;
		x->step[i].vague = fmin(c.begin[i].fit, c.begin[i + 1].fit) < clear;
	}
	cycle_free(&c);
	return rc;
}

/* Without those measures that show something which their readings made. */
static int find_in_samples(struct steps *x, const struct step_grid *g)
{
	uint32_t measure[SIGNALS], n = SIGNALS, by = 0;

	for (uint32_t i = 0; i < SIGNALS; i++)
		measure[i] = i;
	while (n) {
		int rc = find_in(x, g, measure, n, &by);

		if (rc || !x->n || steps_are_of_job(x, g, measure[by]))
			return rc;
		free(x->step);
		x->step = NULL;
		x->n = 0;
		x->metric = NULL;
		n--;
		for (uint32_t i = by; i < n; i++)
			measure[i] = measure[i + 1];
	}
	return 0;
}

static double covered(const struct steps *x)
{
	return x->n ? x->step[x->n - 1].to_s - x->step[0].from_s : 0;
}

/* Bursts, where they show steps in clearly more of the time. */
static int look_for_bursts(struct steps *x, const struct step_grid *g)
{
	const double more = 1.3;
	struct steps found = { 0 };
	int rc = steps_of_bursts(&found, g);

	if (rc || !found.n || covered(&found) < more * covered(x)) {
		free(found.step);
		return rc;
	}
	free(x->step);
	x->step = found.step;
	x->n = found.n;
	x->metric = found.metric;
	x->grain_s = found.grain_s;
	return 0;
}

/* Where samples came at uneven distances, as they do while a job begins, at even ones. */
static int look_in_samples(struct steps *x, struct step_grid *g)
{
	int rc = find_in_samples(x, g), coarser = 0;

	if (!rc && !x->n)
		coarser = step_grid_coarsen(g);
	if (coarser > 0)
		rc = find_in_samples(x, g);
	return coarser < 0 ? coarser : rc || look_for_bursts(x, g) ? -ENOMEM : 0;
}

/* ---- what was different ---- */

struct usual {
	double mean, sd;
};

static struct usual usual_of(const struct steps *x, const struct step_grid *g, uint32_t measure)
{
	double n = 0, sum = 0, squares = 0, mean;

	for (uint32_t i = 0; i < x->n; i++) {
		double v = x->step[i].kind == STEP_PLAIN
				   ? step_grid_mean(g, measure, x->step[i].from_s, x->step[i].to_s)
				   : (double)NAN;

		if (isnan(v))
			continue;
		n++;
		sum += v;
		squares += v * v;
	}
	mean = n > 1 ? sum / n : NAN;
	return (struct usual){ mean, sqrt(fmax(0, squares / n - mean * mean)) };
}

/* Less than this is none. */
static double least_of(enum unit u)
{
	switch (u) {
	case UNIT_CORES:
		return 0.05;
	case UNIT_RATIO:
		return 0.03;
	case UNIT_BYTES:
		return 16 << 20;
	case UNIT_BYTES_PER_SECOND:
		return 1 << 18;
	default:
		return 10;
	}
}

/* Keeps those that are farthest. */
static void differ(struct step *p, double *far, const struct step_difference *d, double by)
{
	uint32_t at = p->ndifferent;

	while (at && by > far[at - 1])
		at--;
	if (at == STEP_DIFFERENCES)
		return;
	p->ndifferent += p->ndifferent < STEP_DIFFERENCES;
	for (uint32_t i = p->ndifferent - 1; i > at; i--) {
		p->different[i] = p->different[i - 1];
		far[i] = far[i - 1];
	}
	p->different[at] = *d;
	far[at] = by;
}

static void find_differences(struct steps *x, const struct step_grid *g)
{
	const double far_least = 3, share = 0.05;
	struct usual usual[STEP_TELLS];

	for (uint32_t k = 0; k < STEP_TELLS; k++)
		usual[k] = usual_of(x, g, k);
	for (uint32_t i = 0; i < x->n; i++) {
		struct step *p = &x->step[i];
		double far[STEP_DIFFERENCES] = { 0 };

		for (uint32_t k = 0; k < STEP_TELLS && p->kind != STEP_PLAIN; k++) {
			double v = step_grid_mean(g, k, p->from_s, p->to_s), u = usual[k].mean;
			double by = fabs(v - u) / fmax(fmax(usual[k].sd, share * fabs(u)),
						       least_of(step_measures[k].unit));

			if (by > far_least)
				differ(p, far, &(struct step_difference){ k, v, u }, by);
		}
	}
}

/* ---- kinds of steps ---- */

static double length_of(const struct step *p)
{
	return p->to_s - p->from_s;
}

/* Bytes; 0: not known. */
static double written_in(const struct step_grid *g, const struct step *p)
{
	double rate = g->n ? step_grid_mean(g, STEP_WRITTEN, p->from_s, p->to_s) : (double)NAN;

	return isnan(rate) ? 0 : rate * length_of(p);
}

/* Of sorted lengths: their standard deviation as their middle half shows it, on the side that is
 * wider: many are a little longer, and less than a quarter is much longer. */
static double deviation_of(const double *length, uint32_t from, uint32_t to)
{
	const double normal = 1.4826;
	uint32_t n = to - from;
	double middle = length[from + n / 2];

	return normal * fmax(middle - length[from + n / 4], length[from + 3 * n / 4] - middle);
}

/* Those that write much more than others, if they are few and longer: they have a checkpoint,
 * however long it takes. room: [n]. */
static void find_writers(struct steps *x, const struct step_grid *g, double *room)
{
	const double more = 3, few = 0.35;
	double middle, length;
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->n; i++)
		room[i] = length_of(&x->step[i]);
	qsort(room, x->n, sizeof *room, by_value);
	length = room[x->n / 2];
	for (uint32_t i = 0; i < x->n; i++)
		room[i] = written_in(g, &x->step[i]);
	qsort(room, x->n, sizeof *room, by_value);
	middle = more * room[x->n / 2] + (1 << 20);
	for (uint32_t i = 0; i < x->n; i++)
		n += written_in(g, &x->step[i]) > middle;
	for (uint32_t i = 0; i < x->n && n > 1 && n < few * x->n; i++)
		if (written_in(g, &x->step[i]) > middle && length_of(&x->step[i]) > length)
			x->step[i].kind = STEP_CHECKPOINT;
}

/* The lengths of the usual ones, from low to high: without those far from the middle. */
static uint32_t usual_lengths(const struct steps *x, double *length, uint32_t *first)
{
	const double far = 3.5;
	uint32_t from = 0, to = 0, vague = 0, plain = 0;

	for (uint32_t i = 0; i < x->n; i++) {
		plain += x->step[i].kind == STEP_PLAIN;
		vague += x->step[i].kind == STEP_PLAIN && x->step[i].vague;
	}
	for (uint32_t i = 0; i < x->n; i++)
		if (x->step[i].kind == STEP_PLAIN && (!x->step[i].vague || 2 * vague > plain))
			length[to++] = length_of(&x->step[i]);
	qsort(length, to, sizeof *length, by_value);
	for (int pass = 0; pass < 4; pass++) {
		double middle = length[(from + to) / 2], sd = deviation_of(length, from, to);

		sd = fmax(sd, fmax(x->grain_s / 2, 0.01 * middle));
		while (to > from + 1 && length[to - 1] > middle + far * sd)
			to--;
		while (to > from + 1 && length[from] < middle - far * sd)
			from++;
	}
	*first = from;
	return to - from;
}

static void sort_out(struct steps *x, double low, double high)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < x->n; i++) {
		double s = length_of(&x->step[i]);

		if (x->step[i].kind == STEP_PLAIN)
			x->step[i].kind = s < low ? STEP_SHORT : s > high ? STEP_SLOW : STEP_PLAIN;
	}
	while (first < x->n && x->step[first].kind != STEP_PLAIN)
		first++;
	for (uint32_t i = 0; i < first && first <= x->n / 4; i++)
		x->step[i].kind = STEP_WARM_UP;
}

/* Those that are longer again and again after about as many steps. NAN: they are not. */
static double find_every(const struct steps *x, enum step_kind kind, double *gap)
{
	uint32_t n = 0, last = UINT32_MAX, near = 0;
	double middle;

	for (uint32_t i = 0; i < x->n; i++) {
		if (x->step[i].kind != kind)
			continue;
		if (last != UINT32_MAX)
			gap[n++] = i - last;
		last = i;
	}
	if (n < 2)
		return NAN;
	qsort(gap, n, sizeof *gap, by_value);
	middle = gap[n / 2];
	for (uint32_t i = 0; i < n; i++)
		near += fabs(gap[i] - middle) <= fmax(1, 0.1 * middle);
	return middle >= 3 && 3 * near >= 2 * n ? middle : NAN;
}

/* Where none writes much, slow ones that come again and again have a checkpoint, or test. */
static void find_checkpoints(struct steps *x, double *room)
{
	double all = 0;
	uint32_t n = 0;
	bool write = false;

	for (uint32_t i = 0; i < x->n; i++)
		write |= x->step[i].kind == STEP_CHECKPOINT;
	x->every = find_every(x, write ? STEP_CHECKPOINT : STEP_SLOW, room);
	for (uint32_t i = 0; i < x->n; i++) {
		struct step *p = &x->step[i];

		if (!write && p->kind == STEP_SLOW && x->every > 0)
			p->kind = STEP_CHECKPOINT;
		if (p->kind != STEP_CHECKPOINT)
			continue;
		all += length_of(p) - x->mean_s;
		n++;
	}
	x->checkpoint_s = n ? all / n : NAN;
}

/* What the usual ones are: the median, and a deviation. Of those from i on. */
static struct usual usual_length(const struct steps *x, uint32_t i, double *room)
{
	uint32_t n = 0;

	for (; i < x->n; i++)
		if (x->step[i].kind == STEP_PLAIN)
			room[n++] = length_of(&x->step[i]);
	if (n < 4)
		return (struct usual){ NAN, NAN };
	qsort(room, n, sizeof *room, by_value);
	return (struct usual){ room[n / 2], fmax(deviation_of(room, 0, n),
						 fmax(x->grain_s / 8, 0.01 * room[n / 2])) };
}

/* The first ones, while they are longer than the last two thirds. */
static void find_warm_up(struct steps *x, double *room)
{
	const double far = 2;
	struct usual u = usual_length(x, x->n / 3, room);

	for (uint32_t i = 0; i <= x->n / 4; i++) {
		if (!(length_of(&x->step[i]) > u.mean + far * u.sd))
			break;
		x->step[i].kind = STEP_WARM_UP;
	}
}

/* Those at every so many steps from one on: by how much they are longer than the others, in
 * standard errors. 0: some of them are not. */
static double longer_by(const struct steps *x, uint32_t first, uint32_t every, struct usual u)
{
	double sum = 0;
	uint32_t n = 0, more = 0;

	for (uint32_t i = first; i < x->n; i += every) {
		if (x->step[i].kind != STEP_PLAIN)
			continue;
		sum += fmin(3, (length_of(&x->step[i]) - u.mean) / u.sd);
		more += length_of(&x->step[i]) > u.mean;
		n++;
	}
	return n >= 3 && 5 * more >= 4 * n ? sum / sqrt(n) : 0;
}

/* Those that are a little longer again and again after as many steps: with a checkpoint, too. */
static void find_recurring(struct steps *x, double *room)
{
	const struct usual u = usual_length(x, 0, room);
	double most = 0, tries = 0;
	uint32_t first = 0, every = 0;

	for (uint32_t k = 3; k <= x->n / 3 && u.sd > 0; k++)
		for (uint32_t i = 0; i < k; i++) {
			double by = longer_by(x, i, k, u);

			tries++;
			if (by > most) {
				most = by;
				first = i;
				every = k;
			}
		}
	if (!every || most < 1.3 + sqrt(2 * log(tries)))
		return;
	for (uint32_t i = first; i < x->n; i += every)
		if (x->step[i].kind == STEP_PLAIN && length_of(&x->step[i]) > u.mean)
			x->step[i].kind = STEP_CHECKPOINT;
}

/* Of sorted lengths, each of which is known to half a grain: they are multiples of it. */
static double median_of(const struct steps *x, const double *length, uint32_t n)
{
	double low = length[0], high = length[n - 1];

	if (!(x->grain_s > 0))
		return (length[(n - 1) / 2] + length[n / 2]) / 2;
	for (int pass = 0; pass < 40; pass++) {
		double middle = (low + high) / 2, below = 0;

		for (uint32_t i = 0; i < n; i++)
			below += fmax(0, fmin(1, (middle - length[i]) / x->grain_s + 0.5));
		*(below < 0.5 * n ? &low : &high) = middle;
	}
	return (low + high) / 2;
}

static int measure_steps(struct steps *x, const struct step_grid *g)
{
	double *length = malloc((x->n + 1u) * sizeof *length), sum = 0, squares = 0;
	uint32_t first, n;

	if (!length)
		return -ENOMEM;
	find_writers(x, g, length);
	find_warm_up(x, length);
	find_recurring(x, length);
	n = usual_lengths(x, length, &first);
	for (uint32_t i = first; i < first + n; i++)
		sum += length[i];
	x->mean_s = sum / n;
	for (uint32_t i = first; i < first + n; i++)
		squares += (length[i] - x->mean_s) * (length[i] - x->mean_s);
	x->median_s = median_of(x, length + first, n);
	x->low_s = length[first + n / 20];
	x->high_s = length[first + n - 1 - n / 20];
	if (n > 1) {
		double sd = sqrt(squares / (n - 1));

		x->spread_ratio = sd / x->mean_s;
		x->error_s = student_quantile(0.025, n - 1) * sd / sqrt(n);
	}
	sort_out(x, length[first], length[first + n - 1]);
	find_checkpoints(x, length);
	for (uint32_t i = 0; i < x->n; i++)
		x->count[x->step[i].kind]++;
	free(length);
	return 0;
}

/* ---- all of it ---- */

int steps_make(struct steps *x, const struct summary *s, struct run *r, struct err *e)
{
	struct step_grid g = { 0 };
	int rc;

	*x = (struct steps){ .mean_s = NAN,
			     .median_s = NAN,
			     .error_s = NAN,
			     .low_s = NAN,
			     .high_s = NAN,
			     .spread_ratio = NAN,
			     .before_s = NAN,
			     .every = NAN,
			     .checkpoint_s = NAN,
			     .interval_s = NAN };
	rc = steps_of_names(x, s, r) || (!x->n && steps_of_events(x, s, r)) ? no_memory(r, e) : 0;
	if (!rc && !x->n)
		x->node = choose_node(r);
	if (!rc && x->node && r->nodes[x->node].rows) {
		rc = step_grid_make(&g, r, x->node, e);
		if (!rc && g.n && !x->n && look_in_samples(x, &g))
			rc = no_memory(r, e);
		x->interval_s = g.n ? g.width_s : (double)NAN;
	}
	if (!rc && x->n) {
		rc = measure_steps(x, &g) ? no_memory(r, e) : 0;
		x->before_s = fmax(0, x->step[0].from_s);
		if (g.n)
			find_differences(x, &g);
	}
	step_grid_free(&g);
	return rc;
}

void steps_free(struct steps *x)
{
	free(x->step);
	*x = (struct steps){ 0 };
}

int summary_steps_make(struct summary *s, struct run *r, struct err *e)
{
	struct steps *x;
	int rc;

	s->iterations = x = calloc(1, sizeof *x);
	if (!x)
		return no_memory(r, e);
	rc = steps_make(x, s, r, e);
	if (!rc)
		rc = steps_code_make(x, s, e);
	s->steps_found = s->step_s = s->step_spread = s->steps_slow = NAN;
	if (rc || !x->n)
		return rc;
	s->steps_found = x->n;
	s->step_s = x->mean_s;
	s->step_spread = x->spread_ratio;
	s->steps_slow = x->count[STEP_SLOW];
	return 0;
}
