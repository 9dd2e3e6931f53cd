/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks.h - where time went in code: the samples of a run as a tree of functions, and as rows by
 * function, line, library, kind of code, process, thread, rank and node.
 *
 * The one place where self and total are made. What is measured is in the unit of its kind: seconds
 * of CPU time, bytes. Inlined functions are nodes of the tree as those that are called are.
 */
#ifndef SONDE_CORE_STACKS_STACKS_H
#define SONDE_CORE_STACKS_STACKS_H

#include "core/frame/run.h"
#include "core/stacks/classes.h"

/* Is that measured in bytes, or in seconds? */
static inline bool stacks_in_bytes(enum sample_kind kind)
{
	return kind == SAMPLE_FAULTS || kind == SAMPLE_RESIDENT;
}
/* The name of memory that no sample is of. */
#define STACKS_UNSEEN "(without samples)"

/* Which samples; {0}: those of CPU time, all of them. */
struct stacks_selection {
	enum sample_kind kind;
	uint32_t node, instance, tid; /* 0: all */
	double from_s, to_s;          /* since the run began; both 0: all */
	const char *command;          /* of the process; NULL: all */
	const int64_t *at_ns; /* of each node's samples those of this moment; NULL: of any */
};

/* Code of one name in one program or library. functions[0] is code of which nothing is known. */
struct stacks_function {
	const char *name;  /* whole: hostile text of any length; "": not known, and then all such
			    * code of the module is one */
	const char *shown; /* short, never "": "std::sort", "libz.so.1 (no symbols)", "(unknown)" */
	const char *module; /* a path; "": not known */
	uint32_t module_id; /* in run.modules */
	uint32_t class;     /* that has it; 0: none has */
	bool named;         /* by its name, not its module's */
};

/* nodes[0] is all of it: roots are called from it. Parents are before their children. */
struct stacks_node {
	uint32_t parent, function;
	uint32_t class; /* what its self counts for, in classes.row */
	double self, total;
	double samples; /* of self */
};

enum stacks_by {
	STACKS_BY_FUNCTION,
	STACKS_BY_LINE,
	STACKS_BY_MODULE,
	STACKS_BY_CLASS,
	STACKS_BY_COMMAND, /* all processes of a name */
	STACKS_BY_PROCESS,
	STACKS_BY_THREAD,
	STACKS_BY_RANK,
	STACKS_BY_NODE,
	STACKS_BY_PHASE, /* only once stacks_phases_make was called */
	STACKS_BY_NUMBER_OF
};
/* "function" ... "phase" */
extern const char *const stacks_by_names[STACKS_BY_NUMBER_OF];

/* What it is of is set, the rest is 0 or NULL. */
struct stacks_row {
	const char *name;    /* for reading; hostile text */
	uint32_t function;   /* BY_FUNCTION, BY_LINE */
	uint32_t class;      /* BY_CLASS; BY_FUNCTION: of most of its self */
	const char *file;    /* BY_LINE; BY_FUNCTION: where most of its self is; or NULL */
	uint32_t line;       /* of file; 0: not known */
	const char *command; /* of the process, or of that with most of its self */
	uint32_t commands;   /* BY_FUNCTION: how many commands have some of its self */
	uint32_t node, instance, tid;
	double rank;        /* BY_RANK; NAN: of no rank */
	double self, total; /* total: with what it calls; where nothing calls, self */
	double samples;     /* of self */
};

struct stacks_rows {
	struct stacks_row *row; /* most self first; those of the same by total, then by name */
	uint32_t n;
};

struct stacks {
	struct run *run;
	const struct classes *classes;
	struct stacks_selection selection;
	double total;       /* of all that was selected */
	double samples;     /* how many samples that is */
	double effective;   /* as many samples of equal weight would have the same error */
	double cut;         /* of total: stacks that are not whole */
	double unoptimized; /* of total: functions compiled without optimization */
	struct stacks_function *functions;
	uint32_t nfunctions;
	struct stacks_node *nodes;
	uint32_t nnodes;
	struct stacks_rows rows[STACKS_BY_NUMBER_OF];
	struct stacks_private *private;
};

/* The classes are borrowed. 0 or -errno with a sentence. A run without samples has none: total 0.
 * Not between next_ranges and values of the run. */
int stacks_open(struct stacks **s, struct run *r, const struct classes *c,
		const struct stacks_selection *sel, struct err *e);
void stacks_close(struct stacks *s);

/* Rows by name of the phase: of those of its node in which the middle of a set of samples lies, the
 * innermost. 0 or -errno with a sentence. */
struct phases;
int stacks_phases_make(struct stacks *s, const struct phases *p, struct err *e);

/* Half the 95 % interval of a share 0..1 that was sampled: 1.96 sqrt(share (1 - share) / n), and
 * never less than one sample in n. 1 where there are none. */
double stacks_error(const struct stacks *s, double share);
/* As a share of all that was selected, 0..1; 0 of nothing. */
double stacks_share(const struct stacks *s, double part);

/* Of all functions whose short name matches one of these globs (separated by commas), with what
 * they call; once a stack. */
double stacks_matching(const struct stacks *s, const char *globs);

/* ---- for drawing: bounded, and exact in sum ---- */

/* The tree with at most `most` nodes (at least 2): the heaviest, and of those that had to be left
 * out one child, STACKS_OTHER, of the node that they are below. */
#define STACKS_OTHER UINT32_MAX /* as the function of a node */
struct stacks_fold {
	struct stacks_node *nodes; /* as in struct stacks; nodes[0] is all */
	uint32_t n;
	uint32_t *place; /* of each of stacks.nodes: where its self is now */
};
int stacks_fold_make(struct stacks_fold *f, const struct stacks *s, uint32_t most); /* 0, -ENOMEM */
void stacks_fold_free(struct stacks_fold *f);

enum stacks_group {
	STACKS_ALL = 0,
	STACKS_PER_NODE,
	STACKS_PER_RANK,
	STACKS_PER_COMMAND,
	STACKS_PER_PROCESS
};

/* Over time: what is wished, and what came of it. */
struct stacks_axis {
	double from_s, to_s;     /* of the run */
	uint32_t buckets;        /* of equal width; halved as long as there are too many cells */
	enum stacks_group group; /* groups[0]: of none of the others */
	uint32_t most_groups;    /* the heaviest; the rest is in 0 */
	uint32_t most;           /* cells */
	bool by_class;           /* place is a class, and no fold is needed */
	bool by_stack;           /* place is a node of run.stacks, and no fold is needed */
	const uint32_t *places;  /* of each node of run.stacks, and no fold is needed; or NULL */
};
struct stacks_cell {
	uint32_t group, bucket, place; /* place: a node of the fold */
	float value, samples;
};
struct stacks_cells {
	struct stacks_cell *cell; /* by group, then bucket, then place */
	uint32_t n;
	uint32_t buckets;
	double width_s;            /* of a bucket */
	struct stacks_row *groups; /* as BY_NODE ... BY_PROCESS; [0] is the rest */
	uint32_t ngroups;
};
/* Of a set of samples, each bucket gets the part of its time that lies in it; what is before or
 * after is in the first or last. 0 or -errno with a sentence. */
int stacks_cells_make(struct stacks_cells *c, struct stacks *s, const struct stacks_fold *f,
		      const struct stacks_axis *axis, struct err *e);
void stacks_cells_free(struct stacks_cells *c);

/* The function of one of run.frames. */
const struct stacks_function *stacks_function_of(const struct stacks *s, uint32_t frame);
/* The rank of the task that a process belongs to; NAN: of none. */
double stacks_rank(struct stacks *s, uint32_t instance);

#endif
