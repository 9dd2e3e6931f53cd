/* SPDX-License-Identifier: Apache-2.0 */
/* steps_kinds.c - which steps are plain, and how long these are. */
#include "core/statistics/stats.h"
#include "report/steps/steps_grid.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* A mean or median, and a deviation. */
struct usual {
	double mean, sd;
};

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

/* By how many deviations a step is longer than usual, at most three; sums over steps. */
struct far {
	double sum, squares, n;
};

static double add_far(struct far *to, const struct step *p, const struct usual *u)
{
	double by = fmin(3, (length_of(p) - u->mean) / u->sd);

	if (p->kind != STEP_PLAIN)
		return 0;
	to->sum += by;
	to->squares += by * by;
	to->n++;
	return by;
}

/* Those at every so many steps from one on: by how much they are longer than the others, in
 * standard errors of these: where others take the cores, many are much longer. 0: some of them are
 * not. */
static double longer_by(const struct steps *x, uint32_t first, uint32_t every,
			const struct usual *u, const struct far *all)
{
	struct far in = { 0 };
	double more = 0, others, mean, sd;

	for (uint32_t i = first; i < x->n; i += every)
		more += add_far(&in, &x->step[i], u) > 0;
	others = all->n - in.n;
	if (in.n < 3 || 5 * more < 4 * in.n || !(others > 0))
		return 0;
	mean = (all->sum - in.sum) / others;
	sd = sqrt(fmax(1, (all->squares - in.squares) / others - mean * mean));
	return (in.sum / in.n - fmax(0, mean)) / sd * sqrt(in.n);
}

/* Those that are a little longer again and again after as many steps: with a checkpoint, too. */
static void find_recurring(struct steps *x, double *room)
{
	const struct usual u = usual_length(x, 0, room);
	double most = 0, tries = 0;
	uint32_t first = 0, every = 0;
	struct far all = { 0 };

	for (uint32_t i = 0; i < x->n; i++)
		add_far(&all, &x->step[i], &u);
	for (uint32_t k = 3; k <= x->n / 3 && u.sd > 0; k++)
		for (uint32_t i = 0; i < k; i++) {
			double by = longer_by(x, i, k, &u, &all);

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

int steps_measure(struct steps *x, const struct step_grid *g)
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
