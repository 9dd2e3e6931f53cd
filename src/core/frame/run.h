/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - a run as it can be read: what is known of it at once (nodes, instances, series, marks,
 * spans, metadata) and its values chunk by chunk.
 *
 * Plain data, filled by recording/join.h from one recording or a directory of them: metrics are
 * merged by name, ids are unique in the run. All arrays are indexed by id; index 0 means none.
 */
#ifndef SONDE_CORE_FRAME_RUN_H
#define SONDE_CORE_FRAME_RUN_H

#include "base/err.h"
#include "core/phase/event.h"

#include <stdint.h>

/*
 * Some rows of one node, decoded: the raw shape between the reader and the frame.
 *
 * Column-wise: column c holds nrows stored values of one series; present[r] says whether there was
 * one. Ranges say the same without decoding. Memory belongs to the run and lives until its next
 * chunk.
 */

/* What a chunk's footer holds of one series; enough for a summary without decoding. */
struct range {
	uint32_t series;
	uint32_t count;                /* values present */
	int64_t min, max, first, last; /* stored units; valid when count > 0 */
	int64_t first_ns, last_ns;     /* monotonic times of the first and last present value */
	double weighted_sum; /* sum of value x seconds until the next row (stored units x s) */
	double weight;       /* the seconds of that sum */
};

struct chunk_column {
	uint32_t series;
	const int64_t *value;
	const uint8_t *present; /* 1 or 0, one byte a row */
};

struct chunk {
	uint32_t node;
	uint32_t nrows;
	const int64_t *utc_ns, *mono_ns;
	uint32_t ncolumns;
	const struct chunk_column *column; /* sorted by series */
};

struct run_node {
	const char *host;          /* hostile text: escape where it goes */
	const char *file;          /* path of its recording */
	int64_t utc0_ns, mono0_ns; /* first clock pair: wall time of mono m is utc0 + (m - mono0) */
	bool clock_known;          /* a pair was recorded; else it is the first row's times */
	int64_t clock_error_ns;    /* -1 unknown */
	bool synchronised;
	bool complete; /* closed in order; false: killed, cut, or still running */
	uint64_t rows;
	int64_t first_ns, last_ns;            /* monotonic times of its first and last row */
	uint32_t first_series, behind_series; /* its series are among these; behind 0: not known */
};

struct run_instance {
	uint32_t node, parent;
	const char *domain, *name; /* name is hostile text */
	int64_t birth_ns, end_ns;  /* node's monotonic clock; end INT64_MAX while open */
	uint32_t flags;
	uint32_t first_label, nlabels; /* in run.labels */
	uint32_t first_final, nfinals; /* in run.finals */
};

struct run_label {
	const char *key, *value;
};

struct run_final {
	uint32_t metric;
	int64_t value;
};

/* A run may have millions. */
struct run_series {
	uint32_t node, instance; /* instance 0: the node itself */
	uint32_t refusal;        /* in run.refusals; 0: none */
	uint16_t metric;
	uint8_t state; /* enum state: PRESENT, or its last refusal */
};

struct run_refusal {
	const char *reason;
	int64_t at_ns; /* since when */
};

struct run_mark {
	uint32_t node, instance;
	int64_t at_ns;
	const char *name, *message;
};

struct run_span {
	uint32_t node, track;
	int64_t begin_ns, end_ns;
	const char *name, *detail;
};

/* Spans of one track that are stored in bulk, from the earliest begin to the latest end. */
struct run_pack {
	uint32_t node, track, nspans;
	int64_t first_ns, last_ns;
};

/* A value of a counter of a program, which is an instance, as it was set in between samples. */
struct run_point {
	uint32_t instance;
	int64_t at_ns;
	double value;
};

struct run_meta {
	uint32_t node;
	enum meta_type type;
	const char *key, *text;
	union {
		int64_t value;
		double real; /* of META_REAL */
	};
};

struct run_damage {
	const char *file;
	uint64_t offset, length;
	const char *what;
};

/* A program or library that code is of. */
struct run_module {
	const char *path,
		*build_id; /* path: hostile text, "[vdso]" or "[jit]"; build_id: hex or "" */
};

/* A place in code. Several are at one address where functions are inlined: the innermost leads to
 * the others. */
struct run_frame {
	uint32_t module, outer;      /* outer: the frame that it is inlined into; 0: none */
	uint32_t line, flags;        /* line 0: not known; FRAME_ of core/phase/event.h */
	uint64_t address;            /* within the module, as its file has it */
	const char *function, *file; /* hostile; "": not known */
};

/* A node of the tree of stacks: this frame, called from the parent's. */
struct run_stack {
	uint32_t parent, frame; /* parent 0: it is a root; a parent is before its children */
};

/* Samples of one process. items: task is a thread's id, node one of run.stacks (0: not known),
 * weight so many times `unit`. */
struct run_samples {
	uint32_t node, instance; /* instance 0: not known */
	enum sample_kind kind;
	const char *command;  /* hostile text */
	int64_t unit;         /* of SAMPLE_CPU: ns of CPU time */
	int64_t t0_ns, t1_ns; /* of the first and the last; node's monotonic clock */
	uint32_t n;
	const struct event_item *items;
};

/* A metric as the recording declared it, with where derived ones come from. */
struct run_metric {
	struct metric row;
};

struct run_index;

struct run {
	struct run_node *nodes;
	uint32_t nnodes; /* largest id + 1, as for all counts here */
	struct run_metric *metrics;
	uint32_t nmetrics;
	struct run_instance *instances;
	uint32_t ninstances;
	struct run_series *series;
	uint32_t nseries;
	struct run_refusal *refusals;
	uint32_t nrefusals;
	struct run_label *labels;
	uint32_t nlabels;
	struct run_final *finals;
	uint32_t nfinals;
	struct run_mark *marks;
	uint32_t nmarks;
	struct run_span
		*spans; /* but those in packs: of imports, and of programs when they are many */
	uint32_t nspans;
	struct run_pack *packs; /* from 0, as they were written */
	uint32_t npacks;
	uint64_t npacked; /* spans in all packs */
	/* The code that ran, of all nodes: what is the same in several is once. */
	struct run_module *modules;
	uint32_t nmodules;
	struct run_frame *frames;
	uint32_t nframes;
	struct run_stack *stacks;
	uint32_t nstacks;
	uint64_t nsample_sets; /* how many next_samples gives; 0: none were recorded */
	uint64_t nsample_sets_of[SAMPLE_KIND_NUMBER_OF];
	uint64_t nstrays;         /* frames, stacks and modules that could not be used */
	struct run_point *points; /* from 0; of each instance in order of coming */
	uint32_t npoints;
	struct run_meta *metas;
	uint32_t nmetas;
	struct run_index *metas_of; /* of each node, by key; NULL: run_find_meta looks at all */
	struct run_damage *damages;
	uint32_t ndamages;
	const char *path;  /* the directory or file that was opened */
	int64_t t0_utc_ns; /* wall time of the run's second 0: the earliest row of any node */

	/* Values, chunk by chunk: nodes may alternate; within a node time grows. */
	void *reader;
	int (*rewind)(struct run *r);
	/* The same for those of nodes from .. to - 1 alone. NULL: it cannot. */
	int (*rewind_nodes)(struct run *r, uint32_t from, uint32_t to);
	/* Next chunk, decoded; columns only of series with wanted[series] != 0 (NULL: all).
	 * 1, 0 at the end, or -errno. */
	int (*next_chunk)(struct run *r, const uint8_t *wanted, struct chunk *c, struct err *e);
	/* Next chunk's footer only, nothing is decoded. 1, 0 at the end, or -errno. */
	int (*next_ranges)(struct run *r, const struct range **ranges, uint32_t *n, struct err *e);
	/* The rest of the chunk that next_ranges gave last: node, times, wanted columns. 1; 0 when
	 * it is malformed, so that its ranges are void, too (they stay readable); or -errno. */
	int (*values)(struct run *r, const uint8_t *wanted, struct chunk *c, struct err *e);
	/* Between a rewind and the first next_ranges or next_chunk: values of these series alone
	 * will be asked for in this pass, so that other threads may read them ahead. wanted stays
	 * as it is until the next rewind. NULL: it cannot. */
	void (*read_ahead)(struct run *r, const uint8_t *wanted);
	/* The spans of a pack, in the order they were written, until the next call. Their number;
	 * 0 when they cannot be read (which is damage); or -errno. Not between next_ranges and
	 * values. */
	int (*unpack)(const struct run *r, uint32_t pack, const struct run_span **spans,
		      struct err *e);
	/* Samples of code, node after node, in the order in which they were written. Valid until
	 * the next call. 1, 0 at the end, or -ENOMEM. Not between next_ranges and values. NULL in a
	 * run that was made otherwise: it has none. */
	int (*rewind_samples)(struct run *r);
	int (*next_samples)(struct run *r, struct run_samples *s, struct err *e);
};

/* Seconds since the run began of a node's monotonic instant. */
double run_seconds(const struct run *r, uint32_t node, int64_t mono_ns);
/* Wall time (UTC ns) of it. */
int64_t run_utc_ns(const struct run *r, uint32_t node, int64_t mono_ns);
/* first[i]: the first node of node i's host: itself, or one of which it is another step or a
 * restart. [nnodes]; 0 or -ENOMEM. */
int run_hosts(const struct run *r, uint32_t *first);
/* rank[i]: how many nodes of node i's host come before it. [nnodes]; 0 or -ENOMEM. */
int run_host_ranks(const struct run *r, uint32_t *rank);
/* A name for a node that no other has: host, then host.2 for the second recording of it. Cut when
 * too long. */
void run_host_name(const struct run *r, uint32_t node, uint32_t rank, char *out, size_t size);
/* The last value said of key on node (0: any node); NULL when never said. */
const struct run_meta *run_find_meta(const struct run *r, uint32_t node, const char *key);
/* As a number; NAN: it is text. */
double run_meta_number(const struct run_meta *m);
/* The text of it; NULL when it is none, or empty. */
const char *run_find_text(const struct run *r, uint32_t node, const char *key);
/* Whose job it was: what the batch system says, else the job's environment; NULL: not said. */
const char *run_find_user(const struct run *r);
/* Series first .. behind - 1 are those of nodes from .. to - 1, and maybe of others. */
void run_series_of(const struct run *r, uint32_t from, uint32_t to, uint32_t *first,
		   uint32_t *behind);
/* Why and since when a series is refused; reason NULL: it is not, or nobody said. */
struct run_refusal run_refusal_of(const struct run *r, const struct run_series *s);
/* Metric id by name; 0 when the run has none. */
uint32_t run_find_metric(const struct run *r, const char *name);
/* A label's value; NULL when it has none. */
const char *run_label(const struct run *r, uint32_t instance, const char *key);
/* A process's label "command_line" as people read it: without the folder of its program. */
const char *run_command_shown(const char *command_line);
/* Final counter of an instance in base units; false when it is not known. */
bool run_final_value(const struct run *r, uint32_t instance, const char *metric, double *out);

/*
 * What of a run belongs to which node, so that who goes from node to node need not
 * look at everything each time.
 *
 * Ids of node n are id[first[n]] .. id[first[n + 1] - 1], in order. {0} is empty and safe to free.
 */
struct run_index {
	uint32_t *first; /* [nnodes + 1] */
	uint32_t *id;
};

/* 0 or -ENOMEM. Free in either case. */
int run_index_instances(struct run_index *x, const struct run *r);
int run_index_series(struct run_index *x, const struct run *r);
int run_index_metas(struct run_index *x, const struct run *r);
/* The same, a node's by key; of what was said again the last comes last. */
int run_index_keys(struct run_index *x, const struct run *r);
void run_index_free(struct run_index *x);

#endif
