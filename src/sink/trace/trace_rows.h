/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_rows.h - in which row of a track a slice goes, so that no two in a row overlap but where
 * one lies in the other.
 *
 * Slices come by their begin, of one begin the longest first. {0} is empty and safe to free.
 */
#ifndef SONDE_SINK_TRACE_TRACE_ROWS_H
#define SONDE_SINK_TRACE_TRACE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

struct trace_row {
	int64_t *end; /* of the slices that are open, each in the one before */
	uint32_t depth, cap;
};

struct trace_rows {
	struct trace_row *row;
	uint32_t n, cap;
};

/* The first row, from 0, that takes it; n when a new one was made for it. nested: a slice may lie
 * in another. 0 or -ENOMEM. */
int trace_rows_place(struct trace_rows *r, int64_t begin_ns, int64_t end_ns, bool nested,
		     uint32_t *row);
/* No rows; memory is kept. */
void trace_rows_reset(struct trace_rows *r);
void trace_rows_free(struct trace_rows *r);

#endif
