/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary/steps.h"
#include "core/frame/derive.h"
#include "core/statistics/cycle.h"
#include "core/statistics/student.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct step_measure step_measures[STEP_MEASURES] = {
	[STEP_CPU] = { "job.cpu_cores", "CPU", UNIT_CORES },
	[STEP_READ] = { "job.read_bytes_per_second", "read", UNIT_BYTES_PER_SECOND },
	[STEP_WRITTEN] = { "job.written_bytes_per_second", "written", UNIT_BYTES_PER_SECOND },
	[STEP_RESIDENT] = { "job.resident_bytes", "resident memory", UNIT_BYTES },
	[STEP_GPU] = { "gpu.utilization_ratio", "GPU use", UNIT_RATIO },
	[STEP_READY] = { "job.run_queue_cores", "waiting for a core", UNIT_CORES },
	[STEP_OTHERS] = { "node.cpu_used_cores", "CPU of others", UNIT_CORES },
	[STEP_STORAGE_READ] = { "job.storage_read_bytes_per_second", "read from storage",
				UNIT_BYTES_PER_SECOND },
	[STEP_STORAGE_WRITTEN] = { "job.storage_written_bytes_per_second", "written to storage",
				   UNIT_BYTES_PER_SECOND },
	[STEP_FAULTS] = { "job.major_faults_per_second", "major page faults", UNIT_PER_SECOND },
};

/* In whose samples steps are looked for. */
enum { SIGNALS = STEP_GPU + 1 };
/* Intervals of a grid. */
enum { GRID_MOST = 1 << 17 };

static int no_memory(const struct run *r, struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for the steps of %.300s", r->path);
}

/* ---- samples of a node on a grid ---- */

struct grid {
	double from_s, width_s;
	uint32_t n;
	double *value[STEP_MEASURES]; /* means; NAN: not known */
	double *weight;               /* [STEP_MEASURES * n] seconds that they are of */
};

static void grid_free(struct grid *g)
{
	for (int i = 0; i < STEP_MEASURES; i++)
		free(g->value[i]);
	free(g->weight);
	*g = (struct grid){ 0 };
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

static int grid_make(struct grid *g, const struct run *r, uint32_t node)
{
	const struct run_node *x = &r->nodes[node];
	double to_s = run_seconds(r, node, x->last_ns);

	g->from_s = run_seconds(r, node, x->first_ns);
	if (!(to_s > g->from_s) || x->rows < CYCLE_LEAST)
		return 0;
	g->width_s = (to_s - g->from_s) / (double)(x->rows - 1);
	if (x->rows > GRID_MOST)
		g->width_s = (to_s - g->from_s) / GRID_MOST;
	g->n = (uint32_t)((to_s - g->from_s) / g->width_s + 0.5);
	g->weight = calloc((size_t)STEP_MEASURES * g->n, sizeof *g->weight);
	for (int i = 0; i < STEP_MEASURES; i++) {
		g->value[i] = calloc(g->n, sizeof *g->value[i]);
		if (!g->value[i] || !g->weight)
			return -ENOMEM;
	}
	return 0;
}

/* A value that stood from .. to. */
static void grid_put(struct grid *g, uint32_t measure, double from_s, double to_s, double v)
{
	double from = (from_s - g->from_s) / g->width_s, to = (to_s - g->from_s) / g->width_s;
	double *weight = g->weight + (size_t)measure * g->n;

	from = fmax(0, from);
	to = fmin(to, g->n);
	for (uint32_t i = (uint32_t)from; from < to && i < g->n; i++) {
		double part = fmin(i + 1, to) - from;

		g->value[measure][i] += v * part;
		weight[i] += part;
		from = i + 1;
	}
}

static void grid_end(struct grid *g)
{
	const double least = 0.25;

	for (uint32_t k = 0; k < STEP_MEASURES; k++)
		for (uint32_t i = 0; i < g->n; i++) {
			double w = g->weight[(size_t)k * g->n + i];

			g->value[k][i] = w >= least ? g->value[k][i] / w : (double)NAN;
		}
	for (uint32_t i = 0; i < g->n; i++) /* of the node less the job's */
		g->value[STEP_OTHERS][i] =
			fmax(0, g->value[STEP_OTHERS][i] - g->value[STEP_CPU][i]);
}

struct reader {
	struct derive derive;
	struct grid *grid;
	uint32_t *measure; /* [ncells] + 1; 0: none */
	double last_s[STEP_MEASURES];
	uint32_t node;
};

static void find_cells(struct reader *x)
{
	const struct plan *p = &x->derive.plan;

	for (uint32_t c = 1; c < p->ncells; c++) {
		const struct holder *h = &p->holder[p->cell[c].holder];

		for (uint32_t k = 0; k < STEP_MEASURES && !h->instance && h->node == x->node; k++)
			if (!strcmp(derive_quantity(&x->derive, c)->name, step_measures[k].metric))
				x->measure[c] = k + 1;
	}
}

static void take_instant(struct reader *x, const struct instant *in)
{
	for (uint32_t i = 0; i < in->n; i++) {
		const struct reading v = instant_reading(in, i);
		uint32_t k = x->measure[v.cell];
		bool interval = derive_quantity(&x->derive, v.cell)->interval;

		if (!k--)
			continue;
		if (interval)
			grid_put(x->grid, k, in->seconds - v.seconds, in->seconds, v.value);
		else if (isfinite(x->last_s[k]))
			grid_put(x->grid, k, x->last_s[k], in->seconds, v.value);
		x->last_s[k] = in->seconds;
	}
}

static int read_chunks(struct reader *x, struct run *r, struct err *e)
{
	struct chunk c;
	struct instant in;
	int rc = r->rewind_nodes ? r->rewind_nodes(r, x->node, x->node + 1) : r->rewind(r);

	if (rc)
		return err_set(e, rc, "cannot read %.300s again from its start", r->path);
	while ((rc = r->next_chunk(r, x->derive.plan.wanted, &c, e)) > 0) {
		if (c.node != x->node)
			continue;
		rc = derive_chunk(&x->derive, &c, e);
		if (rc)
			return rc;
		while (derive_row(&x->derive, &in))
			take_instant(x, &in);
	}
	return rc;
}

static int read_grid(struct grid *g, struct run *r, uint32_t node, struct err *e)
{
	struct reader x = { .grid = g, .node = node };
	struct selection sel = { .from_node = node, .to_node = node + 1, .may_match_none = true };
	struct bytes globs = { 0 };
	int rc;

	for (int i = 0; i < STEP_MEASURES; i++) {
		bytes_printf(&globs, "%s%s", i ? "," : "", step_measures[i].metric);
		x.last_s[i] = NAN;
	}
	bytes_u8(&globs, '\0');
	sel.metrics = (const char *)globs.data;
	rc = globs.failed ? no_memory(r, e) : derive_open(&x.derive, r, &sel, e);
	if (rc == -EINVAL) { /* the recording has none of them */
		rc = 0;
		grid_end(g);
	} else if (!rc) {
		x.measure = calloc(x.derive.plan.ncells + 1u, sizeof *x.measure);
		rc = x.measure ? 0 : no_memory(r, e);
	}
	if (!rc && x.measure) {
		find_cells(&x);
		rc = read_chunks(&x, r, e);
		grid_end(g);
	}
	derive_close(&x.derive);
	free(x.measure);
	bytes_free(&globs);
	return rc;
}

static int find_in_samples(struct steps *x, const struct grid *g)
{
	struct cycle c;
	int rc = cycle_find(&c, (const double *const *)g->value, SIGNALS, g->n);

	if (!rc && c.n > 1) {
		x->step = calloc(c.n - 1, sizeof *x->step);
		rc = x->step ? 0 : -ENOMEM;
		x->n = rc ? 0 : c.n - 1;
		x->metric = step_measures[c.signal].metric;
		x->grain_s = c.grain * g->width_s;
	}
	for (uint32_t i = 0; i < x->n; i++) {
		x->step[i].from_s = g->from_s + c.at[i] * g->width_s;
		x->step[i].to_s = g->from_s + c.at[i + 1] * g->width_s;
	}
	cycle_free(&c);
	return rc;
}

/* ---- what was different ---- */

/* The mean of a measure over a time; NAN: not known. */
static double mean_of(const struct grid *g, uint32_t measure, double from_s, double to_s)
{
	double from = fmax(0, (from_s - g->from_s) / g->width_s);
	double to = fmin(g->n, (to_s - g->from_s) / g->width_s), sum = 0, weight = 0;

	for (uint32_t i = (uint32_t)from; from < to && i < g->n; i++) {
		double part = fmin(i + 1, to) - from, v = g->value[measure][i];

		if (isfinite(v)) {
			sum += v * part;
			weight += part;
		}
		from = i + 1;
	}
	return weight > 0 ? sum / weight : NAN;
}

struct usual {
	double mean, sd;
};

static struct usual usual_of(const struct steps *x, const struct grid *g, uint32_t measure)
{
	double n = 0, sum = 0, squares = 0, mean;

	for (uint32_t i = 0; i < x->n; i++) {
		double v = x->step[i].kind == STEP_PLAIN
				   ? mean_of(g, measure, x->step[i].from_s, x->step[i].to_s)
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

static void find_differences(struct steps *x, const struct grid *g)
{
	const double far_least = 3, share = 0.05;
	struct usual usual[STEP_MEASURES];

	for (uint32_t k = 0; k < STEP_MEASURES; k++)
		usual[k] = usual_of(x, g, k);
	for (uint32_t i = 0; i < x->n; i++) {
		struct step *p = &x->step[i];
		double far[STEP_DIFFERENCES] = { 0 };

		for (uint32_t k = 0; k < STEP_MEASURES && p->kind != STEP_PLAIN; k++) {
			double v = mean_of(g, k, p->from_s, p->to_s), u = usual[k].mean;
			double by = fabs(v - u) / fmax(fmax(usual[k].sd, share * fabs(u)),
						       least_of(step_measures[k].unit));

			if (by > far_least)
				differ(p, far, &(struct step_difference){ k, v, u }, by);
		}
	}
}

/* ---- kinds of steps ---- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double length_of(const struct step *p)
{
	return p->to_s - p->from_s;
}

/* The lengths of the usual ones, from low to high: without those far from the middle. */
static uint32_t usual_lengths(const struct steps *x, double *length, uint32_t *first)
{
	const double far = 3.5, normal = 1.4826;
	uint32_t from = 0, to = x->n;

	for (uint32_t i = 0; i < x->n; i++)
		length[i] = length_of(&x->step[i]);
	qsort(length, x->n, sizeof *length, by_value);
	for (int pass = 0; pass < 4; pass++) {
		double middle = length[(from + to) / 2];
		double sd = normal * (middle - length[from + (to - from) / 4]);

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

		x->step[i].kind = s < low ? STEP_SHORT : s > high ? STEP_SLOW : STEP_PLAIN;
	}
	while (first < x->n && x->step[first].kind != STEP_PLAIN)
		first++;
	for (uint32_t i = 0; i < first && first <= x->n / 4; i++)
		x->step[i].kind = STEP_WARM_UP;
}

/* Those that are longer again and again after about as many steps. NAN: they are not. */
static double find_every(const struct steps *x, double *gap)
{
	uint32_t n = 0, last = UINT32_MAX, near = 0;
	double middle;

	for (uint32_t i = 0; i < x->n; i++) {
		if (x->step[i].kind != STEP_SLOW)
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

/* Slow ones that write much more than others are checkpoints, if there are two. */
static void find_checkpoints(struct steps *x, const struct grid *g, double *room)
{
	const double more = 3;
	double usual = g->n ? usual_of(x, g, STEP_WRITTEN).mean : NAN, all = 0;
	uint32_t writers = 0, n = 0;

	x->every = find_every(x, room);
	for (uint32_t i = 0; i < x->n; i++) {
		const struct step *p = &x->step[i];

		room[i] = p->kind == STEP_SLOW && g->n
				  ? mean_of(g, STEP_WRITTEN, p->from_s, p->to_s)
				  : (double)NAN;
		writers += room[i] > more * usual + (1 << 20);
	}
	for (uint32_t i = 0; i < x->n; i++) {
		struct step *p = &x->step[i];

		if (p->kind != STEP_SLOW ||
		    !(x->every > 0 || (writers > 1 && room[i] > more * usual + (1 << 20))))
			continue;
		p->kind = STEP_CHECKPOINT;
		all += length_of(p) - x->mean_s;
		n++;
	}
	x->checkpoint_s = n ? all / n : NAN;
}

static int measure_steps(struct steps *x, const struct grid *g)
{
	double *length = malloc((x->n + 1u) * sizeof *length), sum = 0, squares = 0;
	uint32_t first, n;

	if (!length)
		return -ENOMEM;
	n = usual_lengths(x, length, &first);
	for (uint32_t i = first; i < first + n; i++)
		sum += length[i];
	x->mean_s = sum / n;
	for (uint32_t i = first; i < first + n; i++)
		squares += (length[i] - x->mean_s) * (length[i] - x->mean_s);
	x->median_s = (length[first + (n - 1) / 2] + length[first + n / 2]) / 2;
	x->low_s = length[first + n / 20];
	x->high_s = length[first + n - 1 - n / 20];
	if (n > 1) {
		double sd = sqrt(squares / (n - 1));

		x->spread_ratio = sd / x->mean_s;
		x->error_s = student_quantile(0.025, n - 1) * sd / sqrt(n);
	}
	sort_out(x, length[first], length[first + n - 1]);
	find_checkpoints(x, g, length);
	for (uint32_t i = 0; i < x->n; i++)
		x->count[x->step[i].kind]++;
	free(length);
	return 0;
}

/* ---- all of it ---- */

int steps_make(struct steps *x, const struct summary *s, struct run *r, struct err *e)
{
	struct grid g = { 0 };
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
	rc = steps_of_names(x, s, r) ? no_memory(r, e) : 0;
	if (!rc && !x->n)
		x->node = choose_node(r);
	if (!rc && x->node && r->nodes[x->node].rows) {
		rc = grid_make(&g, r, x->node) ? no_memory(r, e) : 0;
		if (!rc && g.n)
			rc = read_grid(&g, r, x->node, e);
		x->interval_s = g.n ? g.width_s : (double)NAN;
		if (!rc && g.n && !x->n && find_in_samples(x, &g))
			rc = no_memory(r, e);
	}
	if (!rc && x->n) {
		rc = measure_steps(x, &g) ? no_memory(r, e) : 0;
		x->before_s = fmax(0, x->step[0].from_s);
		if (g.n)
			find_differences(x, &g);
	}
	grid_free(&g);
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
	s->steps_found = s->step_s = s->step_spread = s->steps_slow = NAN;
	if (rc || !x->n)
		return rc;
	s->steps_found = x->n;
	s->step_s = x->mean_s;
	s->step_spread = x->spread_ratio;
	s->steps_slow = x->count[STEP_SLOW];
	return 0;
}
