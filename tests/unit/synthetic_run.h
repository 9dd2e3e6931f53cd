/* SPDX-License-Identifier: Apache-2.0 */
/*
 * synthetic_run.h - a run made by hand, without a recording: for the tests of what reads runs.
 *
 * Metrics, instances and series get their ids in the order they are added. Rows are given to the
 * reader in chunks of rows_per_chunk rows of one node.
 */
#ifndef SONDE_TESTS_SYNTHETIC_RUN_H
#define SONDE_TESTS_SYNTHETIC_RUN_H

#include "core/frame/run.h"

#include <stdlib.h>
#include <string.h>

enum { SYNTH_MAX = 192, SYNTH_ROWS = 20000 };
#define SYNTH_T0 INT64_C(1700000000000000000)

struct synth_row {
	uint32_t node;
	int64_t mono_ns, utc_step_ns; /* by how much the wall clock is off its beginning */
	int64_t value[SYNTH_MAX];
	uint8_t present[SYNTH_MAX];
};

struct synth {
	struct run run;
	struct run_node nodes[4];
	struct run_metric metrics[SYNTH_MAX];
	struct run_instance instances[SYNTH_MAX];
	struct run_series series[SYNTH_MAX];
	struct run_refusal refusal[2];
	struct run_label labels[SYNTH_MAX];
	struct run_final finals[SYNTH_MAX];
	struct run_mark marks[SYNTH_MAX];
	struct run_span spans[SYNTH_MAX];
	struct synth_row *row;
	uint32_t nrows, next, rows_per_chunk;
	struct chunk_column column[SYNTH_MAX];
	struct range range[SYNTH_MAX];
	int64_t *utc, *mono, *value[SYNTH_MAX];
	uint8_t *present[SYNTH_MAX];
};

/* The rows of the next chunk: their number, at s->next. */
static inline uint32_t synth_take(struct synth *s)
{
	uint32_t n = 0;

	while (n < s->rows_per_chunk && s->next + n < s->nrows &&
	       s->row[s->next + n].node == s->row[s->next].node)
		n++;
	return n;
}

static inline int synth_rewind(struct run *r)
{
	((struct synth *)r->reader)->next = 0;
	return 0;
}

static inline int synth_next_chunk(struct run *r, const uint8_t *wanted, struct chunk *c,
				   struct err *e)
{
	struct synth *s = r->reader;
	uint32_t n = synth_take(s), ncolumns = 0;

	(void)e;
	if (!n)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		s->mono[i] = s->row[s->next + i].mono_ns;
		s->utc[i] = SYNTH_T0 + s->mono[i] + s->row[s->next + i].utc_step_ns;
	}
	for (uint32_t x = 1; x < r->nseries; x++) {
		if (s->series[x].node != s->row[s->next].node || (wanted && !wanted[x]))
			continue;
		for (uint32_t i = 0; i < n; i++) {
			s->value[x][i] = s->row[s->next + i].value[x];
			s->present[x][i] = s->row[s->next + i].present[x];
		}
		s->column[ncolumns++] = (struct chunk_column){ x, s->value[x], s->present[x] };
	}
	*c = (struct chunk){ s->row[s->next].node, n, s->utc, s->mono, ncolumns, s->column };
	s->next += n;
	return 1;
}

static inline int synth_next_ranges(struct run *r, const struct range **ranges, uint32_t *nranges,
				    struct err *e)
{
	struct synth *s = r->reader;
	uint32_t n = synth_take(s);

	(void)e;
	if (!n)
		return 0;
	*nranges = 0;
	for (uint32_t x = 1; x < r->nseries; x++) {
		struct range g = { .series = x };

		for (uint32_t i = s->next; i < s->next + n; i++)
			if (s->row[i].present[x]) {
				g.count++;
				g.last = s->row[i].value[x];
				g.last_ns = s->row[i].mono_ns;
			}
		s->range[(*nranges)++] = g;
	}
	*ranges = s->range;
	s->next += n;
	return 1;
}

/* Nodes 1 "alpha" and 2 "beta", monotonic clocks that begin at the run's second 0. */
static inline struct synth *synth_new(uint32_t rows_per_chunk)
{
	struct synth *s = calloc(1, sizeof(*s));

	s->row = calloc(SYNTH_ROWS, sizeof(*s->row));
	s->utc = calloc(rows_per_chunk, sizeof(*s->utc));
	s->mono = calloc(rows_per_chunk, sizeof(*s->mono));
	for (int i = 0; i < SYNTH_MAX; i++) {
		s->value[i] = calloc(rows_per_chunk, sizeof(int64_t));
		s->present[i] = calloc(rows_per_chunk, 1);
	}
	s->rows_per_chunk = rows_per_chunk;
	s->nodes[1] = (struct run_node){ .host = "alpha", .file = "a", .utc0_ns = SYNTH_T0 };
	s->nodes[2] = (struct run_node){ .host = "beta", .file = "b", .utc0_ns = SYNTH_T0 };
	s->run = (struct run){
		.nodes = s->nodes,
		.nnodes = 3,
		.metrics = s->metrics,
		.nmetrics = 1,
		.instances = s->instances,
		.ninstances = 1,
		.series = s->series,
		.nseries = 1,
		.labels = s->labels,
		.nlabels = 1,
		.finals = s->finals,
		.nfinals = 1,
		.marks = s->marks,
		.nmarks = 1,
		.spans = s->spans,
		.nspans = 1,
		.path = "synthetic",
		.t0_utc_ns = SYNTH_T0,
		.reader = s,
		.rewind = synth_rewind,
		.next_chunk = synth_next_chunk,
		.next_ranges = synth_next_ranges,
	};
	return s;
}

static inline void synth_free(struct synth *s)
{
	for (int i = 0; i < SYNTH_MAX; i++) {
		free(s->value[i]);
		free(s->present[i]);
	}
	free(s->utc);
	free(s->mono);
	free(s->row);
	free(s);
}

static inline uint32_t synth_metric(struct synth *s, struct metric m)
{
	s->metrics[s->run.nmetrics].row = m;
	return s->run.nmetrics++;
}

static inline uint32_t synth_instance(struct synth *s, const char *domain, const char *name)
{
	s->instances[s->run.ninstances] = (struct run_instance){
		.node = 1, .domain = domain, .name = name, .end_ns = INT64_MAX
	};
	return s->run.ninstances++;
}

static inline uint32_t synth_series(struct synth *s, uint32_t node, uint32_t metric,
				    uint32_t instance)
{
	s->series[s->run.nseries] = (struct run_series){ .node = node,
							 .metric = (uint16_t)metric,
							 .instance = instance,
							 .state = STATE_PRESENT };
	return s->run.nseries++;
}

static inline void synth_refuse(struct synth *s, uint32_t series, enum state state,
				const char *reason, double seconds)
{
	s->refusal[1] = (struct run_refusal){ reason, (int64_t)(seconds * 1e9) };
	s->run.refusals = s->refusal;
	s->run.nrefusals = 2;
	s->series[series].state = (uint8_t)state;
	s->series[series].refusal = 1;
}

static inline void synth_row(struct synth *s, uint32_t node, double seconds)
{
	s->row[s->nrows] = (struct synth_row){ .node = node, .mono_ns = (int64_t)(seconds * 1e9) };
	s->nodes[node].rows++;
	s->nrows++;
}

/* Into the row begun last. */
static inline void synth_put(struct synth *s, uint32_t series, int64_t value)
{
	s->row[s->nrows - 1].value[series] = value;
	s->row[s->nrows - 1].present[series] = 1;
}

#endif
