/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.h - how some metrics went over a run, coarsely: a row of windows of equal length each.
 *
 * However long the run, there are at most TIMELINE_WINDOWS of them, so that it stays small. What is
 * added up over nodes is added up in a window, of everything else a window has the largest node or
 * device. A window without a value is NAN. {0} is empty and safe to free.
 */
#ifndef SONDE_REPORT_PHASES_TIMELINE_H
#define SONDE_REPORT_PHASES_TIMELINE_H

#include "core/frame/derive.h"
#include "core/frame/run.h"

#include <math.h>

enum { TIMELINE_WINDOWS = 512, TIMELINE_ROWS = 48 };

struct timeline_row {
	char metric[64]; /* public name */
	bool sum;        /* over nodes */
	double *value;   /* [nwindows] */
};

struct timeline {
	double from_s, width_s;
	uint32_t nwindows, nrows;
	struct timeline_row row[TIMELINE_ROWS];
};

/* One series of values on its way into a row. row NULL: into none. */
struct timeline_track {
	struct timeline_row *row;
	uint32_t window;
	double sum, seconds;   /* of the window that is open */
	double begin_s, end_s; /* of that window; equal when none is */
};

/* The windows for the whole of the run. */
void timeline_init(struct timeline *t, const struct run *r);
void timeline_free(struct timeline *t);
/* The row of a metric, created if missing; NULL: no room, or no memory. */
struct timeline_row *timeline_add(struct timeline *t, const char *metric, bool sum);
const struct timeline_row *timeline_find(const struct timeline *t, const char *metric);

/* As timeline_put, whatever windows it stood in. */
void timeline_spread(struct timeline *t, struct timeline_track *k, double from_s, double to_s,
		     double value);

/* The value stood from one second to the other; times of a track grow. Nearly all of a long run lie
 * in the window of the time before them. */
static inline void timeline_put(struct timeline *t, struct timeline_track *k, double from_s,
				double to_s, double value)
{
	if (!(to_s > from_s) || !isfinite(value))
		return;
	if (!(from_s >= k->begin_s && to_s <= k->end_s)) {
		timeline_spread(t, k, from_s, to_s, value);
		return;
	}
	k->sum += value * (to_s - from_s);
	k->seconds += to_s - from_s;
}

void timeline_end(struct timeline_track *k); /* its last window is whole */

/* From the first window to the last one that is above the threshold (or below). False, and nothing
 * is written, when there is none. */
bool timeline_beyond(const struct timeline *t, const char *metric, double threshold, bool below,
		     double *from_s, double *to_s);

/*
 * The time that the kernel counted for a node's cores, against which the states of
 * its CPUs are drawn.
 *
 * /proc/stat counts each core by its own ticks, and is read a moment after the time that a sample
 * has, later on a busy machine. Over 50 ms its states may therefore add up to 2.5 of 2 cores. Their
 * sum over all states is the time between two readings as the kernel counted it, whenever they
 * were: as for top and mpstat, a state is its share of that sum. What is not known is left alone.
 */
enum { TRACE_CLOCK_STATES = 8, TRACE_CLOCK_CELLS };

/* Of a node: the cells of the states, then of the cores that are online. {0}: it has none. */
struct trace_clock {
	uint32_t cell[TRACE_CLOCK_CELLS];
};

/* Which of these a metric is; TRACE_CLOCK_CELLS: another one. */
uint32_t trace_clock_find(const char *metric);
const char *trace_clock_name(uint32_t which);
/* What the states of each of n rows of the slice are to be multiplied by; 1 where that is not
 * known. */
void trace_clock_scale(const struct trace_clock *c, struct derive *d, uint32_t n, double *scale);

#endif
