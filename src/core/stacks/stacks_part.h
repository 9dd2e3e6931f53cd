/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks_part.h - what the files of core/stacks/stacks.h, and of waiting.h, share. Nobody outside
 * includes this.
 */
#ifndef SONDE_CORE_STACKS_STACKS_PART_H
#define SONDE_CORE_STACKS_STACKS_PART_H

#include "base/pool.h"
#include "core/stacks/stacks.h"

struct waiting;
struct waiting_time;

/* What is counted by what: rows by a key, in the order in which they came. {0} is empty. */
struct tally_key {
	const char *text; /* by its contents; NULL as "" */
	uint32_t a, b, c;
};
struct tally_row {
	struct tally_key key;
	double self, samples;
};
struct tally {
	struct tally_row *row;
	uint32_t n, cap;
	uint32_t *slot; /* a hash table of rows, from 1 */
	uint32_t nslots;
};
/* The row of a key, added where it is new; texts are borrowed. 0 or -ENOMEM. */
int tally_find(struct tally *t, const struct tally_key *key, uint32_t *row);
void tally_free(struct tally *t);

/* What a stack of the run is, and what was sampled of it. */
struct stacks_place {
	uint32_t node; /* in stacks.nodes; 0: nothing of it was selected */
	uint32_t class;
	double self, total, samples;
};

struct stacks_line {
	uint32_t function, line;
	const char *file;
	double self, total, samples;
};

struct stacks_private {
	struct pool texts;
	struct stacks_place *place;              /* [run.nstacks]; 0: of an unknown stack */
	struct tally threads;                    /* command, node, instance, tid */
	struct tally leaves;                     /* command, function */
	struct tally functions, lines, children; /* of text and module; file, function, line; parent
						    and function */
	uint32_t *function_of, *line_of;         /* [run.nframes] */
	struct stacks_line *line;                /* [lines.n] */
	double *rank;                            /* [run.ninstances]; below 0: not asked yet */
	uint32_t *task;                          /* instances that are tasks with ranks */
	uint32_t ntasks;
	double square;
};

/* Of what a set of samples stands for, the part that is selected, 0..1; and one weight's value. */
double stacks_selected(const struct stacks *s, const struct run_samples *x);
double stacks_value(const struct run_samples *x);

/* The tree, once samples are counted by stack. 0 or -ENOMEM. */
int stacks_tree_make(struct stacks *s);
/* Functions and lines of all frames, before. 0 or -ENOMEM. */
int stacks_code_make(struct stacks *s);
/* All rows, after. 0 or -ENOMEM. */
int stacks_rows_make(struct stacks *s);

/* Of core/stacks/waiting.h. keys: the ids of rows BY_THREAD and BY_PLACE as a and b; time: of each.
 * After those rows. 0 or -ENOMEM. */
int waiting_spots_make(struct waiting *w, const struct tally *keys,
		       const struct waiting_time *time);

#endif
