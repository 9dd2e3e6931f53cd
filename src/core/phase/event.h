/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.h - what changes in a recording beside the values: things begin and end, series begin
 * and end, marks and spans are set, metadata is said. The writer takes events, the reader gives the
 * same events back, so one type serves both.
 *
 * Strings are borrowed: from the sample's text pool while writing, from the run while reading.
 */
#ifndef SONDE_CORE_PHASE_EVENT_H
#define SONDE_CORE_PHASE_EVENT_H

#include "core/metric.h"

#include <stdbool.h>

/* How the names begin of metadata that are the job's environment. */
#define META_ENVIRONMENT "job.environment."

/* What a command that failed printed last (job/said.h): metadata of a node, or without "job."
 * labels of a task's instance. */
#define META_ERROR_TEXT "job.error_text"

/* What stays on the machine: the environment and what was printed; `key` is metadata's or a
 * label's. */
bool key_is_private(const char *key);

/* The numbers are in the file format: append only. */
enum event_kind {
	EVENT_NONE = 0,
	EVENT_NODE, /* id = node, name = host. Recorders have node 1 only; imports may have many */
	EVENT_INSTANCE,   /* id, parent (instance or 0), domain, name, flags; t0 = birth */
	EVENT_LABEL,      /* id = instance; name = key, text = value */
	EVENT_FINAL,      /* id = instance; metric[0..count), values, mask: counters at its end */
	EVENT_END,        /* id = instance; t0 = its end. All of its series end too */
	EVENT_SERIES,     /* id .. id+count-1: metric[0..count) of instance `parent` (0 = the node).
			     While writing, value = the first of its slots in the sample */
	EVENT_SERIES_END, /* id .. id+count-1 give no more values */
	EVENT_STATE,      /* id = series; state from t0 on; text = reason */
	EVENT_META,       /* name = key; meta_type; value (int, bool), real, or text */
	EVENT_MARK,       /* t0; name; text = message; parent = instance it is about, or 0 */
	EVENT_SPAN,       /* t0..t1; name; text = detail; parent = the track's instance, or 0 */
	EVENT_CLOCK,      /* t0 = monotonic, t1 = UTC, value = estimated error in ns (-1 unknown),
			     state = PRESENT when the kernel says its clock is synchronised */
	EVENT_CATALOGUE,  /* metric[0..count) are declared without series: derived rows and their
			     formulas */
	EVENT_NAME,  /* id = instance; name: what it is called now (a process that executed another
			program) */
	EVENT_WORD,  /* id; name: what spans of a set are called by this id */
	EVENT_SPANS, /* count spans on one track, in order of their ends; parent as in EVENT_SPAN */
	EVENT_POINTS, /* count values of the instance `parent`, which is a counter, as they were set
			 in between samples */
	EVENT_MODULE = 24, /* id; name = path as the process saw it, or "[vdso]", "[jit]"; text =
			      build-id in hex, or "" */
	EVENT_FRAME,  /* id; parent = module (0: none); value = address within it, as its file has
			 it;  name = function, "" not known; text = source file; count = line; mask =
			 id  of the frame that it is inlined into; flags. One of the same id takes
			 the  place of an earlier one */
	EVENT_STACKS, /* nodes id .. id+count-1 of the tree of stacks: items (parent node, frame) */
	EVENT_SAMPLES, /* of one process: t0 .. t1 = times of the first and the last; parent = its
			  instance, or 0; name = its command; flags = enum sample_kind; value = what
			  a weight of 1 is worth (ns, bytes); items (thread, leaf node, weight) */
	EVENT_KIND_NUMBER_OF
};

enum meta_type { META_TEXT = 0, META_INT, META_REAL, META_BOOL, META_TYPE_NUMBER_OF };

enum {
	EVENT_SET_MAX = 64,     /* metrics in one EVENT_SERIES or EVENT_FINAL: a mask has 64 bits */
	EVENT_SPANS_MAX = 1024, /* spans in one EVENT_SPANS, values in one EVENT_POINTS */
	EVENT_ITEMS_MAX = 1024, /* items in one EVENT_STACKS or EVENT_SAMPLES */
	INSTANCE_ASIDE = 1,     /* flag: left out of totals (loopback, bond, partition, virtual) */
};

/* One of a set: without a detail, and with an end. */
struct event_span {
	int64_t begin_ns, end_ns;
	uint32_t word; /* id of its name; 0: it has none */
};

/* A value, when it was set. */
struct event_point {
	int64_t at_ns;
	double value;
};

/* Of what samples are: the numbers are in the file format. */
enum sample_kind {
	SAMPLE_CPU = 0,
	SAMPLE_FAULTS,
	SAMPLE_WAITS,
	SAMPLE_PYTHON,   /* CPU time again, of Python's threads, by Python's functions */
	SAMPLE_RESIDENT, /* resident memory at one moment (t0 = t1), by who touched it first */
	SAMPLE_KERNEL,   /* CPU time in the kernel, by the code that called it or faulted */
	SAMPLE_KIND_NUMBER_OF
};

/* The module of Python's functions. */
#define PYTHON_MODULE "[python]"

/* Flags of a frame. */
enum {
	FRAME_CUT = 1,          /* the stack goes on beyond what was copied of it */
	FRAME_OTHER = 2,        /* all stacks for which there was no room */
	FRAME_LOST_WAY = 4,     /* the caller could not be found */
	FRAME_UNSEEN = 8,       /* memory that no sample is of */
	FRAME_UNOPTIMIZED = 16, /* a function that was compiled without optimization */
	FRAME_SPINS = 32,       /* a loop that does nothing but look at memory */
};

/* One of the items of an EVENT_STACKS or EVENT_SAMPLES. */
struct event_item {
	uint32_t task, node; /* STACKS: the parent node (0: it is a root), the frame's id */
	uint64_t weight;     /* STACKS: 0 */
};

struct event {
	enum event_kind kind;
	enum state state;
	enum meta_type meta_type;
	uint32_t node; /* 1 for a recorder's own */
	uint32_t id, parent, count, flags;
	int64_t t0, t1; /* ns of the node's monotonic clock (but EVENT_CLOCK.t1) */
	int64_t value;
	double real;
	uint64_t mask; /* EVENT_FINAL: bit i set = values[i] is present */
	const int64_t *values;
	const struct metric *metric; /* first of `count` rows that lie side by side */
	const struct event_span *spans;
	const struct event_item *items;
	const struct event_point *points;
	const char *name, *text, *domain;
};

#endif
