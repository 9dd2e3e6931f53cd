/* SPDX-License-Identifier: Apache-2.0 */
#include "report/steps/steps_grid.h"
#include "core/frame/derive.h"
#include "core/statistics/cycle.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MPI_CALLS "mpi.calls"
/* Exactly, of processes that were waited for: at its last sample. */
#define RESTS "job.waited_voluntary_switches"

const struct step_measure step_measures[STEP_MEASURES] = {
	[STEP_CPU] = { "job.cpu_cores", "CPU", UNIT_CORES },
	[STEP_READ] = { "job.read_bytes_per_second", "read", UNIT_BYTES_PER_SECOND },
	[STEP_WRITTEN] = { "job.written_bytes_per_second", "written", UNIT_BYTES_PER_SECOND },
	[STEP_RESIDENT] = { "job.resident_bytes", "resident memory", UNIT_BYTES },
	[STEP_GPU] = { "gpu.utilization_ratio", "GPU use", UNIT_RATIO },
	[STEP_CALLS] = { MPI_CALLS "_per_second", "calls of MPI", UNIT_PER_SECOND },
	[STEP_READY] = { "job.run_queue_cores", "waiting for a core", UNIT_CORES },
	[STEP_OTHERS] = { "node.cpu_used_cores", "CPU of others", UNIT_CORES },
	[STEP_STORAGE_READ] = { "job.storage_read_bytes_per_second", "read from storage",
				UNIT_BYTES_PER_SECOND },
	[STEP_STORAGE_WRITTEN] = { "job.storage_written_bytes_per_second", "written to storage",
				   UNIT_BYTES_PER_SECOND },
	[STEP_FAULTS] = { "job.major_faults_per_second", "major page faults", UNIT_PER_SECOND },
	[STEP_WRITE_CALLS] = { "job.write_calls_per_second", "calls that write", UNIT_PER_SECOND },
	[STEP_READ_CALLS] = { "job.read_calls_per_second", "calls that read", UNIT_PER_SECOND },
};

/* Intervals of a grid. */
enum { GRID_MOST = 1 << 17 };

static int no_memory(const struct run *r, struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for the steps of %.300s", r->path);
}

void step_grid_free(struct step_grid *g)
{
	for (int i = 0; i < STEP_MEASURES; i++)
		free(g->value[i]);
	free(g->weight);
	free(g->read);
	*g = (struct step_grid){ 0 };
}

static int grid_room(struct step_grid *g)
{
	g->weight = calloc((size_t)STEP_MEASURES * g->n, sizeof *g->weight);
	g->read = calloc((size_t)STEP_MEASURES * g->n, sizeof *g->read);
	for (int i = 0; i < STEP_MEASURES; i++) {
		g->value[i] = calloc(g->n, sizeof *g->value[i]);
		if (!g->value[i] || !g->weight || !g->read)
			return -ENOMEM;
	}
	return 0;
}

static int grid_make(struct step_grid *g, const struct run *r, uint32_t node)
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
	return grid_room(g);
}

static uint32_t interval_of(const struct step_grid *g, double at_s)
{
	double i = (at_s - g->from_s) / g->width_s;

	return i <= 0 ? 0 : i < g->n ? (uint32_t)i : g->n - 1;
}

static void count_reading(struct step_grid *g, uint32_t measure, double at_s)
{
	g->read[(size_t)measure * g->n + interval_of(g, at_s)]++;
}

/* A value that stood from .. to. */
static void grid_put(struct step_grid *g, uint32_t measure, double from_s, double to_s, double v)
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

static void grid_divide(struct step_grid *g)
{
	const double least = 0.25;

	for (uint32_t k = 0; k < STEP_MEASURES; k++)
		for (uint32_t i = 0; i < g->n; i++) {
			double w = g->weight[(size_t)k * g->n + i];

			g->value[k][i] = w >= least ? g->value[k][i] / w : (double)NAN;
		}
}

static void grid_end(struct step_grid *g)
{
	grid_divide(g);
	for (uint32_t i = 0; i < g->n; i++) /* of the node less the job's */
		g->value[STEP_OTHERS][i] =
			fmax(0, g->value[STEP_OTHERS][i] - g->value[STEP_CPU][i]);
}

/* Distances of samples: so many of them to twice the distance, the middle is an interval. */
enum { GAPS = 128, GAPS_MIDDLE = 64, GAPS_TO_TWICE = 8 };

struct reader {
	struct derive derive;
	struct step_grid *grid;
	uint32_t *measure; /* [ncells] + 1; 0: none; STEP_MEASURES + 1: RESTS */
	double last_s[STEP_MEASURES];
	double row_s, gap_s[GAPS]; /* time of the last sample; seconds between those this far apart
				    */
	uint32_t node;
};

static void count_gap(struct reader *x, double at_s)
{
	double gap_s = at_s - x->row_s, place;

	if (gap_s > 0) {
		place = GAPS_MIDDLE + ceil(GAPS_TO_TWICE * log2(gap_s / x->grid->width_s) - 1e-9);
		x->gap_s[(int)fmax(0, fmin(GAPS - 1, place))] += gap_s;
	}
	x->row_s = at_s;
}

static double find_spacing(const struct reader *x)
{
	const double most = 0.75;
	double all = 0, sum = 0;
	int i = -1;

	for (int k = 0; k < GAPS; k++)
		all += x->gap_s[k];
	while (i + 1 < GAPS && sum < most * all)
		sum += x->gap_s[++i];
	return i < 0 ? x->grid->width_s
		     : x->grid->width_s * exp2((double)(i - GAPS_MIDDLE) / GAPS_TO_TWICE);
}

static void find_cells(struct reader *x)
{
	const struct plan *p = &x->derive.plan;

	for (uint32_t c = 1; c < p->ncells; c++) {
		const struct holder *h = &p->holder[p->cell[c].holder];

		for (uint32_t k = 0; k < STEP_MEASURES && !h->instance && h->node == x->node; k++)
			if (!strcmp(derive_quantity(&x->derive, c)->name, step_measures[k].metric))
				x->measure[c] = k + 1;
		if (!h->instance && h->node == x->node &&
		    !strcmp(derive_quantity(&x->derive, c)->name, RESTS))
			x->measure[c] = STEP_MEASURES + 1;
	}
}

static void take_instant(struct reader *x, const struct instant *in)
{
	count_gap(x, in->seconds);
	for (uint32_t i = 0; i < in->n; i++) {
		const struct reading v = instant_reading(in, i);
		uint32_t k = x->measure[v.cell];
		bool interval = derive_quantity(&x->derive, v.cell)->interval;

		if (k > STEP_MEASURES)
			x->grid->rests = v.value;
		if (!k-- || k == STEP_MEASURES)
			continue;
		if (interval)
			grid_put(x->grid, k, in->seconds - v.seconds, in->seconds, v.value);
		else if (isfinite(x->last_s[k]))
			grid_put(x->grid, k, x->last_s[k], in->seconds, v.value);
		count_reading(x->grid, k, in->seconds);
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

/* ---- calls of MPI ---- */

/* Series of calls that one rank of the node made: all ranks do alike. Returns how many there are.
 */
static uint32_t find_calls(const struct run *r, uint32_t node, uint8_t *wanted)
{
	uint32_t metric = run_find_metric(r, MPI_CALLS), rank = 0, n = 0;

	for (uint32_t i = 1; metric && i < r->nseries; i++) {
		const struct run_series *s = &r->series[i];

		if (s->metric != metric || s->node != node || !s->instance)
			continue;
		rank = rank ? rank : r->instances[s->instance].parent;
		wanted[i] = r->instances[s->instance].parent == rank;
		n += wanted[i];
	}
	return n;
}

/* A call that was not there yet had been made no time. */
static void put_calls(struct step_grid *g, const struct run *r, const struct chunk *c,
		      int64_t *last, double *last_s)
{
	for (uint32_t i = 0; i < c->nrows; i++) {
		double at_s = run_seconds(r, c->node, c->mono_ns[i]), made = 0;
		bool any = false;

		for (uint32_t k = 0; k < c->ncolumns; k++) {
			const struct chunk_column *x = &c->column[k];

			if (!x->present[i])
				continue;
			made += fmax(0, (double)x->value[i] - (double)last[x->series]);
			last[x->series] = x->value[i];
			any = true;
		}
		if (any && at_s > *last_s) {
			grid_put(g, STEP_CALLS, *last_s, at_s, made / (at_s - *last_s));
			count_reading(g, STEP_CALLS, at_s);
		}
		*last_s = at_s;
	}
}

static int read_calls(struct step_grid *g, struct run *r, uint32_t node, struct err *e)
{
	uint8_t *wanted = calloc(r->nseries + 1u, 1);
	int64_t *last = calloc(r->nseries + 1u, sizeof *last);
	double last_s = g->from_s;
	struct chunk c;
	int rc = wanted && last ? 0 : no_memory(r, e);

	if (wanted && last && find_calls(r, node, wanted)) {
		rc = r->rewind_nodes ? r->rewind_nodes(r, node, node + 1) : r->rewind(r);
		if (rc)
			err_set(e, rc, "cannot read %.300s again from its start", r->path);
		while (!rc && (rc = r->next_chunk(r, wanted, &c, e)) > 0) {
			if (c.node == node)
				put_calls(g, r, &c, last, &last_s);
			rc = 0;
		}
	}
	free(wanted);
	free(last);
	return rc;
}

static int read_grid(struct step_grid *g, struct run *r, uint32_t node, struct err *e)
{
	struct reader x = { .grid = g, .row_s = NAN, .node = node };
	struct selection sel = { .from_node = node, .to_node = node + 1, .may_match_none = true };
	struct bytes globs = { 0 };
	int rc;

	for (int i = 0; i < STEP_MEASURES; i++) {
		if (i != STEP_CALLS) /* of many instances, of which one rank's are read */
			bytes_printf(&globs, "%s%s", i ? "," : "", step_measures[i].metric);
		x.last_s[i] = NAN;
	}
	bytes_puts(&globs, "," RESTS);
	bytes_u8(&globs, '\0');
	g->rests = NAN;
	sel.metrics = (const char *)globs.data;
	rc = globs.failed ? no_memory(r, e) : derive_open(&x.derive, r, &sel, e);
	if (!rc) {
		x.measure = calloc(x.derive.plan.ncells + 1u, sizeof *x.measure);
		rc = x.measure ? 0 : no_memory(r, e);
	}
	if (!rc) {
		find_cells(&x);
		rc = read_chunks(&x, r, e);
		g->spacing_s = find_spacing(&x);
		if (!rc)
			rc = read_calls(g, r, node, e);
		grid_end(g);
	}
	derive_close(&x.derive);
	free(x.measure);
	bytes_free(&globs);
	return rc;
}

int step_grid_make(struct step_grid *g, struct run *r, uint32_t node, struct err *e)
{
	int rc = grid_make(g, r, node) ? no_memory(r, e) : 0;

	return !rc && g->n ? read_grid(g, r, node, e) : rc;
}

int step_grid_coarsen(struct step_grid *g)
{
	const double clearly = 1.2;
	struct step_grid to = *g;

	if (!(g->spacing_s > clearly * g->width_s))
		return 0;
	to.width_s = g->spacing_s;
	to.n = (uint32_t)(g->n * g->width_s / to.width_s);
	if (grid_room(&to)) {
		step_grid_free(&to);
		return -ENOMEM;
	}
	for (uint32_t k = 0; k < STEP_MEASURES; k++)
		for (uint32_t i = 0; i < g->n && to.n; i++) {
			double from_s = g->from_s + i * g->width_s;
			size_t at = (size_t)k * g->n + i;

			to.read[(size_t)k * to.n + interval_of(&to, from_s + g->width_s / 2)] +=
				g->read[at];
			if (isfinite(g->value[k][i]))
				grid_put(&to, k, from_s, from_s + g->width_s, g->value[k][i]);
		}
	grid_divide(&to);
	step_grid_free(g);
	*g = to;
	return 1;
}

uint32_t step_grid_read(const struct step_grid *g, uint32_t measure, double from_s, double to_s)
{
	uint32_t first = interval_of(g, from_s), last = interval_of(g, to_s), n = 0;

	for (uint32_t i = first; i < last; i++)
		n += g->read[(size_t)measure * g->n + i];
	return n;
}

double step_grid_mean(const struct step_grid *g, uint32_t measure, double from_s, double to_s)
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

double step_grid_work(const struct step_grid *g, double *work)
{
	const double always = 0.9, one = 1.1, starved = 3, part = 0.1, least = 0.02;
	double to_s = g->from_s + g->n * g->width_s;
	double cpu = step_grid_mean(g, STEP_CPU, g->from_s, to_s);
	double ready = step_grid_mean(g, STEP_READY, g->from_s, to_s);
	double nothing = fmax(part * cpu, least);
	bool busy = cpu + ready > always && (cpu + ready < one || ready > starved * cpu);

	work[0] = 0;
	for (uint32_t i = 0; i < g->n; i++) {
		double got = g->value[STEP_CPU][i];

		if (!isfinite(got))
			got = busy ? cpu : 1;
		else if (!busy && got <= nothing)
			got = 1;
		work[i + 1] = work[i] + fmax(0, got);
	}
	return nothing;
}

double step_grid_time(const struct step_grid *g, const double *work, double done)
{
	uint32_t low = 0, high = g->n;

	while (high - low > 1) { /* work[low] <= done < work[high] */
		uint32_t middle = low + (high - low) / 2;

		*(work[middle] <= done ? &low : &high) = middle;
	}
	return g->from_s +
	       g->width_s *
		       (low + fmax(0, fmin(1, (done - work[low]) /
						      fmax(work[low + 1] - work[low], 1e-12))));
}

int step_grid_by_work(struct step_grid *to, const struct step_grid *g, const double *work)
{
	double width = work[g->n] / g->n, from_s = step_grid_time(g, work, 0);

	*to = (struct step_grid){
		.n = width > 0 ? g->n : 0, .width_s = width, .rests = g->rests, .spacing_s = width
	};
	if (!to->n)
		return 0;
	if (grid_room(to)) {
		step_grid_free(to);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < to->n; i++) {
		double to_s = step_grid_time(g, work, (i + 1) * width);

		for (uint32_t k = 0; k < STEP_SIGNALS; k++) {
			bool level = step_measures[k].unit == UNIT_BYTES ||
				     step_measures[k].unit == UNIT_RATIO;
			double by = level ? 1 : (to_s - from_s) / (g->width_s * width);

			to->value[k][i] = step_grid_mean(g, k, from_s, to_s) * by;
			to->read[(size_t)k * to->n + i] = step_grid_read(g, k, from_s, to_s);
		}
		from_s = to_s;
	}
	return 0;
}
