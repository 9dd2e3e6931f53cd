/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.c - what the perf events say of the whole run.
 *
 * The formulas that the recording carries, over what was counted from the first to the last: a mean
 * of each interval's ratio would be none of the run's. Nodes are added up. A figure whose formula
 * nodes of different CPUs have differently is left out.
 */
#include "core/expr/expr.h"
#include "report/summary/parts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A recording may be hostile: no more counters and no more steps than all groups need. */
enum { RATE_NAME = 160, TOTALS_MAX = 1024, DEPTH_MAX = 8, STEPS_MAX = 4096 };

static const struct {
	const char *metric, *words, *symbol;
	bool brief;
} figures[] = {
	{ "perf.hardware.instructions_per_cycle", "instructions per cycle", NULL, true },
	{ "perf.hardware.frequency_hertz", "while running", NULL, true },
	{ "perf.hardware.cache_miss_ratio", "of cache references missed", NULL, true },
	{ "perf.hardware.branch_miss_ratio", "of branches mispredicted", NULL, false },
	{ "perf.l2cache.miss_ratio", "L2 misses", NULL, true },
	{ "perf.l2cache.demand_miss_ratio", "L2 misses without prefetches", NULL, false },
	{ "perf.l2cache.load_miss_ratio", "L2 load misses", NULL, true },
	{ "perf.l3cache.miss_ratio", "L3 misses", NULL, true },
	{ "perf.l3cache.load_miss_ratio", "L3 load misses", NULL, false },
	{ "perf.l3cache.read_miss_ratio", "L3 read misses", NULL, true },
	{ "perf.flops.flops_per_second", "of all precisions", "FLOP/s", true },
	{ "perf.flops_dp.flops_per_second", "double precision", "FLOP/s", true },
	{ "perf.flops_sp.flops_per_second", "single precision", "FLOP/s", true },
	{ "perf.flops_hp.flops_per_second", "half precision", "FLOP/s", true },
	{ "perf.vector.vector_ratio", "in vector instructions", NULL, true },
	{ "perf.flops_dp.vector_ratio", "of double precision in vector instructions", NULL, true },
	{ "perf.flops_sp.vector_ratio", "of single precision in vector instructions", NULL, true },
	{ "perf.l2.bandwidth_bytes_per_second", "L2 bandwidth", NULL, false },
	{ "perf.l3.bandwidth_bytes_per_second", "L3 bandwidth", NULL, false },
	{ "perf.l3.l2_boundary_bytes_per_second", "behind the L2 cache", NULL, false },
	{ "perf.memory.read_bytes_per_second", "read from memory", NULL, true },
	{ "perf.memory.write_bytes_per_second", "written to memory", NULL, true },
	{ "perf.memory.flops_per_byte", "operations per byte read", NULL, true },
	{ "perf.memory_node.bandwidth_bytes_per_second", "of memory bandwidth of the node", NULL,
	  true },
	{ "perf.topdown.retiring_ratio", "of slots retiring", NULL, false },
	{ "perf.topdown.frontend_ratio", "frontend bound", NULL, false },
	{ "perf.topdown.backend_ratio", "backend bound", NULL, false },
	{ "perf.topdown.bad_speculation_ratio", "bad speculation", NULL, false },
};
_Static_assert(sizeof figures / sizeof figures[0] == SUMMARY_COUNTERS, "room for every figure");

/* A counter of perf events with all that was counted. */
struct total {
	char rate[RATE_NAME]; /* its name in formulas */
	double v;
};

struct totals {
	const struct run *run;
	struct total *row;
	uint32_t n;
	double seconds; /* from the first to the last sample of who counted */
	unsigned depth, steps;
};

static bool is_perf(const struct metric *m)
{
	return strncmp(m->name, "perf.", 5) == 0;
}

void summary_counters_ask(struct series_index *x)
{
	for (uint32_t i = 1; i < x->run->nmetrics; i++)
		if (is_perf(&x->run->metrics[i].row) && x->run->metrics[i].row.kind == KIND_COUNTER)
			x->asked[i] |= SERIES_LAST;
}

/* Steps of one host all counted the node's. */
static bool is_counted_again(const struct summary *s, const struct run *r, const struct metric *m,
			     uint32_t node)
{
	const struct run_meta *scope = run_find_meta(r, node, "perf.scope");
	bool of_node = strncmp(m->name, "perf.memory_node.", 17) == 0 ||
		       (scope && scope->text && strcmp(scope->text, "node") == 0);

	for (uint32_t i = 0; of_node && i < s->nnodes; i++)
		if (s->nodes[i].node == node)
			return s->nodes[i].again;
	return false;
}

static struct total *total_of(struct totals *t, const char *rate)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (strcmp(t->row[i].rate, rate) == 0)
			return &t->row[i];
	return NULL;
}

/* Counts begin at 0 when the events are opened, so the last is the whole. */
static void add_series(struct totals *t, const struct metric *m, double last)
{
	char rate[RATE_NAME];
	struct total *at;

	metric_rate_name(m, rate, sizeof rate);
	at = total_of(t, rate);
	if (!at && t->n == TOTALS_MAX)
		return;
	if (!at) {
		at = &t->row[t->n++];
		memcpy(at->rate, rate, sizeof rate);
		at->v = 0;
	}
	at->v += last;
}

static int totals_make(struct totals *t, const struct summary *s, const struct run *r,
		       const struct series_index *x)
{
	double from = INFINITY, to = -INFINITY;

	*t = (struct totals){ .run = r, .row = calloc(TOTALS_MAX, sizeof *t->row) };
	if (!t->row)
		return -ENOMEM;
	for (uint32_t k = 1; k < x->nkept; k++) {
		const struct run_series *row = &r->series[x->kept[k].series];
		const struct metric *m = &r->metrics[row->metric].row;
		uint32_t node = row->node;
		double last;

		if (!is_perf(m) || m->kind != KIND_COUNTER)
			continue;
		last = series_index_value(x, k, SERIES_LAST);
		if (isnan(last) || is_counted_again(s, r, m, node))
			continue;
		add_series(t, m, last);
		from = fmin(from, run_seconds(r, node, r->nodes[node].first_ns));
		to = fmax(to, run_seconds(r, node, r->nodes[node].last_ns));
	}
	t->seconds = to - from;
	return 0;
}

static struct expr_value evaluate(struct totals *t, const char *metric);

/* A rate is what was counted per second of the run; another name is another formula's. */
static struct expr_value look_up(void *ctx, const char *function, const char *name)
{
	struct totals *t = ctx;
	const struct total *at = function ? NULL : total_of(t, name);

	if (at && t->seconds > 0)
		return (struct expr_value){ true, at->v / t->seconds };
	return function ? (struct expr_value){ .known = false } : evaluate(t, name);
}

/* The only formula of this name, or NULL. */
static const struct metric *formula_of(const struct run *r, const char *name)
{
	const struct metric *found = NULL;

	for (uint32_t i = 1; i < r->nmetrics; i++) {
		const struct metric *m = &r->metrics[i].row;

		if (!m->formula || strcmp(m->name, name) != 0)
			continue;
		if (found)
			return NULL;
		found = m;
	}
	return found;
}

static struct expr_value evaluate(struct totals *t, const char *metric)
{
	const struct metric *m = t->steps < STEPS_MAX ? formula_of(t->run, metric) : NULL;
	struct expr_value v = { .known = false };
	struct expr *x;

	if (!m || t->depth == DEPTH_MAX || expr_parse(&x, m->formula, NULL))
		return v;
	t->depth++;
	t->steps++;
	v = expr_eval(x, look_up, t);
	t->depth--;
	expr_free(x);
	return v;
}

/* Of the group of a metric: 1 when it was counted all the time. */
static double share_of(struct totals *t, const char *metric)
{
	char name[RATE_NAME];
	const char *end = strchr(metric + 5, '.');
	struct expr_value v;

	snprintf(name, sizeof name, "%.*s.share_ratio", (int)(end - metric), metric);
	v = evaluate(t, name);
	return v.known ? v.v : NAN;
}

static void put_figures(struct summary *s, struct totals *t)
{
	for (size_t i = 0; i < SUMMARY_COUNTERS; i++) {
		struct expr_value v = evaluate(t, figures[i].metric);

		if (v.known && isfinite(v.v))
			s->counters[s->ncounters++] = (struct summary_counter){
				.metric = figures[i].metric,
				.words = figures[i].words,
				.symbol = figures[i].symbol,
				.brief = figures[i].brief,
				.unit = formula_of(t->run, figures[i].metric)->unit,
				.value = v.v,
				.share = share_of(t, figures[i].metric),
			};
	}
}

/* Of the group that a refused "perf.l3.running_seconds" stands for. */
static void add_missing(struct summary *s, const char *metric, const char *reason)
{
	const char *group = metric + 5;
	size_t n = strlen(s->counters_missing), len = strcspn(group, ".");

	if (!s->counters_refused)
		s->counters_refused = reason;
	if (strcmp(s->counters_refused, reason) == 0 &&
	    n + strlen(", ") + len < sizeof s->counters_missing)
		snprintf(s->counters_missing + n, sizeof s->counters_missing - n, "%s%.*s",
			 n ? ", " : "", (int)len, group);
}

/* Where somebody asked for perf events: the whole source, or groups of it, with the first reason;
 * or events of a group of one's own, which come with it. */
static void find_refused(struct summary *s, const struct run *r, uint32_t node)
{
	const struct run_meta *source = run_find_meta(r, node, "source.perf");
	const struct run_meta *events = run_find_meta(r, node, "perf.not_counted");
	const char *colon = source && source->text ? strstr(source->text, ": ") : NULL;
	uint32_t from, to;

	if (colon) {
		s->counters_refused = colon + 2;
		return;
	}
	run_series_of(r, node, node + 1, &from, &to);
	for (uint32_t i = from; i < to; i++) {
		const struct run_series *x = &r->series[i];
		const char *name = x->metric < r->nmetrics ? r->metrics[x->metric].row.name : NULL;
		const char *reason = run_refusal_of(r, x).reason;

		if (x->node == node && x->state >= STATE_UNSUPPORTED && name && reason &&
		    strncmp(name, "perf.", 5) == 0 && strstr(name, ".running_seconds"))
			add_missing(s, name, reason);
	}
	if (!s->counters_refused && events && events->text && strstr(events->text, ": "))
		s->counters_refused = events->text;
}

int summary_counters_make(struct summary *s, const struct run *r, const struct series_index *x,
			  struct err *e)
{
	struct totals t;

	if (totals_make(&t, s, r, x))
		return err_set(e, -ENOMEM, "out of memory for the summary of %.300s", r->path);
	if (t.n)
		put_figures(s, &t);
	for (uint32_t i = 1; i < r->nnodes; i++) {
		const struct run_meta *m = run_find_meta(r, i, "perf.tasks_not_counted");

		if (run_find_meta(r, i, "perf.asked") && !s->counters_refused)
			find_refused(s, r, i);
		s->tasks_not_counted += m && m->type == META_INT ? (double)m->value : 0;
	}
	free(t.row);
	return 0;
}
