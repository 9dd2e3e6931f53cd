/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.h - the recording of a node that consists of what a program did when: spans on tracks,
 * marks, counters, in whatever order they come.
 *
 * Spans and values wait in a batch of fixed size, so that memory grows with tracks and counters
 * only. What a recording's readers hold in memory is bounded: of what is more, the first are kept,
 * and the others are counted in `left`.
 */
#ifndef SONDE_IMPORT_TIMELINE_H
#define SONDE_IMPORT_TIMELINE_H

#include "base/err.h"
#include "base/pool.h"
#include "core/sample.h"
#include "import/importer.h"

#include <stdio.h>

enum {
	TIMELINE_TRACKS_MAX = 16384,
	TIMELINE_COUNTERS_MAX = 4096,
	TIMELINE_DETAILS_MAX = 200000, /* spans that keep their arguments, or have no end */
	TIMELINE_MARKS_MAX = 200000,
	TIMELINE_POINTS_MAX = 2000000,
	TIMELINE_NAME_MAX = 1000, /* of what a span, a mark or a track is called */
	TIMELINE_TEXT_MAX = 500,  /* of a detail or a message */
};
#define TIMELINE_NO_END INT64_MAX

/* What is said of what was left out or is not as it was, behind its number. */
#define TIMELINE_MARKS_LEFT    "marks beyond the first 200000"
#define TIMELINE_POINTS_LEFT   "values of counters beyond the first 2000000"
#define TIMELINE_COUNTERS_LEFT "counters beyond the first 4096"
#define TIMELINE_TRACKS_LEFT   "spans without a track of their own"
#define TIMELINE_BACKWARDS     "spans that end before they begin"
#define TIMELINE_CROSSING      "spans that may cross others of their row"
_Static_assert(TIMELINE_MARKS_MAX == 200000 && TIMELINE_POINTS_MAX == 2000000 &&
		       TIMELINE_COUNTERS_MAX == 4096,
	       "as the sentences say");

struct timeline_batch;

struct timeline {
	/* Set before it is opened; rank may be NULL. of: the file, in that directory, of a node to
	 * which all is added, on whose monotonic clock 0 is base_mono; else NULL. */
	const char *host, *from, *rank, *of;
	int64_t base_utc, base_mono;   /* of its 0 */
	char name[300];                /* set: of its file; "": none */
	uint64_t spans, marks, points; /* taken */
	uint64_t details_left, marks_left, points_left, tracks_left, counters_left;

	/* private */
	char host_text[256], from_text[600];
	struct writer *w;
	struct sample sample;
	struct timeline_batch *batch;
	int64_t end_ns;
	uint32_t ntracks, ncounters, details;
	int dirfd;
	struct err *e;
};

/* rc: what went wrong so far; then nothing of it stays in the directory. 0 or -errno. */
int timeline_close(struct timeline *t, int rc);

/* 0: there are too many; what is on it is then the node's. pid, tid, process may be NULL. */
uint32_t timeline_track(struct timeline *t, const char *name, const char *pid, const char *tid,
			const char *process);
/* A track of spans that overlap those of threads. */
uint32_t timeline_lane(struct timeline *t, const char *name, const char *pid, uint32_t lane,
		       const char *process);
uint32_t timeline_counter(struct timeline *t, const char *name, const char *pid);
/* More of a track; 0, NULL and "" are nothing. */
void timeline_label(struct timeline *t, uint32_t id, const char *key, const char *value);

/* " KEY=VALUE" behind what is there, as a word that is read back (core/phase/mark.h). One that
 * has no room is shortened, and ends in "..."; what is behind such a one is left out. */
void timeline_word(char detail[TIMELINE_TEXT_MAX + 1], const char *key, const char *value);
/* Others were left out. */
void timeline_words_left(char detail[TIMELINE_TEXT_MAX + 1]);

/* Times are since base_utc, not negative. detail: "" or NULL: none. 0 or -errno. */
int timeline_span(struct timeline *t, uint32_t track, int64_t begin_ns, int64_t end_ns,
		  const char *name, const char *detail);
int timeline_mark(struct timeline *t, uint32_t track, int64_t at_ns, const char *name,
		  const char *message);
int timeline_value(struct timeline *t, uint32_t counter, int64_t at_ns, double value);

/* When a timeline of another tool was, from what its file says, from the recording that it goes
 * into, or by a mark that both have. */

struct timeline_times {
	int64_t first_ns, last_ns; /* of what is in it, on a clock of its own */
	/* UTC of that clock's 0, as the file states it. */
	bool stated;
	int64_t zero_utc;
	const char *statement; /* what states it, and how exactly: "baseTimeNanoseconds (to 1 ns)"
				*/
	/* When place->align was, on that clock. */
	bool align_found;
	int64_t align_ns;
	int64_t changed_utc; /* when the file was last changed */
};

/* A timeline of a file, opened: its host is the place's, else made from the file's name; its 0 is
 * first_ns. format: the importer's name. rank: what the file says, "" or NULL: nothing; outlives
 * it. 0 or -errno; on success timeline_close is the caller's. */
int timeline_begin(struct timeline *line, const struct timeline_times *t, const struct import *x,
		   const char *format, const char *rank, struct err *e);

#endif
