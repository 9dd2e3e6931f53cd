/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary_run.h - a run in memory, for tests of what reads runs.
 *
 * Every node has ROWS rows, one a second, and the nodes come one after the other, a chunk each.
 * Free it with free().
 */
#ifndef TESTS_SUMMARY_RUN_H
#define TESTS_SUMMARY_RUN_H

#include "base/clock.h"
#include "core/frame/run.h"

#include <errno.h>
#include <stdlib.h>

#ifndef SUMMARY_ROWS
#define SUMMARY_ROWS 21
#endif
enum { ROWS = SUMMARY_ROWS, MAX = 64 };

struct synthetic {
	struct run run;
	struct run_node node[4];
	struct run_metric metric[MAX];
	struct run_instance instance[MAX];
	struct run_series series[MAX];
	struct run_label label[MAX];
	struct run_final final[MAX];
	struct run_meta meta[MAX];
	struct run_damage damage[2];
	int64_t utc_ns[ROWS], mono_ns[ROWS];
	int64_t value[MAX][ROWS];
	uint8_t present[MAX][ROWS];
	struct chunk_column column[MAX];
	struct range range[MAX];
	uint32_t at; /* node of the last chunk */
	int fault;   /* what next_ranges gives instead */
};

static inline int synthetic_rewind(struct run *r)
{
	((struct synthetic *)r->reader)->at = 0;
	return 0;
}

static inline int synthetic_chunk(struct run *r, const uint8_t *wanted, struct chunk *c,
				  struct err *e)
{
	struct synthetic *x = r->reader;

	(void)e;
	if (++x->at >= r->nnodes)
		return 0;
	*c = (struct chunk){ x->at, ROWS, x->utc_ns, x->mono_ns, 0, x->column };
	for (uint32_t s = 1; s < r->nseries; s++)
		if (x->series[s].node == x->at && (!wanted || wanted[s]))
			x->column[c->ncolumns++] =
				(struct chunk_column){ s, x->value[s], x->present[s] };
	return 1;
}

/* The ranges of this chunk were given already. */
static inline int synthetic_values(struct run *r, const uint8_t *wanted, struct chunk *c,
				   struct err *e)
{
	((struct synthetic *)r->reader)->at--;
	return synthetic_chunk(r, wanted, c, e);
}

static inline struct range range_of(const struct synthetic *x, uint32_t s)
{
	struct range g = { .series = s };

	for (int row = 0; row < ROWS; row++) {
		int64_t v = x->value[s][row];

		if (!x->present[s][row])
			continue;
		g.min = g.count && g.min < v ? g.min : v;
		g.max = g.count && g.max > v ? g.max : v;
		g.first = g.count ? g.first : v;
		g.first_ns = g.count ? g.first_ns : x->mono_ns[row];
		g.last = v;
		g.last_ns = x->mono_ns[row];
		g.count++;
		if (row + 1 == ROWS)
			break;
		g.weighted_sum +=
			(double)v * (double)(x->mono_ns[row + 1] - x->mono_ns[row]) * 1e-9;
		g.weight += (double)(x->mono_ns[row + 1] - x->mono_ns[row]) * 1e-9;
	}
	return g;
}

static inline int synthetic_ranges(struct run *r, const struct range **ranges, uint32_t *n,
				   struct err *e)
{
	struct synthetic *x = r->reader;

	if (x->fault)
		return err_set(e, x->fault, "it cannot be read");
	if (++x->at >= r->nnodes)
		return 0;
	*n = 0;
	for (uint32_t s = 1; s < r->nseries; s++)
		if (x->series[s].node == x->at)
			x->range[(*n)++] = range_of(x, s);
	*ranges = x->range;
	return 1;
}

static inline struct synthetic *synthetic_new(uint32_t nodes)
{
	static const char *const hosts[] = { NULL, "n1", "n2", "n3" };
	struct synthetic *x = calloc(1, sizeof *x);

	if (!x)
		abort();
	x->run = (struct run){
		.nodes = x->node,
		.nnodes = nodes + 1,
		.metrics = x->metric,
		.nmetrics = 1,
		.instances = x->instance,
		.ninstances = 1,
		.series = x->series,
		.nseries = 1,
		.labels = x->label,
		.nlabels = 1,
		.finals = x->final,
		.nfinals = 1,
		.metas = x->meta,
		.nmetas = 1,
		.damages = x->damage,
		.path = "sonde_x",
		.t0_utc_ns = 1700000000 * NS_PER_S,
		.reader = x,
		.rewind = synthetic_rewind,
		.next_chunk = synthetic_chunk,
		.next_ranges = synthetic_ranges,
		.values = synthetic_values,
	};
	for (int row = 0; row < ROWS; row++) {
		x->mono_ns[row] = (100 + row) * NS_PER_S;
		x->utc_ns[row] = x->run.t0_utc_ns + row * NS_PER_S;
	}
	for (uint32_t i = 1; i <= nodes; i++)
		x->node[i] = (struct run_node){ .host = hosts[i],
						.utc0_ns = x->run.t0_utc_ns,
						.mono0_ns = 100 * NS_PER_S,
						.complete = true,
						.rows = ROWS,
						.first_ns = 100 * NS_PER_S,
						.last_ns = (100 + ROWS - 1) * NS_PER_S };
	return x;
}

static inline void meta_int(struct synthetic *x, uint32_t node, const char *key, int64_t value)
{
	x->meta[x->run.nmetas++] =
		(struct run_meta){ .node = node, .type = META_INT, .key = key, .value = value };
}

static inline void meta_text(struct synthetic *x, const char *key, const char *text)
{
	x->meta[x->run.nmetas++] =
		(struct run_meta){ .node = 1, .type = META_TEXT, .key = key, .text = text };
}

static inline uint32_t metric(struct synthetic *x, const char *name, const char *domain,
			      enum kind kind, enum unit unit)
{
	uint32_t id = run_find_metric(&x->run, name);

	if (id)
		return id;
	x->metric[x->run.nmetrics].row =
		(struct metric){ .name = name,
				 .domain = domain,
				 .label = "L",
				 .help = "H.",
				 .kind = kind,
				 .unit = unit,
				 .over_instances = domain ? COMBINE_SUM : COMBINE_NONE,
				 .over_nodes = COMBINE_SUM };
	return x->run.nmetrics++;
}

static inline uint32_t series(struct synthetic *x, uint32_t node, uint32_t id, uint32_t instance)
{
	x->series[x->run.nseries] = (struct run_series){
		.node = node, .metric = (uint16_t)id, .instance = instance, .state = STATE_PRESENT
	};
	return x->run.nseries++;
}

static inline void put(struct synthetic *x, uint32_t s, int row, int64_t value)
{
	x->value[s][row] = value;
	x->present[s][row] = 1;
}

/* A series of the node that has one value, at row 3. */
static inline void one(struct synthetic *x, uint32_t node, uint32_t id, int64_t value)
{
	put(x, series(x, node, id, 0), 3, value);
}

static inline uint32_t instance(struct synthetic *x, uint32_t node, const char *domain,
				const char *name, bool ended)
{
	uint32_t i = x->run.ninstances++;

	x->instance[i] = (struct run_instance){ .node = node,
						.domain = domain,
						.name = name,
						.birth_ns = 101 * NS_PER_S,
						.end_ns = ended ? 103 * NS_PER_S : INT64_MAX,
						.first_label = x->run.nlabels,
						.first_final = x->run.nfinals };
	return i;
}

static inline void final(struct synthetic *x, uint32_t i, const char *name, int64_t value)
{
	uint32_t id = metric(x, name, "process", KIND_COUNTER, UNIT_SECONDS);

	x->final[x->run.nfinals++] = (struct run_final){ id, value };
	x->instance[i].nfinals++;
}

/* A core is used from second 6 to second 15 of 20. */
static inline struct synthetic *with_work(uint32_t nodes)
{
	struct synthetic *x = synthetic_new(nodes);
	uint32_t id = metric(x, "job.cpu_seconds", NULL, KIND_COUNTER, UNIT_SECONDS);

	for (uint32_t node = 1; node <= nodes; node++) {
		uint32_t sid = series(x, node, id, 0);

		x->metric[id].row.div = 100;
		for (int row = 0; row < ROWS; row++)
			put(x, sid, row,
			    row < 6    ? 4 * row
			    : row < 15 ? 20 + 100 * (row - 5)
				       : 1000);
	}
	return x;
}

#endif
