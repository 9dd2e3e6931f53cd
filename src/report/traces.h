/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traces.h - metrics over time, as far as a chart can show them: of each node, or of each instance
 * on it.
 *
 * A long run is thinned: several samples become one point, which keeps their mean by the time that
 * each stood, their least and their most. Memory grows with what there is to draw, not with the
 * length of the run. It draws nothing.
 */
#ifndef SONDE_REPORT_TRACES_H
#define SONDE_REPORT_TRACES_H

#include "core/run.h"

struct trace_wish {
	const char *metric; /* public name */
	bool by_instance;   /* else what a node's instances combine into */
};

struct trace_point {
	double sum;             /* values x seconds */
	float weight, min, max; /* weight: the seconds; 0: absent */
};

struct trace {
	uint32_t node, instance, wish;
	struct trace_point *point; /* [node's cap] */
};

struct trace_node {
	uint32_t nrows, npoints, cap;
	uint32_t thinned; /* samples in a point; 1: every sample is there */
	double *at;       /* [npoints] of the last sample of each */
	double first_s, last_s, stood_s;
};

struct traces {
	const struct trace_wish *wish; /* [nwishes] */
	uint32_t nwishes;
	struct trace_node *node; /* indexed as run.nodes */
	uint32_t nnodes;
	struct trace *trace; /* [n] by wish, then as the run has them */
	uint32_t n, cap;
	double to_s; /* of the last point of all */
};

/* wish is borrowed. 0, or -errno with a sentence. Free in either case. */
int traces_read(struct traces *t, struct run *r, const struct trace_wish *wish, uint32_t nwishes,
		struct err *e);
void traces_free(struct traces *t);

/* NAN where it is absent. */
double trace_mean(const struct trace_point *p);
/* A value that comes less than so many points after the one before has no gap before it: of a
 * metric that is read less often than others, absences are usual. */
uint32_t traces_reach(const struct traces *t, const struct trace *x);
/* Of a wish that is not by instance; NULL when the node has none. */
const struct trace *traces_of_node(const struct traces *t, const char *metric, uint32_t node);

/* A trace in n equal stretches of 0 .. t->to_s: NAN where there is no value. */
struct trace_columns {
	double *mean, *min, *max; /* [n] each */
	uint32_t n;
};
void traces_columns(const struct traces *t, const struct trace *x, struct trace_columns *out);

#endif
