/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_part.h - what the parts of a trace share: the run on the trace's clock, groups and rows,
 * and the slices with their notes going into them.
 *
 * Private to sink/trace/. A node has GROUPS_OF_NODE groups: its own, and one for each domain of the
 * things on it; domains beyond that share one.
 */
#ifndef SONDE_SINK_TRACE_TRACE_PART_H
#define SONDE_SINK_TRACE_TRACE_PART_H

#include "core/frame/derive.h"
#include "sink/trace/trace.h"

#include <stdbool.h>
#include <stdint.h>

enum { GROUPS_OF_NODE = 64 };

struct trace {
	struct run *run;
	int64_t min_ns;
	int64_t utc0_ns;           /* the trace's begin */
	int64_t from_ns, until_ns; /* the window, since then */
	bool has_counters;
	struct derive derive;
	uint32_t *rank;              /* [nnodes] of run_host_name */
	const struct phases *phases; /* borrowed; or NULL */
	const char *domain[GROUPS_OF_NODE];
	uint32_t ndomains;  /* 0: the node itself, 1: its phases */
	uint8_t *domain_of; /* [ninstances] */
	uint32_t *next_row; /* of each group; 0: it has no name yet */
	uint8_t *named;     /* [derive.plan.ncells]: counters */

	/* While writing. */
	const struct trace_format *format;
	void *state;
	FILE *file;
	struct bytes out;
	struct trace_count *count;
};

/* ns since the trace began of a node's monotonic instant. */
int64_t trace_time(const struct trace *t, uint32_t node, int64_t mono_ns);
/* The group of an instance, or, 0, of the node itself, which is named when it is new. */
uint32_t trace_group(struct trace *t, uint32_t node, uint32_t instance);
/* Of the whole run, before all others. */
uint32_t trace_loss_group(struct trace *t);
uint32_t trace_phase_group(struct trace *t, uint32_t node);
/* Of samples of Python, so that its threads have two flame graphs, not one of both. */
uint32_t trace_python_group(struct trace *t, uint32_t node);
uint32_t trace_add_row(struct trace *t, uint32_t group, const char *name);
/* An instance's name, with its process id if it has one. Returns out. */
const char *trace_title(const struct trace *t, uint32_t instance, char *out, size_t size);
/* Give what was made to the file, when it is enough. 0 or -errno. */
int trace_flush(struct trace *t, struct err *e);

/* Losses, marks, phases, spans and processes. 0 or -errno. */
int trace_losses(struct trace *t, struct err *e);
int trace_marks(struct trace *t, struct err *e);
int trace_phases(struct trace *t, struct err *e);
int trace_spans(struct trace *t, struct err *e);
int trace_processes(struct trace *t, struct err *e);
/* Samples of stacks, where the format has a place for them. 0 or -errno. */
int trace_samples(struct trace *t, struct err *e);

/* In which row of a track a slice goes, so that no two in a row overlap but where one lies in the
 * other. {0} is empty and safe to free. */
struct trace_row {
	int64_t *end; /* of the slices that are open, each in the one before */
	uint32_t depth, cap;
};

struct trace_rows {
	struct trace_row *row;
	uint32_t n, cap;
};

enum { NOTES_MAX = 64, TITLE_MAX = 128 };

/* n is set to 0; the rest need not be. */
struct notes {
	uint32_t n;
	struct trace_note note[NOTES_MAX];
};
void notes_text(struct notes *x, const char *key, const char *text);
void notes_number(struct notes *x, const char *key, double v);

enum { WORDS_SIZE = 4096, FLOWS_MAX = 16 };

/* A text of words KEY=VALUE, read: their memory. */
struct words {
	char text[WORDS_SIZE];
	size_t used;
	struct trace_flow flow[FLOWS_MAX];
	uint32_t nflows;
};
/* Its words become notes, the slice's category and its arrows; where one is no KEY=VALUE, the text
 * is a note as well, called by that key. w is made anew, and outlives the slice. */
void notes_words(struct notes *x, struct words *w, struct trace_slice *s, const char *key,
		 const char *text);

/* What lies beside each other in one track: things of one kind on one node. Slices come by their
 * begin, of one begin the longest first. {0} is empty. */
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
