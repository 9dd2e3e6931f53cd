/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - a recording as a timeline for trace viewers: slices in rows, marks, counters.
 *
 * A group of tracks for each node and each kind of thing on it; all on one clock, ns since the
 * trace began. It streams: beyond the run its memory is a few bytes a slice. Formats escape every
 * text.
 */
#ifndef SONDE_SINK_TRACE_TRACE_H
#define SONDE_SINK_TRACE_TRACE_H

#include "base/bytes.h"
#include "core/phase/phase.h"

#include <stdio.h>

/* What is shown of the series when nobody says; of things that last. */
#define TRACE_METRICS                                                                              \
	"job.cpu_cores,job.resident_bytes,job.pss_bytes,job.processes_live_count,"                 \
	"job.[rw]*_bytes_per_second,node.cpu_used_cores,node.memory_used_bytes,"                   \
	"node.swap_used_bytes,node.power_watts,cpu.used_ratio,cpu.frequency_hertz,"                \
	"energy.*_watts,gpu.utilization_ratio,gpu.job_sm_utilization_ratio,"                       \
	"gpu.memory_used_bytes,gpu.power_watts,disk.[rw]*_bytes_per_second,"                       \
	"network.[rt]*_bytes_per_second,infiniband.[rt]*_bytes_per_second,"                        \
	"slingshot.[rt]*_bytes_per_second,nfs.server_*_bytes_per_second,"                          \
	"lustre.[rw]*_bytes_per_second"

struct trace_wish {
	const char *metrics;         /* globs on public names; NULL: TRACE_METRICS */
	double from_s, to_s;         /* seconds since the run began; to_s 0: the end */
	int64_t min_ns;              /* slices shorter than this are left out */
	const struct phases *phases; /* of marks; NULL: none. Borrowed until trace_close */
};

struct trace_note {
	const char *key, *text; /* text NULL: number */
	double number;
};

/* An arrow leads from each slice that it goes out of to the next that it goes into. */
struct trace_flow {
	uint64_t id;
	bool in;
};

/* Rows are a group's own, from 1. A mark is a slice that has no end. */
struct trace_slice {
	uint32_t group, row;
	int64_t begin_ns, end_ns;
	const char *category, *name; /* hostile texts, as notes are */
	const struct trace_note *note;
	uint32_t nnotes;
	const char *colour; /* as Chrome calls it, for formats that have it; or NULL */
	const struct trace_flow *flow;
	uint32_t nflows;
};

struct trace_counter {
	uint32_t group, id;
	const char *name;
	enum unit unit;
};

/* Of a thread, which ran this stack of the run. */
struct trace_sample {
	uint32_t group, tid;
	const struct run *run;
	uint32_t stack;
	int64_t at_ns;
};

/* Of more samples than that, some represent several. */
enum { TRACE_SAMPLES_MAX = 1000000 };

/* All of them append to `out`. What is named is named before it is used, once. */
struct trace_format {
	size_t size; /* of its private state, zeroed before begin */
	void (*begin)(void *state, struct bytes *out, int64_t utc0_ns);
	void (*group)(void *state, struct bytes *out, uint32_t group, const char *name);
	void (*row)(void *state, struct bytes *out, uint32_t group, uint32_t row, const char *name);
	void (*slice)(void *state, struct bytes *out, const struct trace_slice *s);
	void (*mark)(void *state, struct bytes *out, const struct trace_slice *m);
	void (*counter)(void *state, struct bytes *out, const struct trace_counter *c);
	void (*value)(void *state, struct bytes *out, const struct trace_counter *c, int64_t at_ns,
		      double v);
	/* NULL: the format has no place for them. False: out of memory. */
	bool (*sample)(void *state, struct bytes *out, const struct trace_sample *s);
	void (*end)(void *state, struct bytes *out);
	void (*free)(void *state); /* NULL: there is nothing to let go of */
};

extern const struct trace_format trace_chrome, trace_perfetto;

struct trace_count {
	uint64_t slices, marks, values, samples;
	uint64_t short_slices; /* that were left out */
};

struct trace;

/* The run is borrowed. 0 or -errno: -EINVAL when the wish makes no sense. */
int trace_open(struct trace **t, struct run *r, const struct trace_wish *w, struct err *e);
/* How many slices, marks and values there are at most. 0 or -errno. */
int trace_estimate(struct trace *t, uint64_t *events, struct err *e);
/* Once. 0 or -errno; of what could not be written the sentence names no file. */
int trace_write(struct trace *t, const struct trace_format *k, FILE *out, struct trace_count *n,
		struct err *e);
void trace_close(struct trace *t);

#endif
