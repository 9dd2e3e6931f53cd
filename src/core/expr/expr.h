/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expr.h - the one evaluator: formulas of derived metrics, verdict rules, gates.
 *
 * Grammar: numbers (with k M G Ki Mi Gi % suffixes), names [a-z][a-z0-9_.]*; + - * / unary -;
 * < <= > >= == !=; and or not; if(c, a, b), min(...), max(...), abs(x), known(x); any other
 * function(name) or function("text"), min(name) and max(name) included, is the caller's to answer.
 * Absence spreads: an operation on an absent value is absent, but known(), and/or decided by the
 * other side, and if() with a known condition. Division by zero and overflow are absent. No loops,
 * bounded depth.
 */
#ifndef SONDE_CORE_EXPR_EXPR_H
#define SONDE_CORE_EXPR_EXPR_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum { EXPR_STACK_MAX = 64 };

struct expr; /* parsed, immutable */

struct expr_value {
	bool known;
	double v;
};

/* Looks a name up, or a call with one name as its argument: mean(node.load) asks ("mean",
 * "node.load"). function is NULL for a bare name. Each place where a name stands in the text has
 * its own pointer, the same in expr_names and expr_eval, which visit them in the same order. */
typedef struct expr_value expr_lookup(void *ctx, const char *function, const char *name);

/* 0, or -EINVAL with a sentence that gives the column (1-based) of the fault. */
int expr_parse(struct expr **x, const char *text, struct err *e);
/* The same for who tells the place himself: *at is where in text the fault is, from 0 on. */
int expr_parse_at(struct expr **x, const char *text, size_t *at, struct err *e);
void expr_free(struct expr *x);
struct expr_value expr_eval(const struct expr *x, expr_lookup *lookup, void *ctx);
/* The same of n rows at once, in a column where NAN is absent: what is looked up goes to out[n].
 * The stack has room for EXPR_STACK_MAX columns; the first one is the answer. */
typedef void expr_look_up_column(void *ctx, const char *function, const char *name, double *out);
void expr_eval_column(const struct expr *x, expr_look_up_column *look_up, void *ctx, size_t n,
		      double *stack);
/* Whether it may be known where names may be that are looked up as known; else it never is,
 * whatever their values are. */
bool expr_may_be_known(const struct expr *x, expr_lookup *may, void *ctx);
/* Whether it is one bare name less another, and nothing else. */
bool expr_is_difference(const struct expr *x);
/* Visit each name the expression asks for (with its function or NULL). */
void expr_names(const struct expr *x,
		void (*visit)(void *ctx, const char *function, const char *name), void *ctx);

#endif
