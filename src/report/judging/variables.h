/* SPDX-License-Identifier: Apache-2.0 */
/*
 * variables.h - what an expression in a rule may ask of a summary, as one table.
 *
 * Bare names are figures of the summary; mean(metric), max(...) and so on ask for a metric of the
 * run. A figure that is not known is absent, never 0. No rule is known here.
 */
#ifndef SONDE_REPORT_JUDGING_VARIABLES_H
#define SONDE_REPORT_JUDGING_VARIABLES_H

#include "core/expr/expr.h"
#include "report/summary/summary.h"

struct variable {
	const char *name;
	enum unit unit;
	const char *help; /* one sentence */
	size_t offset;    /* of a double in struct summary, unless made */
	bool flag;        /* of a bool */
	double (*make)(const struct summary *s);
};

struct variable_function {
	const char *name;
	const char *help;
	double (*of)(const struct summary *s, const char *metric);
	bool (*knows)(const char *metric); /* NULL: it is a metric, or may be a site's own */
};

/* A name that a sentence may hold: {oom_process:text}. */
struct text_variable {
	const char *name;
	const char *help;
	const char *(*of)(const struct summary *s); /* hostile; NULL or "": not known */
};

extern const struct variable variables[];
extern const size_t nvariables;
extern const struct variable_function variable_functions[];
extern const size_t nvariable_functions;

extern const struct text_variable text_variables[];
extern const size_t ntext_variables;

const struct text_variable *text_variable_find(const char *name);         /* NULL: no such */
const struct variable *variable_find(const char *name);                   /* NULL: no such */
const struct variable_function *variable_function_find(const char *name); /* NULL: no such */

/* Those that figures are made of as well. */
double variable_largest(const struct summary *s, const char *metric);
double variable_mean(const struct summary *s, const char *metric);

/* An expr_lookup; ctx is a const struct summary. */
struct expr_value variable_lookup(void *ctx, const char *function, const char *name);

#endif
