/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row.h - one batch system: its variables, and what of it takes code.
 *
 * A system is one file, job/scheduler_NAME.c with const struct scheduler scheduler_NAME, and one
 * line in src/schedulers.def. The first row whose signs are all set is the job's.
 */
#ifndef SONDE_JOB_SCHEDULER_ROW_H
#define SONDE_JOB_SCHEDULER_ROW_H

#include "job/scheduler/scheduler.h"

enum { SCHEDULER_NAMES = 4 };

struct scheduler {
	const char *name, *title; /* "slurm", "Slurm" */
	const char *sign[2];      /* variables that are set in its jobs and nowhere else */
	const char *text[BATCH_TEXTS][SCHEDULER_NAMES]; /* variables; the first that is set */
	const char *number[BATCH_NUMBERS][SCHEDULER_NAMES];
	/* After these: the id, the nodes, and what is not one variable each. */
	void (*read)(struct batch_job *j, char *const *environment, const char *host);
};

extern const struct scheduler *const schedulers[];
extern const size_t nschedulers;

/* The variable's value, NULL when it is not set or empty. */
const char *batch_variable(char *const *environment, const char *name);
/* A number >= 0 and nothing else; -1 when it is not. NULL is not. */
int64_t batch_number(const char *text);
/* Keep a text that is in no variable. NULL when there is no more room: absent. */
const char *batch_word(struct batch_job *j, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Remember the first thing that could not be read. */
void batch_fault(struct batch_job *j, const char *what, const struct err *e);
/* The n-th number of "2(x3),1"; for all of them when they are alike and n < 0. -1: not told. */
int64_t batch_repeated(const char *text, int64_t n);
/* Which task this process is; -1: not told. */
struct batch_ranks {
	int64_t rank, ranks, local_rank, local_ranks;
};
/* As the batch system says. Not when mpirun started this process: then they are its daemon's, nor
 * what an interface below the system tells otherwise. */
void batch_ranks(struct batch_job *j, const struct batch_ranks *r);
/* This node's place among the job's: by its host name, else as a variable says. Sets node. */
void batch_place(struct batch_job *j, const char *host);

/*
 * Lists that name a node once for each slot, or with their number: files and variables of
 * PBS, OAR, LSF and Grid Engine.
 *
 * The text is hostile. Nodes are in the order in which they are named first.
 */

struct listed_slots {
	const char *name;
	size_t len;
	int64_t n;
};

/* Take one from *p on. False at the end, or at what is none. */
typedef bool (*slot_next)(const char **p, struct listed_slots *out);
bool slot_word(const char **p, struct listed_slots *out); /* "a a b": one each */
bool slot_pair(const char **p, struct listed_slots *out); /* "a 2 b 1" */
bool slot_row(const char **p, struct listed_slots *out);  /* "a 2 rest of the line\nb 1 ..." */

/* Where they are: variables of one form, each with the text or the path of a file. */
struct slots_source {
	const char *variable[4];
	bool are_files;
	slot_next next;
};

struct slots {
	int64_t here, all; /* -1: not known */
};

#endif
