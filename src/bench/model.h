/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - an indicator's columns: what its parameters and results are called, of which type they
 * are, and which of them says how good it is.
 *
 * Declared in a text file (docs/bench.md), or derived from the first result and then checked. In
 * the store each indicator has a table of its own with these columns; a change of columns makes
 * another version of the model, and the table is changed with it. {0} is empty and safe to free.
 */
#ifndef SONDE_BENCH_MODEL_H
#define SONDE_BENCH_MODEL_H

#include "bench/contract.h"
#include "core/expr/expr.h"

enum model_type {
	MODEL_INT = 0,
	MODEL_REAL, /* whole numbers, too */
	MODEL_TEXT,
	MODEL_BOOL,
	MODEL_ANY,  /* a text, a number, true or false: kept as a text */
	MODEL_JSON, /* anything, kept as JSON */
	MODEL_TYPES
};

/* Bytes of a table's name: PostgreSQL takes 63, and indexes have a number behind it. */
enum { MODEL_TABLE = 55 };

/* Of a parameter: does it say what is to be done, or how? Not said: its name is a guess. */
enum model_role { MODEL_NO_ROLE = 0, MODEL_WORKLOAD, MODEL_CHOICE, MODEL_ROLES };
const char *model_role_name(enum model_role r);  /* NULL: none was said */
enum model_role model_role_of(const char *name); /* NULL or another word: none */

struct model_column {
	const char *name; /* of a declared one a glob: "*_average" */
	const char *unit; /* NULL: none was said */
	enum model_type type;
	bool is_result, indexed, required;
	enum model_role role;
	uint32_t since; /* version of the model that brought it */
};

/* What a model's file asks by name; each text as it stands there, and checked. */
enum { QUERY_SHOWN = 48, QUERY_CONDITIONS = 16, QUERY_ORDERS = 4, QUERY_LIMIT = 1000000 };

struct model_query {
	const char *name;
	const char *show[QUERY_SHOWN];           /* columns, figures, facts; none: all columns */
	const char *condition[QUERY_CONDITIONS]; /* "matrix_size>=512": bench/campaign/campaign.h */
	const char *order[QUERY_ORDERS];         /* the first counts first */
	bool descending[QUERY_ORDERS];
	uint32_t nshow, nconditions, norders;
	uint32_t limit; /* 0: none */
};

/* A check: what one of its columns has to be by the others, such as a rate by operations
 * and time.
 *
 * Written as "rate ~ size^3 / elapsed / 1e6 within 1%", with the formulas of core/expr/expr.h,
 * whose names are columns and figures of trials. A trial that fails one is reported, and counts as
 * before. */
struct model_check {
	const char *text; /* all of it, as it was written */
	const char *name; /* the column */
	struct expr *computed;
	double tolerance; /* 0.01: one percent of what is computed */
};

struct model {
	const char *name, *table; /* table: in the store; "trials_pi_matmul" */
	struct model_column *column;
	uint32_t ncolumns, cap;
	struct model_query *query; /* of a declared one */
	uint32_t nqueries, query_cap;
	struct model_check *check;
	uint32_t nchecks, check_cap;
	const char *score;  /* the column that says how good it is; NULL: none */
	double worst, best; /* of its values: stand for -1 and 1 */
	bool declared;
	uint32_t version;
	int64_t id; /* in the store; 0: it is not there */
	struct pool pool;
};

struct models {
	struct model *model;
	uint32_t n, cap;
};

/* Those of a text add to the others, or stand in place of one of the same name. name is what errors
 * call it: "site.model:3:5: ...". 0 or -errno with a sentence. */
int models_parse(struct models *m, const char *name, const char *text, size_t n, struct err *e);
const struct model *models_find(const struct models *m, const char *name);
void models_free(struct models *m);

/* Name and table; no columns. 0 or -ENOMEM. */
int model_init(struct model *m, const char *name);
void model_free(struct model *m);
/* NULL: it has no such column. In a model of the store no name is a glob. */
const struct model_column *model_find(const struct model *m, const char *name);
/* NULL: it has no such query. */
const struct model_query *model_find_query(const struct model *m, const char *name);
/* The name is copied. 0 or -ENOMEM. */
int model_add(struct model *m, const struct model_column *c);

/* Is what a result says of this type? null is of every type. */
bool model_fits(enum model_type type, const struct jsontree *v);
/* Of a value whose model is not declared. */
enum model_type model_type_of(const struct contract_value *v);
const char *model_type_name(enum model_type t);
/* 0, or -EBADMSG: a value is of another type, is missing, or is none of a declared model's (of
 * others it brings a column). */
int model_check(const struct model *m, const struct contract *c, struct err *e);
/* The score, -1..1, that a result's value of its score column stands for; NAN: none. */
double model_score(const struct model *m, const struct contract *c);

/* Is a parameter of that name what is to be done: its size, how often? As its model says, else by
 * its name; m may be NULL. */
bool model_is_workload(const struct model *m, const char *name);

/* ---- checks ---- */

/* Adds one. 0; -EINVAL with a sentence, and *at is where in text its fault is; -ENOMEM. */
int modelcheck_add(struct model *m, const char *text, size_t *at, struct err *e);
/* Adds those of modelcheck_texts. 0, -EBADMSG: it is none of these, -ENOMEM. */
int modelcheck_add_all(struct model *m, const char *texts, struct err *e);
/* All of a model, a line each, as the store keeps them; empty: it has none. */
void modelcheck_texts(const struct model *m, struct bytes *out);
bool modelcheck_are_same(const struct model *a, const struct model *b);
void modelcheck_free(struct model *m); /* then it has none */

/* Is what a trial reports what it has to be? False also when one of both is not known, which is
 * NAN. */
bool modelcheck_fails(const struct model_check *x, double reported, double computed);

#endif
