/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "base/clock.h"
#include "base/pool.h"
#include "core/frame/derive.h"
#include "core/glob.h"
#include "core/metric.h"
#include "report/summary/parts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Statistics of metrics in one pass over the recording.
 *
 * What is only measured comes from the ranges of chunks; rates, sums over devices and formulas need
 * rows, but for differences from what is always the same, as of swap in use. Both count alike: a
 * gauge stands until the node's next row, also across chunks.
 */

/* Work is more than this over half a second: shorter, a process that ends would be work. */
static const double work_cores = 0.05, window_s = 0.5;

/* The CPU time of one node's job in the open window. */
struct work {
	double from_s, to_s, cpu_s;
	double cores;      /* of the machine; infinite: not known */
	double peak_cores; /* of the windows before; NAN: none */
	bool any;
};

struct node_pass {
	struct work work;
	uint32_t cores;  /* the cell of summary_cores_metric; 0: none */
	int64_t last_ns; /* time of its last row */
	bool any;        /* it had one */
};

/* What a cell has in the rows of the slice, and how long each value stood: a rate is of the time
 * before it; what was read stands until the next row. */
struct shown {
	uint32_t cell;
	bool interval;
	struct derived v;
	const double *seconds;
};

struct pass {
	struct run *run;
	struct derive derive;
	uint32_t from, to;   /* nodes that are worked on now: from .. to - 1 */
	bool derives;        /* there is a metric to be derived */
	bool rows_only;      /* ranges tell nothing */
	uint8_t *none;       /* [run.nseries] wanted when there is not */
	struct stats *stats; /* [derive.plan.ncells] */
	double *standing; /* [derive.plan.ncells] a gauge's value in its node's last row; NAN: none
			   */
	struct shown *timed;    /* [derive.plan.ncells] those of the slice that tell the time */
	struct node_pass *node; /* [run.nnodes] */
	struct timeline *timeline;
	struct timeline_track *track; /* [derive.plan.ncells] */
	struct series_index *index;
	double first_work_s, last_work_s;
	const char *globs, *told;
	const char **name;       /* [run.nmetrics] of each quantity, as it was kept */
	struct pool *names;      /* where they are */
	summary_metric_fn *give; /* takes each when its nodes have been read */
	void *ctx;
};

/* ---- work ---- */

/* A rest that is shorter than a window tells no peak, unless it is all there is. */
static void close_window(struct pass *p, struct work *w)
{
	double span = w->to_s - w->from_s, cores;

	if (!(span > 0))
		return;
	if (w->cpu_s > work_cores * (span > window_s ? span : window_s)) {
		if (!(p->first_work_s <= w->from_s))
			p->first_work_s = w->from_s;
		if (!(p->last_work_s >= w->to_s))
			p->last_work_s = w->to_s;
	}
	cores = w->cpu_s / span < w->cores ? w->cpu_s / span : w->cores;
	if (isnan(w->peak_cores) || (span >= window_s && cores > w->peak_cores))
		w->peak_cores = cores;
	w->from_s = w->to_s;
	w->cpu_s = 0;
}

/* CPU time may become known late, or a reading be made long after its time: no window has more than
 * the cores can do. One that seems to goes on until it has not, since the excess belongs to its
 * neighbours. */
static bool is_full_window(const struct work *w)
{
	double span = w->to_s - w->from_s;

	return span >= window_s && w->cpu_s <= w->cores * span;
}

static void add_work(struct pass *p, struct work *w, const struct reading *v, double at_s)
{
	if (!w->any)
		*w = (struct work){ .from_s = at_s - v->seconds,
				    .cores = w->cores,
				    .peak_cores = NAN,
				    .any = true };
	w->to_s = at_s;
	w->cpu_s += v->value * v->seconds;
	if (is_full_window(w))
		close_window(p, w);
}

/* ---- statistics ---- */

static double seconds_between(int64_t from_ns, int64_t to_ns)
{
	return (double)(to_ns - from_ns) / (double)NS_PER_S;
}

/* What stood in the node's last row stood until this chunk's first. */
static void settle(struct pass *p, const struct chunk *c)
{
	const struct plan *plan = &p->derive.plan;
	const struct holder *last = &plan->holder[plan->node_holder[c->node]];
	double seconds = seconds_between(p->node[c->node].last_ns, c->mono_ns[0]);

	for (uint32_t i = plan->node_cell[c->node]; i < last->first + last->ncells; i++) {
		if (isnan(p->standing[i]))
			continue;
		stats_stand(&p->stats[i], p->standing[i], seconds);
		p->standing[i] = NAN;
	}
}

static void add_range(struct pass *p, const struct chunk *c, const struct range *g)
{
	const struct metric *m = &p->run->metrics[p->run->series[g->series].metric].row;
	uint32_t cell = p->derive.plan.series_cell[g->series];
	double scale = metric_value(m, 1);
	struct stats st = {
		.n = g->count,
		.min = metric_value(m, g->min),
		.max = metric_value(m, g->max),
		.first = metric_value(m, g->first),
		.last = metric_value(m, g->last),
		.weighted_sum = g->weighted_sum * scale,
		.weight = g->weight,
	};

	if (!g->count || !p->derive.plan.cell[cell].ranged)
		return;
	if (p->track[cell].row && g->weight > 0)
		timeline_put(p->timeline, &p->track[cell],
			     run_seconds(p->run, c->node, g->first_ns),
			     run_seconds(p->run, c->node, g->last_ns), st.weighted_sum / g->weight);
	/* Of use only when no time passed: of one value exact, of several at one instant a guess.
	 */
	st.sum = (double)g->count * (st.first + st.last) / 2;
	stats_join(&p->stats[cell], &st);
	if (g->last_ns == c->mono_ns[c->nrows - 1])
		p->standing[cell] = st.last;
}

static void add_values(struct pass *p, const struct shown *x, bool last)
{
	struct stats st = p->stats[x->cell]; /* which no store below can change */
	uint32_t n = p->derive.slice.nrows;

	for (uint32_t r = 0; r < n; r++)
		if (x->v.state[r] == STATE_PRESENT)
			stats_add(&st, x->v.value[r], x->seconds[r]);
	p->stats[x->cell] = st;
	if (last && !x->interval && x->v.state[n - 1] == STATE_PRESENT)
		p->standing[x->cell] = x->v.value[n - 1];
}

static void add_times(struct pass *p, const struct shown *x, double at_s, uint32_t row)
{
	const struct reading v = { x->cell, x->v.value[row], x->v.stands[row] };
	struct node_pass *node = &p->node[p->derive.chunk.node];
	double s = x->seconds[row];

	if (x->v.state[row] != STATE_PRESENT)
		return;
	if (p->track[x->cell].row)
		timeline_put(p->timeline, &p->track[x->cell], x->interval ? at_s - s : at_s,
			     x->interval ? at_s : at_s + s, v.value);
	if (x->cell == node->cores)
		add_work(p, &node->work, &v, at_s);
}

/* Column by column, but for what tells the time: several cells may add to one sum there, in the
 * order of their rows. */
static void add_slice(struct pass *p, const struct chunk *c)
{
	struct derive *d = &p->derive;
	const struct slice *s = &d->slice;
	bool last = s->first + s->nrows >= c->nrows;
	double stood[SLICE_ROWS];
	uint32_t ntimed = 0;

	for (uint32_t r = 0; r < s->nrows; r++) {
		const int64_t *at_ns = c->mono_ns + s->first + r;

		stood[r] = last && r + 1 == s->nrows ? 0 : seconds_between(at_ns[0], at_ns[1]);
	}
	for (uint32_t i = 1; i <= d->nshown; i++) {
		struct shown *x = &p->timed[ntimed];

		x->cell = d->cell[i];
		if (!derive_column(d, x->cell, &x->v))
			continue;
		x->interval = derive_quantity(d, x->cell)->interval;
		x->seconds = x->interval ? x->v.stands : stood;
		add_values(p, x, last);
		ntimed += p->track[x->cell].row || x->cell == p->node[c->node].cores;
	}
	for (uint32_t r = 0; r < s->nrows && ntimed; r++) {
		double at_s = derive_row_seconds(d, r);

		for (uint32_t i = 0; i < ntimed; i++)
			add_times(p, &p->timed[i], at_s, r);
	}
}

static int add_chunk(struct pass *p, const struct chunk *c, const struct range *range, uint32_t n,
		     struct err *e)
{
	int rc;

	if (!p->derives)
		return 0;
	rc = derive_chunk(&p->derive, c, e);
	if (rc)
		return rc;
	if (p->node[c->node].any)
		settle(p, c);
	for (uint32_t i = 0; i < n; i++)
		add_range(p, c, &range[i]);
	while (derive_slice(&p->derive))
		add_slice(p, c);
	p->node[c->node].last_ns = c->mono_ns[c->nrows - 1];
	p->node[c->node].any = true;
	return 0;
}

static int read_all(struct pass *p, struct err *e)
{
	const uint8_t *wanted = p->derives ? p->derive.plan.wanted : p->none;
	struct run *r = p->run;
	const struct range *range;
	struct chunk c;
	uint32_t n;
	int rc = p->to < r->nnodes || p->from > 1 ? r->rewind_nodes(r, p->from, p->to)
						  : r->rewind(r);

	if (rc)
		return err_set(e, rc, "cannot read %.300s again from its start", r->path);
	if (r->read_ahead)
		r->read_ahead(r, wanted);
	while ((rc = r->next_ranges(r, &range, &n, e)) > 0) {
		rc = r->values(r, wanted, &c, e);
		if (rc > 0) {
			if (p->index)
				series_index_add(p->index, range, n);
			rc = add_chunk(p, &c, range, n, e);
		}
		if (rc < 0)
			return rc;
	}
	return rc;
}

/* ---- before and after ---- */

static double cores_of(const struct run *r, uint32_t node)
{
	const struct run_meta *m = run_find_meta(r, node, "node.cores_present");

	return m && m->type == META_INT ? (double)m->value : NAN;
}

static void find_cores(struct pass *p)
{
	const struct plan *plan = &p->derive.plan;

	for (uint32_t i = p->from; i < p->to; i++) {
		double present = cores_of(p->run, i);

		p->node[i].work.cores = present > 0 ? present : INFINITY;
	}
	for (uint32_t c = 1; c < plan->ncells; c++) {
		const struct holder *h = &plan->holder[plan->cell[c].holder];

		if (!h->instance &&
		    !strcmp(derive_quantity(&p->derive, c)->name, summary_cores_metric))
			p->node[h->node].cores = c;
	}
}

/* Only the node's cell of what instances combine into, else each of theirs. */
static int find_told(struct pass *p, const char *told)
{
	const struct plan *plan = &p->derive.plan;
	bool rows = summary_is_short(p->run);
	int8_t *is_told = calloc(p->run->nmetrics + 1, 1); /* of a quantity; 0: not asked yet */

	for (uint32_t c = 1; is_told && c < plan->ncells; c++) {
		const struct quantity *q = derive_quantity(&p->derive, c);
		bool sum = q->metric->over_nodes == COMBINE_SUM;
		int8_t *its = &is_told[plan->cell[c].quantity];

		if (!*its)
			*its = glob_match(told, q->name) ? 1 : -1;
		if (!plan->cell[c].emitted || *its < 0)
			continue;
		p->track[c].row = timeline_add(p->timeline, q->name, sum);
		p->derive.plan.cell[c].kept = rows && p->track[c].row;
	}
	free(is_told);
	return is_told ? 0 : -ENOMEM;
}

static int pass_init(struct pass *p)
{
	p->derives = *p->globs;
	p->node = calloc(p->run->nnodes + 1, sizeof *p->node);
	p->none = calloc(p->run->nseries + 1, 1);
	p->name = calloc(p->run->nmetrics + 1, sizeof *p->name);
	return p->node && p->none && p->name ? 0 : -ENOMEM;
}

static int nodes_open(struct pass *p, struct err *e)
{
	const struct selection sel = { .table = FRAME_SERIES,
				       .combine = true,
				       .metrics = p->globs,
				       .from_node = p->from,
				       .to_node = p->to };
	uint32_t n;
	int rc = derive_open(&p->derive, p->run, &sel, e);

	if (rc)
		return rc;
	n = p->derive.plan.ncells;
	p->track = calloc(n + 1, sizeof *p->track);
	p->timed = calloc(n + 1, sizeof *p->timed);
	p->stats = calloc(n + 1, sizeof *p->stats);
	p->standing = malloc((n + 1) * sizeof *p->standing);
	if (!p->track || !p->timed || !p->stats || !p->standing)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		p->standing[i] = NAN;
	if (p->told && find_told(p, p->told))
		return -ENOMEM;
	if (!p->rows_only)
		plan_leave_to_ranges(&p->derive.plan);
	find_cores(p);
	return 0;
}

static void nodes_close(struct pass *p)
{
	free(p->stats);
	free(p->standing);
	free(p->track);
	free(p->timed);
	p->timed = NULL;
	p->stats = NULL;
	p->standing = NULL;
	p->track = NULL;
	derive_close(&p->derive);
}

static void pass_free(struct pass *p)
{
	free(p->node);
	free(p->none);
	free(p->name);
}

/* metric, which all nodes share, or metric[device]. */
static const char *cell_name(struct pass *p, const struct holder *h, uint32_t cell)
{
	const struct quantity *q = derive_quantity(&p->derive, cell);
	const char *device = h->instance ? p->run->instances[h->instance].name : NULL;
	const char **shared = &p->name[q - p->derive.plan.quantity];
	size_t n = strlen(q->name), m = device ? strlen(device) : 0;
	char *name;

	if (!device && !*shared)
		*shared = pool_text(p->names, q->name, n);
	if (!device)
		return *shared;
	name = pool_take(p->names, n + m + sizeof "[]");
	if (name)
		snprintf(name, n + m + sizeof "[]", "%s[%s]", q->name, device);
	return name;
}

/* Puts together what ranges tell of differences. Of a metric where that is not all nothing is kept;
 * its name goes to untold. */
static int find_differences(struct pass *p, struct bytes *untold)
{
	const struct plan *plan = &p->derive.plan;
	bool *is_untold = calloc(p->run->nmetrics + 1, sizeof *is_untold); /* of a quantity */

	for (uint32_t c = 1; is_untold && c < plan->ncells; c++) {
		const struct cell *x = &plan->cell[c];
		const uint32_t *source = x->difference ? plan->source + x->first_source : NULL;

		if (!source ||
		    stats_subtract(&p->stats[c], &p->stats[source[0]], &p->stats[source[1]]))
			continue;
		if (!is_untold[x->quantity])
			bytes_printf(untold, "%s%s", untold->len ? "," : "",
				     derive_quantity(&p->derive, c)->name);
		is_untold[x->quantity] = true;
	}
	for (uint32_t c = 1; is_untold && c < plan->ncells; c++)
		if (plan->cell[c].difference && is_untold[plan->cell[c].quantity])
			p->stats[c].n = 0;
	bytes_u8(untold, 0);
	free(is_untold);
	return is_untold && !untold->failed ? 0 : -ENOMEM;
}

static int give_metrics(struct pass *p)
{
	const struct plan *plan = &p->derive.plan;
	int rc = 0;

	for (uint32_t c = 1; c < plan->ncells && !rc; c++) {
		const struct holder *h = &plan->holder[plan->cell[c].holder];
		const struct quantity *q = derive_quantity(&p->derive, c);
		struct summary_metric m = { .node = h->node,
					    .unit = q->unit,
					    .over_nodes = q->metric->over_nodes,
					    .stats = p->stats[c] };

		if (!p->stats[c].n || !plan->cell[c].emitted)
			continue;
		m.name = cell_name(p, h, c);
		rc = m.name ? p->give(p->ctx, &m) : -ENOMEM;
	}
	return rc;
}

/* What is kept of each cell while its node is read is as much as that of all that it becomes. */
enum { NODES_AT_A_TIME = 512 };

static int read_nodes(struct pass *p, struct err *e);

/* These metrics, from rows. */
static int read_untold(const struct pass *p, const char *names, struct err *e)
{
	struct pass again = *p;
	int rc;

	again.globs = names;
	again.told = NULL;
	again.index = NULL;
	again.rows_only = true;
	again.node = calloc(p->run->nnodes + 1, sizeof *again.node);
	rc = again.node ? read_nodes(&again, e) : -ENOMEM;
	free(again.node);
	return rc;
}

static int read_nodes(struct pass *p, struct err *e)
{
	struct bytes untold = { 0 };
	int rc = p->derives ? nodes_open(p, e) : 0;

	if (!rc && p->index)
		rc = series_index_begin(p->index, p->from, p->to);
	if (!rc)
		rc = read_all(p, e);
	if (!rc && p->index)
		rc = series_index_end(p->index);
	if (!rc && p->derives)
		rc = find_differences(p, &untold) ? -ENOMEM : give_metrics(p);
	for (uint32_t c = 1; !rc && p->derives && c < p->derive.plan.ncells; c++)
		timeline_end(&p->track[c]);
	nodes_close(p);
	if (!rc && untold.len > 1)
		rc = read_untold(p, (const char *)untold.data, e);
	bytes_free(&untold);
	return rc;
}

static int pass_make(struct pass *p, struct err *e)
{
	uint32_t nodes = p->run->nnodes;
	uint32_t step = p->derives && p->run->rewind_nodes ? NODES_AT_A_TIME : nodes;
	int rc = 0;

	p->from = 1;
	do {
		p->to = nodes > p->from + step ? p->from + step : nodes;
		rc = read_nodes(p, e);
		p->from = p->to;
	} while (!rc && p->to < nodes);
	return rc;
}

static int keep_metric(void *summary, const struct summary_metric *m)
{
	struct summary *s = summary;
	struct summary_metric *moved =
		array_room(s->metrics, s->nmetrics, &s->metrics_cap, sizeof *moved);

	if (!moved)
		return -ENOMEM;
	s->metrics = moved;
	s->metrics[s->nmetrics++] = *m;
	return 0;
}

static void fill_work(struct summary *s, struct pass *p)
{
	const struct run *r = p->run;
	double start = NAN, end = NAN;

	s->cores_used_peak = s->host_cores_used_peak = s->idle_head_s = s->idle_tail_s = NAN;
	for (uint32_t i = 1; i < r->nnodes; i++) {
		struct work *w = &p->node[i].work;

		if (!w->any)
			continue;
		close_window(p, w);
		s->cores_used_peak = fmax(s->cores_used_peak, 0) + fmax(w->peak_cores, 0);
		s->host_cores_used_peak = fmax(s->host_cores_used_peak, w->peak_cores);
		start = fmin(start, run_seconds(r, i, r->nodes[i].first_ns));
		end = fmax(end, run_seconds(r, i, summary_end_ns(r, i)));
	}
	if (isnan(end))
		return;
	s->idle_head_s = (isnan(p->first_work_s) ? end : p->first_work_s) - start;
	s->idle_tail_s = isnan(p->last_work_s) ? 0 : fmax(0, end - p->last_work_s);
}

int summary_metrics_make(struct summary *s, struct run *r, const char *names, const char *told,
			 struct series_index *x, struct err *e)
{
	struct pass p = { .run = r,
			  .index = x,
			  .timeline = &s->timeline,
			  .first_work_s = NAN,
			  .last_work_s = NAN,
			  .told = told,
			  .names = &s->names,
			  .give = keep_metric,
			  .ctx = s };
	struct bytes globs = { 0 };
	int rc;

	timeline_init(&s->timeline, r);
	summary_select(&globs, r, names);
	p.globs = (const char *)globs.data;
	rc = globs.failed ? -ENOMEM : pass_init(&p);
	if (!rc)
		rc = pass_make(&p, e);
	if (!rc) {
		fill_work(s, &p);
		series_index_chain(x);
		rc = series_index_growth(x, s);
	}
	if (rc == -ENOMEM)
		err_set(e, rc, "out of memory for the summary of %.300s", r->path);
	pass_free(&p);
	bytes_free(&globs);
	return rc;
}

int summary_metrics_each(struct run *r, summary_metric_fn *give, void *ctx, struct err *e)
{
	struct pool names = { 0 };
	struct pass p = { .run = r, .names = &names, .give = give, .ctx = ctx };
	struct bytes globs = { 0 };
	int rc;

	summary_select(&globs, r, NULL);
	p.globs = (const char *)globs.data;
	rc = globs.failed ? -ENOMEM : pass_init(&p);
	if (!rc && p.derives)
		rc = pass_make(&p, e);
	if (rc == -ENOMEM)
		err_set(e, rc, "out of memory for the metrics of %.300s", r->path);
	pass_free(&p);
	pool_free(&names);
	bytes_free(&globs);
	return rc;
}
