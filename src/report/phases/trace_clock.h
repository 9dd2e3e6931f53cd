/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_clock.h - the time that the kernel counted for a node's cores, against which the states of
 * its CPUs are drawn.
 *
 * /proc/stat counts each core by its own ticks, and is read a moment after the time that a sample
 * has, later on a busy machine. Over 50 ms its states may therefore add up to 2.5 of 2 cores. Their
 * sum over all states is the time between two readings as the kernel counted it, whenever they
 * were: as for top and mpstat, a state is its share of that sum. What is not known is left alone.
 */
#ifndef SONDE_REPORT_PHASES_TRACE_CLOCK_H
#define SONDE_REPORT_PHASES_TRACE_CLOCK_H

#include "core/frame/derive.h"

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
