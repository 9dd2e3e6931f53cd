/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derive_plan.h - what is to be made of a run: which public values there are and what each comes
 * from.
 *
 * A quantity is a metric under its public name. A cell is a quantity of one instance, or of the
 * node (instance 0); several series of the same thing share a cell. Cells of one instance lie side
 * by side and belong to a holder. Made once when a frame is opened; holds no values. Index 0 means
 * none.
 */
#ifndef SONDE_CORE_FRAME_DERIVE_PLAN_H
#define SONDE_CORE_FRAME_DERIVE_PLAN_H

#include "core/expr/expr.h"
#include "core/frame/frame.h"

struct quantity {
	const struct metric *metric;
	char *name; /* public name: of the rate where it is one */
	enum unit unit;
	bool rate;        /* of a counter, per second */
	bool interval;    /* a rate, or made from one: it is of the time before the reading */
	uint32_t same_as; /* the first quantity of this name and unit: itself, or the one used
			     instead */
	bool chosen;      /* by the selection */
	bool needed;      /* chosen, or an input of what is */
	uint8_t visit;
	struct expr *formula; /* NULL: measured */
	uint32_t first_input, ninputs;
};

/* A rate is a gauge. */
static inline const char *quantity_kind(const struct quantity *q)
{
	return kind_name(q->rate ? KIND_GAUGE : q->metric->kind);
}

/* A place in a formula where a name stands. */
struct input {
	const char *at;    /* the expression's own pointer */
	uint32_t quantity; /* 0: the run has no such thing */
};

enum cell_role { CELL_MEASURED = 0, CELL_DERIVED, CELL_COMBINED };

struct cell {
	uint32_t holder, quantity;
	uint32_t first_source; /* derived: plan.source, one for each input of the quantity */
	uint32_t combined;     /* the node's cell that this instance's value goes into */
	uint32_t member;       /* of a device's that goes into one: its number, 1 .. plan.nmembers;
				* of the whole: its first member */
	enum cell_role role;
	bool emitted;
	bool kept;       /* set by who wants it in rows, whatever ranges say */
	bool may_be;     /* known, by what it is made from */
	bool in_rows;    /* emitted, or needed for what is */
	bool ranged;     /* emitted, or a part of a difference, but not in rows: see
			  * plan_leave_to_ranges */
	bool difference; /* ranged: of its two sources, which are, too */
};

struct holder {
	uint32_t node, instance, first, ncells;
};

struct plan {
	const struct run *run;
	struct quantity *quantity; /* [run->nmetrics] */
	struct input *input;
	uint32_t *derived; /* quantities with a formula, inputs before what uses them */
	struct cell *cell;
	struct holder *holder;
	uint32_t *node_holder; /* [run->nnodes] */
	uint32_t *node_cell;   /* [run->nnodes]: first of its cells; the last is its holder's */
	uint32_t *source;
	uint32_t *series_cell;                /* [run->nseries] */
	uint8_t *wanted;                      /* [run->nseries], for run.next_chunk */
	uint32_t first_series, behind_series; /* what is wanted is among these */
	uint32_t ninputs, nderived, ncells, nholders, nsources, nmembers;
	uint32_t input_cap, cell_cap, holder_cap, source_cap;
};

/* 0 or -errno. Free in either case. */
int plan_make(struct plan *p, const struct run *r, const struct selection *sel, struct err *e);
void plan_free(struct plan *p);
/* For who wants statistics, not rows: what is only measured, and nothing else is made of, leaves
 * the rows; the ranges of its series (core/frame/run.h) say as much. So does a difference of two
 * such, which tell it as long as the first is the same all the time. */
void plan_leave_to_ranges(struct plan *p);

/* The first step of plan_make: names, formulas and what is needed. */
int plan_quantities(struct plan *p, const struct selection *sel, struct err *e);
/* Room for one more element after n; false when there is none. */
bool plan_grow(void **array, uint32_t n, uint32_t *cap, size_t size);

/* Whether a thing comes and goes (a process, a command), so that it has rows of its own and no
 * column. */
bool instance_passes(const struct run_instance *i);
/* Whether many of one name may be there, so that its number tells it from them. */
bool instance_is_numbered(const struct run_instance *i);

#endif
