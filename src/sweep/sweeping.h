/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweeping.h - a sweep while it is at work: what it read, where it is, what came of each
 * combination.
 */
#ifndef SONDE_SWEEP_SWEEPING_H
#define SONDE_SWEEP_SWEEPING_H

#include "bench/sweep/sweep.h"
#include "bench/sweep/sweepspace.h"
#include "bench/sweep/sweepspec.h"
#include "session/sitesecrets.h"
#include "sweep/stack.h"
#include "trial/beside.h"

#include <stddef.h>

enum { SWEEP_UID = 17, SWEEP_ARGV = SWEEP_WORDS + 16 };

/* A combination that was chosen. */
struct swept {
	uint32_t combination, at[SWEEP_AXES];
	const char *parameters; /* as a JSON object */
	const char *skipped;    /* why it is not run; NULL: it is */
	const char *missing;    /* why some of its trials were not run elsewhere; NULL: not told */
	struct trial_batch batch; /* id 0: it was not begun */
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
	char common[SHA256_HEX]; /* of what all combinations have (sweep/known.c) */
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
/* Of a combination: its name for people: "stack, environment, A=1 B=2". */
const char *sweeping_stack(const struct sweeping *x, const struct swept *p);
const char *sweeping_environment(const struct sweeping *x, const struct swept *p);

/* ---- successive halving (bench/sweep/sweepspace.h) ---- */

/* Once the matrix is known: its rounds, and how many trials a combination gets at most, which is
 * its batch_size. Does nothing for other decisions. -EINVAL: the budget is too small. */
int sweephalving_plan(struct sweeping *x, struct err *e);
/* Of those that were opened: run, which runs what is missing of those from first on, for each
 * round.
 */
int sweephalving_run(struct sweeping *x,
		     int (*run)(struct sweeping *x, uint32_t first, struct err *e), struct err *e);

/* ---- trials.c ---- */

/* One trial of it, unless it is there, or another runs it. */
int sweeping_trial(struct sweeping *x, struct swept *p, int64_t number, struct err *e);
/* The trials of those that were entered from the first on, in the order they are run; free it. NULL
 * with a sentence: out of memory. */
struct sweep_turn *sweeping_turns(struct sweeping *x, uint32_t first, int64_t *n, struct err *e);
/* All that are missing of these, here. */
int sweeping_run(struct sweeping *x, uint32_t first, struct err *e);
/* For the places: a trial has ended. */
void sweeptrial_ended(void *ctx, struct trial_place *place, int rc);
/* Waits for one that was killed a moment ago, whose trial may still be ending. A descriptor, or
 * -EAGAIN: it is held, or -errno. */
int sweepfiles_hold(const char *path, int seconds);

/* ---- known.c: what another sweep has run ---- */

/* Of a specification: the digest of what all its combinations have in common. False: out of memory.
 */
bool sweepknown_common(const struct jsontree *document, char out[SHA256_HEX]);
/* Names the batch of a combination: as the store has it, if this sweep has opened it before. */
int sweepknown_name(struct sweeping *x, struct swept *p, struct err *e);
/* Tells on stderr how many trials are there already, if any are. */
void sweepknown_say(const struct sweeping *x);

/* ---- expand.c: stacks whose requirements are ranges become concrete ones ---- */

/* name: what errors call the document. 0, -EBADMSG with a sentence, -errno. */
int sweepexpand(struct sweeping *x, struct jsontree *document, const char *name, struct err *e);

/* ---- host.c: does this machine have what a sweep asks for? ---- */

/* False, and why says all that is missing. What the machine does not tell of itself is not missed.
 */
bool sweephost_has(const struct sweep_needs *n, char *why, size_t size);

/* ---- slurm.c: trials as elements of job arrays ---- */

/* Until all are done, or Slurm has no more of them. 0 or -errno with a sentence. */
int sweepslurm_run(struct sweeping *x, struct err *e);
/* The trial of this element (SLURM_ARRAY_TASK_ID) of the array whose list that is. */
int sweepslurm_element(struct sweeping *x, const char *list, struct err *e);

/* ---- print.c: what it would run, and the report of what it ran ---- */

/* The combinations in the order they would be tried. EXIT_OK, or another code, and it has said why.
 */
int sweepprint_plan(struct sweeping *x);
/* What came of them, also to report.json of the sweep's directory. *well: no trial failed or is
 * missing. */
int sweepprint_report(struct sweeping *x, bool *well);

#endif
