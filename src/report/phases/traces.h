/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traces.h - metrics over time, as far as a chart can show them: of each node, or of each instance
 * on it. What the page and the plots draw.
 *
 * A long run is thinned: several samples become one point, which keeps their mean by the time that
 * each stood, their least and their most. In stretches that somebody may look at closer, points are
 * finer. Memory grows with what there is to draw, not with the length of the run. It draws nothing.
 */
#ifndef SONDE_REPORT_PHASES_TRACES_H
#define SONDE_REPORT_PHASES_TRACES_H

#include "core/frame/run.h"

struct traces_wish {
	const char *metric; /* public name */
	bool by_instance;   /* else what a node's instances combine into */
};

enum { TRACE_FOCUSES = 12 };

struct trace_focus {
	double from_s, to_s;
};

struct trace_point {
	double sum, weight; /* values x seconds; seconds, 0: absent */
	float min, max;
};

struct trace {
	uint32_t node, instance, wish;
	struct trace_point *point; /* [node's cap] */
};

struct trace_node {
	uint32_t nrows, npoints, cap;
	uint32_t thinned;  /* samples in a point; 1: every sample is there */
	uint32_t fine;     /* the same where there is a focus */
	uint32_t in_point; /* samples in the last point, so far */
	bool focused;      /* the last point is one of a focus */
	double *at;        /* [npoints] of the last sample of each */
	double first_s, last_s, stood_s;
};

/* {0} wishes for nothing and is safe to free. */
struct traces {
	struct traces_wish *wish; /* [nwishes] */
	uint32_t nwishes, wishes_cap;
	struct trace_focus focus[TRACE_FOCUSES];
	uint32_t nfocuses;
	uint32_t points;         /* of a node, and half as many in focuses; 0: as a plot is wide */
	struct trace_node *node; /* indexed as run.nodes */
	uint32_t nnodes;
	struct trace *trace; /* [n] by wish, then as the run has them */
	uint32_t n, cap;
	double to_s; /* of the last point of all */
	bool failed; /* out of memory for the wishes */
};

/* The metric is borrowed; what was wished for already is not added again. */
void traces_wish(struct traces *t, const char *metric, bool by_instance);
/* Nothing when there are too many, or it is no stretch. */
void traces_focus(struct traces *t, double from_s, double to_s);
/* Reads the run once. 0, or -errno with a sentence. */
int traces_read(struct traces *t, struct run *r, struct err *e);
void traces_free(struct traces *t);

/* NAN where it is absent. */
double trace_mean(const struct trace_point *p);
/* A value that comes less than so many points after the one before has no gap before it: of a
 * metric that is read less often than others, absences are usual. */
uint32_t traces_reach(const struct traces *t, const struct trace *x);
/* Those of a metric: the first, and their number; of one node with it, in the order of nodes. NULL
 * when there is none. */
const struct trace *traces_of(const struct traces *t, const char *metric, bool by_instance,
			      uint32_t *n);
const struct trace *traces_of_node(const struct traces *t, const char *metric, bool by_instance,
				   uint32_t node, uint32_t *n);

/* A trace in n equal stretches of 0 .. t->to_s: NAN where there is no value. */
struct trace_columns {
	double *mean, *min, *max; /* [n] each */
	uint32_t n;
};
void traces_columns(const struct traces *t, const struct trace *x, struct trace_columns *out);

#endif
