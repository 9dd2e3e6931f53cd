/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweeping.h - a sweep while it is at work: what it read, where it is, what came of each
 * combination.
 */
#ifndef SONDE_SWEEP_SWEEPING_H
#define SONDE_SWEEP_SWEEPING_H

#include "bench/sweep/halving.h"
#include "bench/sweep/sweep.h"
#include "session/sitesecrets.h"
#include "sweep/sweepstack.h"
#include "trial/beside.h"

enum { SWEEP_UID = 17, SWEEP_ARGV = SWEEP_WORDS + 16 };

/* A combination that was chosen. */
struct swept {
	uint32_t combination, at[SWEEP_AXES];
	const char *parameters; /* as a JSON object */
	const char *skipped;    /* why it is not run; NULL: it is */
	const char *missing;    /* why some of its trials were not run elsewhere; NULL: not told */
	struct batch batch;     /* id 0: it was not begun */
	char batch_uid[48];
	int64_t wanted; /* trials up to this number */
	bool is_out;    /* it gets no more of them */
	bool *done;     /* [batch_size], as the store had it when it was last asked */
	bool *warm;     /* [jobs], in which places the runs before its first trial were made */
};

/* What a place of trials needs while one runs there. */
struct sweep_trial {
	char *argv[SWEEP_ARGV];
	struct option_list environment;
	struct bench_facts varied;
	char claim[PATH_MAX]; /* the file that says that it runs */
};

struct sweeping {
	const struct sweep_options *o;
	struct pool pool;
	struct sweep_spec spec;
	struct sweep_faults faults; /* all that is wrong with the specification */
	struct sweep_space space;
	struct sweep sweep;
	struct bytes text; /* the specification, with what it names, as JSON */
	struct bytes kept; /* the same without secrets, for the store */
	const struct secret_list *secrets;
	char uid[SWEEP_UID], sha256[SHA256_HEX], host[256];
	char common[SHA256_HEX]; /* of what all combinations have (sweep/sweepknown.h) */
	char script[PATH_MAX];   /* what is executed; its digest is sha256 */
	bool builtin; /* it is the helper, whose first word is the specification's script */
	char origin[PATH_MAX + 16];
	char folder[PATH_MAX]; /* where the specification lies */
	char work[PATH_MAX];   /* where trials run */
	char cache[PATH_MAX];
	struct models models;
	struct trial_store store;
	struct recording_options recording;
	struct stack_made *stack;     /* [spec.nstacks] */
	struct bench_facts *software; /* [spec.nstacks] */
	struct bench_facts tree;      /* that the script is from */
	bool tree_is_known;           /* it was asked, also if there is none */
	char lacks[512];              /* what this machine does not have; "": nothing */
	struct swept **swept;         /* in the order they were chosen */
	uint32_t nswept, cap;
	uint32_t *order; /* [norder], of what needs no result */
	struct halving halving;
	const struct swept *best; /* that successive halving ended with; NULL: none */
	int64_t norder;
	bool refused; /* the scheduler did not take trials */
	int lock;     /* descriptor; -1: none */
	struct beside beside;
	struct sweep_trial *trial; /* [beside.n] */
};

struct sweep_options {
	const char *store, *output, *stacks, *element;
	int64_t executor, interval_ns, jobs;
	struct option_list models;
	bool dry_run, quiet, json, fetch;
};

enum sweep_executor { SWEEP_LOCAL = 0, SWEEP_SLURM };

/* Reads the specification. -EINVAL when it is none. */
int sweeping_read(struct sweeping *x, const char *path, struct err *e);
/* Opens the store, makes its directory, takes its lock. */
int sweeping_begin(struct sweeping *x, struct err *e);
/* The same for one that another process leads. */
int sweeping_join(struct sweeping *x, struct err *e);
void sweeping_end(struct sweeping *x);

/* The next combination to try is entered; NULL: there is none, or *rc says what is wrong. */
struct swept *sweeping_next(struct sweeping *x, int *rc, struct err *e);
/* That one, in that place. */
struct swept *sweeping_enter(struct sweeping *x, uint32_t combination, int *rc, struct err *e);
/* Adds the words behind the script to n others. How many there are then; 0: out of memory. */
uint32_t sweeping_arguments(struct sweeping *x, const struct swept *p, char *argv[SWEEP_ARGV],
			    uint32_t n);
/* Puts it into the store, or finds it there. */
int sweeping_open(struct sweeping *x, struct swept *p, struct err *e);

/* ---- sweeptrial.c ---- */

/* One trial of it, unless it is there, or another runs it. */
int sweeping_trial(struct sweeping *x, struct swept *p, int64_t number, struct err *e);
/* The trials of those that were entered from the first on, in the order they are run; free it. NULL
 * with a sentence: out of memory. */
struct sweep_turn *sweeping_turns(struct sweeping *x, uint32_t first, int64_t *n, struct err *e);
/* All that are missing of these, here. */
int sweeping_run(struct sweeping *x, uint32_t first, struct err *e);
/* For the places: a trial has ended. */
void sweeptrial_ended(void *ctx, struct trial_place *place, int rc);

/* ---- both ---- */

/* Of a combination: its name for people: "stack, environment, A=1 B=2". */
const char *sweeping_stack(const struct sweeping *x, const struct swept *p);
const char *sweeping_environment(const struct sweeping *x, const struct swept *p);

#endif
