/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waiting.h - the wall time of a run's threads: on a CPU, ready while others had it, and waiting,
 * by what was waited for, in which function, and by whom.
 *
 * The parts add up to the time during which threads were watched. What is not known for what is a
 * part of its own.
 */
#ifndef SONDE_CORE_STACKS_WAITING_H
#define SONDE_CORE_STACKS_WAITING_H

#include "core/stacks/stacks.h"
#include "core/stacks/waitkind.h"

/* Seconds of threads. */
struct waiting_time {
	double on_cpu, ready;
	double unseen;         /* waited, but not looked at in time */
	double forbidden;      /* waited, and may not be looked at */
	double by[WAIT_KINDS]; /* waited, by kind */
};
/* Its parts, in this order. */
enum waiting_part {
	WAITING_ON_CPU,
	WAITING_READY,
	WAITING_UNSEEN,
	WAITING_FORBIDDEN,
	WAITING_FIRST_KIND, /* then the other kinds of wait */
	WAITING_PARTS = WAITING_FIRST_KIND + WAIT_KINDS
};
double waiting_part(const struct waiting_time *t, enum waiting_part part);
double waiting_waited(const struct waiting_time *t); /* for whatever it was */
double waiting_wall(const struct waiting_time *t);
/* Of most of what was waited, with its seconds; 0 seconds: nothing. */
enum wait_kind waiting_most(const struct waiting_time *t, double *seconds);

enum waiting_by {
	WAITING_BY_OBJECT,
	WAITING_BY_FUNCTION,
	WAITING_BY_PLACE, /* object and function */
	WAITING_BY_CLASS, /* kind of wait */
	WAITING_BY_COMMAND,
	WAITING_BY_PROCESS,
	WAITING_BY_THREAD,
	WAITING_BY_RANK,
	WAITING_BY_NODE,
	WAITING_BY_PHASE, /* only if phases were given */
	WAITING_BY_NUMBER_OF
};
extern const char *const waiting_by_names[WAITING_BY_NUMBER_OF];

/* What it is of is set, the rest is 0 or NULL. */
struct waiting_row {
	const char *name;          /* for reading; hostile text, but of BY_CLASS */
	const char *object;        /* BY_OBJECT, BY_PLACE: of its kind; "": no more is known */
	enum wait_kind kind;       /* BY_OBJECT, BY_PLACE, BY_CLASS */
	const char *function;      /* BY_FUNCTION, BY_PLACE: whole; "": not known */
	const char *shown;         /* the same, for reading; never "" */
	const char *module, *file; /* the same: paths; or NULL */
	uint32_t line;             /* of file; 0: not known */
	uint32_t code;             /* the same: in stacks.functions */
	const char *command;       /* of the process */
	uint32_t node, instance, tid;
	double rank; /* BY_RANK; NAN: of no rank */
	struct waiting_time time;
	uint32_t id; /* where it was before they were sorted */
};

/* What one thread waited at one place: rows BY_THREAD and BY_PLACE. */
struct waiting_spot {
	const struct waiting_row *thread, *place;
	double seconds;
};

struct waiting {
	struct stacks *stacks; /* all of the samples, as functions */
	struct waiting_time time;
	struct waiting_rows {
		struct waiting_row *row; /* most waited first */
		uint32_t n;
	} rows[WAITING_BY_NUMBER_OF];
	struct waiting_spot *spots; /* by thread, in the order of its rows, most first */
	uint32_t nspots;
	/* Seconds of processes by when they began and ended, and of these how many were watched. */
	double processes_s, watched_s;
	struct waiting_private *private;
};

struct phases;
/* NULL phases: no rows by phase. 0 or -errno with a sentence; *w NULL where no waits were recorded.
 * Not between next_ranges and values of the run. */
int waiting_open(struct waiting **w, struct run *r, const struct classes *c,
		 const struct phases *phases, struct err *e);
void waiting_close(struct waiting *w);

/* Where the time of a stack of the run goes, and the program's function that waits, in
 * stacks.functions (0: none, or not known). */
enum waiting_part waiting_part_of(const struct waiting *w, uint32_t stack, uint32_t *function);

/* Of a node of a fold of `stacks`: where most of the time below it goes; and of most of its own
 * waiting the program's function that waits, in stacks.functions (0: not known, or none). */
struct waiting_node {
	enum waiting_part part;
	uint32_t function;
};
/* out: of each of its nodes. 0 or -ENOMEM. */
int waiting_nodes(const struct waiting *w, const struct stacks_fold *f, struct waiting_node *out);

#endif
