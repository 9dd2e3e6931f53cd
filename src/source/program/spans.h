/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spans.h - what a process says of itself through libsonde (include/sonde_span.h): out of its file
 * of rings (core/ring.h) into samples.
 *
 * The file is hostile. It is read, never mapped, so that cutting it off ends its own reading only;
 * every number in it is checked. The process is not waited for. Nothing is allocated but by
 * span_reader_open.
 */
#ifndef SONDE_SOURCE_PROGRAM_SPANS_H
#define SONDE_SOURCE_PROGRAM_SPANS_H

#include "core/ring.h"
#include "core/sample.h"

#include <sys/types.h>

enum {
	SPAN_MARKS_MAX = 100000,
	SPAN_TRACKS_MAX = 4096,
	SPAN_COUNTERS_MAX = 256,
	SPAN_DETAILS_MAX = 200000, /* spans that keep their arguments */
	SPAN_DETAIL_MAX = 2048,    /* bytes of the text that these become, with its NUL */
};

/* What all processes of a recording have in common. {0} is ready. */
struct span_intake {
	int64_t marks, lost, unclear;  /* lost: no room, here or there; unclear: no sense */
	int64_t wrong_order, nameless; /* ends of what was not the innermost; names beyond all */
	int64_t values, thinned;       /* of counters; and of these, those that are not kept */
	int64_t details, args_left;    /* spans with arguments; arguments that are not kept */
	struct {
		int64_t lost, wrong_order, nameless, thinned, args_left;
	} told;
	uint32_t tracks, counters;
	/* scratch */
	struct ring_slot slot[EVENT_SPANS_MAX];
	struct event_span span[EVENT_SPANS_MAX];
	struct ring_slot apart[EVENT_SPANS_MAX]; /* of lanes and counters */
	struct event_point point[EVENT_SPANS_MAX];
	char text[RING_PAGE];
	char detail[SPAN_DETAIL_MAX];
	struct ring_mpi mpi;
	struct {
		uint64_t value[RING_NAMES_MAX + 1];
		uint8_t valued[RING_NAMES_MAX + 1];
	} counters_now;
};

struct span_reader;

/* Of the file fd, which it takes over, whatever happens. NULL: it is none of these, or no memory.
 */
struct span_reader *span_reader_open(int fd);
void span_reader_close(struct span_reader *r); /* NULL is fine */

/* 0: it is in another pid namespace. */
pid_t span_reader_pid(const struct span_reader *r);
/* What its threads belong to, from now on. */
void span_reader_about(struct span_reader *r, uint32_t instance);
/* How full the fullest of its rings is, 0..1. */
double span_reader_filled(struct span_reader *r);
/* It has counters. */
bool span_reader_counts(const struct span_reader *r);
/* It uses MPI, and that is counted. */
bool span_reader_has_mpi(const struct span_reader *r);
/* The process is there, now. */
void span_reader_alive(struct span_reader *r, int64_t now_ns);
/* Take what there is. False: there was no room in the sample for all of it. */
bool span_reader_take(struct span_reader *r, struct span_intake *in, struct sample *s);
/* With a sample: the values of its counters, and what it lost so far. */
void span_reader_values(struct span_reader *r, struct span_intake *in, struct sample *s);
/* No more will come: which spans are open, and its threads and counters end. Not in the sample that
 * has its last values, but for the last of all. */
void span_reader_end(struct span_reader *r, struct span_intake *in, struct sample *s);
/* With a sample: how much was left out, when that has changed. */
void span_intake_report(struct span_intake *in, struct sample *s);

#endif
