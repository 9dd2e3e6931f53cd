/* SPDX-License-Identifier: Apache-2.0 */
/*
 * campaign.h - every trial of an indicator that a question is about: its figures, what the script
 * was asked to do, and the machine and software it ran on.
 *
 * What is asked of a trial by name is a parameter of its script, component, version, host or batch,
 * a result that is a text or a truth value, or a fact of its environment (host.cpu_model,
 * package.numpy). {0} is empty and safe to free.
 * Every text is hostile.
 */
#ifndef SONDE_BENCH_CAMPAIGN_CAMPAIGN_H
#define SONDE_BENCH_CAMPAIGN_CAMPAIGN_H

#include "bench/group.h"

struct bench_environment {
	int64_t id;
	struct bench_fact *fact; /* by name */
	uint32_t n, cap;
};

/* A combination of a sweep of which no trial said anything. */
struct campaign_gap {
	const char *where, *reason; /* "host, plain: X=1 Y=a" */
};

struct campaign {
	struct bench_group g;                  /* by the time of their start */
	struct bench_environment *environment; /* by id */
	uint32_t nenvironments, environment_cap;
	bool *left_out;           /* [g.ntrials] by conditions */
	const char *sweep;        /* the name of the one it is of; NULL: of none */
	struct campaign_gap *gap; /* of a sweep */
	uint32_t ngaps, gap_cap;
	struct pool pool;
};

int campaign_read(struct campaign *c, struct database *s, const char *indicator, struct err *e);
/* Of the sweep of that name or, the newest, identifier. What differs in its matrix (stack,
 * environment, parameters) is a parameter of its trials, too, unless the script says the same. */
int campaign_read_sweep(struct campaign *c, struct database *s, const char *name, struct err *e);
void campaign_free(struct campaign *c);

/* NULL: it is not known of that trial. Borrowed. */
const char *campaign_text(const struct campaign *c, uint32_t trial, const char *name);
/* NULL: none has such a figure. */
const struct bench_figure *campaign_figure(const struct campaign *c, const char *name);
/* By what name, or by the score, or else how long it took. -ENOENT with a sentence. */
int campaign_choose(const struct campaign *c, const char *name, const struct bench_figure **f,
		    struct err *e);
/* NULL: of an environment that is none, too. */
const char *bench_environment_text(const struct bench_environment *x, const char *name);
const struct bench_environment *campaign_environment(const struct campaign *c, uint32_t trial);

/* ---- conditions: "matrix_size=512", "package.numpy!=1.*", "peak_memory_bytes<4G" ---- */

enum campaign_relation {
	CAMPAIGN_IS = 0, /* a glob; of what is a number, that number, however it is written */
	CAMPAIGN_IS_NOT,
	CAMPAIGN_LESS,
	CAMPAIGN_AT_MOST,
	CAMPAIGN_MORE,
	CAMPAIGN_AT_LEAST
};

struct campaign_condition {
	char name[96], value[200];
	enum campaign_relation relation;
	double number; /* NAN: the value is not a number */
};

/* 0 or -EINVAL with a sentence. */
int campaign_condition_parse(struct campaign_condition *x, const char *text, struct err *e);
/* 1, 0, or -1: the trial says nothing of that name. */
int campaign_holds(const struct campaign *c, const struct campaign_condition *x, uint32_t trial);
/* What a trial says by that name, as a number where it is one, else NAN. False: nothing. */
bool campaign_value(const struct campaign *c, const char *name, uint32_t trial, const char **text,
		    double *number);
/* Leaves out what does not hold, or says nothing. -ENOENT with a sentence: no trial has anything of
 * that name. */
int campaign_where(struct campaign *c, const char *condition, struct err *e);

/* ---- named queries ---- */

struct campaign_answer {
	uint32_t *trial; /* [n] in the order that is asked for; what is not known comes last */
	uint32_t n;
	uint32_t nfound;  /* without the limit */
	uint32_t nfailed; /* that match, and are left out */
};

/* Leaves out what its conditions leave out. 0, -ENOENT, -ENOMEM; free in either case. */
int campaign_ask(struct campaign_answer *a, struct campaign *c, const struct model_query *q,
		 struct err *e);
void campaign_answer_free(struct campaign_answer *a);

/* ---- trials that are alike ---- */

/* CAMPAIGN_WORKLOAD: those parameters that say what is to be done, and not how. */
enum campaign_by {
	CAMPAIGN_PARAMETERS = 1,
	CAMPAIGN_HARDWARE = 2,
	CAMPAIGN_SOFTWARE = 4,
	CAMPAIGN_WORKLOAD = 8
};

struct campaign_group {
	const char *label; /* what tells it from the others: "dtype=float32 matrix_size=512"; "" of
			    * a single one */
	uint32_t *trial;   /* [n] those that are not left out, by the time of their start */
	uint32_t n;
};

struct campaign_groups {
	struct campaign_group *group; /* in the order of their first trials */
	uint32_t n;
	uint32_t *trial;
	struct pool pool;
};

/* by: campaign_by together; parameters have the component with them. Trials that said nothing are
 * in none. 0 or -ENOMEM with a sentence; free in either case. */
int campaign_group(struct campaign_groups *out, const struct campaign *c, unsigned by,
		   struct err *e);
void campaign_groups_free(struct campaign_groups *g);
/* Did the trial say what it was asked? */
bool campaign_said(const struct campaign *c, uint32_t trial);

#endif
