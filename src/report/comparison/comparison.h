/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comparison.h - two groups of runs side by side: what differs in their machines and software,
 * every figure with its difference and interval (core/statistics/compare.h), and a gate of
 * conditions.
 *
 * Runs are added one by one and not kept; then it is judged, then shown. It holds figures and facts
 * and knows no recording, so that other repeated measurements can be compared by it. Every text of
 * a run is hostile. {0} is empty and safe to free.
 */
#ifndef SONDE_REPORT_COMPARISON_COMPARISON_H
#define SONDE_REPORT_COMPARISON_COMPARISON_H

#include "base/pool.h"
#include "core/expr/expr.h"
#include "core/metric.h"
#include "core/statistics/compare.h"
#include "report/comparison/blame.h"
#include "report/summary/summary.h"
#include "store/history.h"

/* Of runs: those compared, and those that only tell how much single runs vary. */
enum comparison_group { GROUP_A = 0, GROUP_B, GROUP_HISTORY, GROUP_NUMBER_OF };
enum { HISTORY_LEAST = 5, COMPARISON_FIGURES_MAX = 4096, COMPARISON_CONDITIONS_MAX = 64 };

struct comparison_run {
	const char *path, *command; /* command NULL: not known */
	const char *memory_kind;    /* what peak_memory_bytes is; NULL: not known */
	const char *energy_of;      /* what energy_joules is of; NULL: not known */
	enum comparison_group group;
	int64_t start_utc_ns; /* 0: not known */
	uint32_t hosts;
	bool touched; /* it knows which code touched the memory of its peak */
	bool stacks;  /* it knows the code that its CPU time went to */
};

/* One quantity, measured in each run. */
struct comparison_figure {
	const char *name; /* "wall_seconds", "mean(job.cpu_cores)", or the gate's own expression */
	enum unit unit;
	const char *unit_text; /* of UNIT_ONE, what its numbers are in: "GB/s"; NULL: not known */
	bool less_is_better;
	bool more_is_better; /* neither: a difference is neither worse nor better */
	bool leads;          /* one of the figures people quote */
	double *value;       /* [runs]; NAN: not known */
	struct compared result;
	bool of_code;      /* memory of a function: 0 in runs that know of others only */
	bool has_unit;     /* a run said which */
	bool unlike;       /* it does not mean the same in all runs, and so is not compared */
	uint32_t left_out; /* runs in which it is something else than in the others */
	uint32_t history;  /* values that its spread is known by; 0: that of the groups */
	uint32_t repeats;  /* needed in each group for an answer; 0: not known */
};

/* What --fail-if says: the figure may not be more (or less) by more than the threshold. */
enum verdict_of_gate { GATE_PASSED = 0, GATE_FAILED, GATE_INCONCLUSIVE };

struct comparison_condition {
	const char *text, *quantity; /* as it was typed; its left side */
	struct expr *expression;
	struct comparison_figure figure;
	bool more;     /* more of it fails, else less */
	bool if_known; /* nobody asked for it: without a value in any run it is not a condition */
	bool relative; /* the threshold is a share of A */
	double threshold; /* as a share or in the figure's unit, not negative */
	double p;         /* corrected for the number of conditions (Holm) */
	enum verdict_of_gate verdict;
};

/* A thing said of machines or jobs that is not the same in A as in B. */
struct comparison_fact {
	const char *key;
	const char *what;  /* "hardware", "software", "job", "environment", "input" */
	const char *a, *b; /* the values, each once, separated by ", "; NULL: nothing was said */
};

struct comparison_floor {
	const char *name;
	double v;
};

struct comparison {
	struct comparison_run *run; /* [capacity] */
	uint32_t nruns, capacity, n[GROUP_NUMBER_OF];
	struct comparison_figure *figure;
	uint32_t nfigures, figures_cap;
	struct comparison_condition condition[COMPARISON_CONDITIONS_MAX];
	uint32_t nconditions;
	struct comparison_floor floor[COMPARISON_CONDITIONS_MAX];
	uint32_t nfloors;
	struct comparison_fact *fact; /* those that differ */
	uint32_t nfacts;
	struct said *said; /* facts as they were said, until it is judged */
	uint32_t nsaid, said_cap;
	/* Of all runs of a group: whether it is known which files they read. */
	enum { INPUTS_ALL = 0, INPUTS_SOME, INPUTS_UNKNOWN } inputs[GROUP_NUMBER_OF];
	struct blame blame[BLAME_SUBJECTS]; /* where the difference lies */
	double margin, level;
	bool any_name;                /* conditions may ask for figures that no summary has */
	bool independent;             /* the order of the runs is not looked at */
	enum verdict_of_gate verdict; /* of all conditions */
	struct pool pool;
	bool failed; /* out of memory */
	uint32_t figures_left_out;
};

void comparison_init(struct comparison *x);
void comparison_free(struct comparison *x);

/* "wall_seconds>+5%", "cores_used<-10%", "max(job.pss_bytes)>+1Gi". 0, or -EINVAL with a sentence.
 */
int comparison_add_condition(struct comparison *x, const char *text, struct err *e);
/* "peak_memory_bytes=10Mi": a smaller difference of it does not matter. */
int comparison_add_floor(struct comparison *x, const char *text, struct err *e);
/* "5%" -> 0.05, "1Gi". False when it is none, or negative. */
bool comparison_number(const char *text, double *v, bool *relative);

/* After the conditions and before the runs: how many of these will come at most. 0 or -ENOMEM. */
int comparison_expect(struct comparison *x, uint32_t runs);
int comparison_add_run(struct comparison *x, enum comparison_group group, const struct run *r,
		       const struct summary *s);
/* One of GROUP_HISTORY, after all others: of what the history keeps. One that is there already (it
 * began when that did) is not added again. */
int comparison_add_past(struct comparison *x, const struct history *h, const struct history_run *r);

/* A quantity of something else than a recording, measured once. */
struct comparison_value {
	const char *name;
	enum unit unit;
	const char *unit_text; /* as of a figure */
	bool less_is_better, more_is_better, leads;
	double v; /* NAN: not known */
};

/* A run of which that is known; what is said of its machine is for comparison_say_text. */
int comparison_add_values(struct comparison *x, const struct comparison_run *run,
			  const struct comparison_value *value, uint32_t n);
/* A fact by its key, as in a recording's metadata. */
void comparison_say_text(struct comparison *x, const char *key, const char *text,
			 enum comparison_group group);
/* 0 or -ENOMEM. */
int comparison_judge(struct comparison *x);

/* Parts of it, for those files alone. */
struct comparison_figure *comparison_figure(struct comparison *x, const char *name);
void comparison_say(struct comparison *x, const struct run *r, enum comparison_group group);
void comparison_say_inputs(struct comparison *x, const struct files_used *u,
			   enum comparison_group group);
int comparison_facts(struct comparison *x);
void comparison_judge_gate(struct comparison *x);
/* Of code that some runs of a group have, those with stacks but without it used no time. */
void comparison_settle_times(const struct comparison *x, struct comparison_condition *c);
double comparison_floor_of(const struct comparison *x, const char *name, enum unit unit);

/* ---- how it is shown ---- */

/* "worse", "better", "more", "less", "same", "inconclusive", "unknown". */
const char *comparison_word(const struct comparison_figure *f);
/* Of a single run the share of pairs is all or none, whatever it is. */
bool comparison_has_effect(const struct comparison_figure *f);
/* "worse", "not worse", "inconclusive". */
const char *comparison_verdict(enum verdict_of_gate v);
/* "rate [GB/s]", where the numbers say no unit. Not escaped. Returns out. */
const char *comparison_title(const struct comparison_figure *f, const char *name, char *out,
			     size_t size);
/* "+5.0 %", or "+12.0 MiB" where A is 0; "unknown". Returns out. */
const char *comparison_change(const struct comparison_figure *f, double difference, char *out,
			      size_t size);
/* Why the gate says what it says: a sentence. Not escaped. */
void comparison_sentence(struct bytes *b, const struct comparison *x);
/* What was not compared; what one run each cannot tell, and what would. May be nothing. Not
 * escaped. */
void comparison_advice(struct bytes *b, const struct comparison *x);

void comparison_text(struct bytes *b, const struct comparison *x, bool all);
void comparison_json(struct bytes *b, const struct comparison *x);
void comparison_markdown(struct bytes *b, const struct comparison *x);

#endif
