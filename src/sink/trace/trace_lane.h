/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_lane.h - the rows that one track takes, and slices with their notes going into them.
 *
 * Private to sink/trace*.c. Slices of a lane come by their begin, of one begin the longest first.
 */
#ifndef SONDE_SINK_TRACE_TRACE_LANE_H
#define SONDE_SINK_TRACE_TRACE_LANE_H

#include "sink/trace/trace_part.h"
#include "sink/trace/trace_rows.h"

enum { NOTES_MAX = 64, TITLE_MAX = 128 };

/* n is set to 0; the rest need not be. */
struct notes {
	uint32_t n;
	struct trace_note note[NOTES_MAX];
};
void notes_text(struct notes *x, const char *key, const char *text);
void notes_number(struct notes *x, const char *key, double v);

/* What lies beside each other in one track: things of one kind on one node. {0} is empty. */
struct lane {
	const char *name; /* of its first row; NULL: all have numbers */
	bool nested;
	struct trace_rows rows;
	uint32_t *row; /* [rows.n]: which of the group's */
	uint32_t nrows, cap;
};
void lane_begin(struct lane *l, const char *name);
void lane_free(struct lane *l);
/* Put the slice into the window and the trace. 0 or -errno. */
int lane_put(struct lane *l, struct trace *t, struct trace_slice *s, struct notes *notes,
	     struct err *e);

/* When a thing ends: one without an end was there as long as its node was watched, and a note says
 * so. */
int64_t trace_end_of(const struct trace *t, uint32_t node, int64_t end_ns, struct notes *notes);
int trace_no_memory(struct err *e);

#endif
