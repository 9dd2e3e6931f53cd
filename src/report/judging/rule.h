/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule.h - one parsed rule, between its parser (rules.c) and its judge (judge.c).
 *
 * Owned by its struct rules; nothing changes after parsing.
 */
#ifndef SONDE_REPORT_JUDGING_RULE_H
#define SONDE_REPORT_JUDGING_RULE_H

#include "base/text/textfile.h"
#include "core/expr/expr.h"
#include "report/judging/rules.h"

enum { RULES_MAX = 256, RULE_NEEDS = 8, SENTENCE_PARTS = 16 };

/* How a number is written in a sentence: with its unit, or in one of these ways. */
enum number_form {
	FORM_UNIT = 0,
	FORM_WHOLE,  /* rounded up to a whole number: 3.1 -> "4" */
	FORM_NUMBER, /* as it is: 127 -> "127" */
	FORM_SIGNAL, /* a signal's name: 9 -> "SIGKILL" */
	FORM_TENTHS, /* 1.84 -> "1.8" */
	FORM_TEXT,   /* a name, which is not a number: {oom_process:text} */
};

struct sentence_part {
	char *text;     /* what stands before the number */
	char *source;   /* of the expression; NULL: the sentence ends with this part */
	struct expr *x; /* NULL: likewise, or it is a text */
	enum number_form form;
	enum unit unit;
};

struct sentence {
	char *source; /* as it was written; NULL: no sentence */
	struct sentence_part part[SENTENCE_PARTS];
	size_t nparts;
};

/* An expression with the text it was made from; x NULL: not given. */
struct rule_expr {
	char *source;
	struct expr *x;
};

/* Which of the nodes and devices that have the proof's metric is meant. */
enum rule_where { WHERE_ALL = 0, WHERE_MOST, WHERE_LEAST, WHERE_NUMBER_OF };
/* The time that proves it: while the metric was on that side of the threshold. */
enum rule_during { DURING_ALL = 0, DURING_ABOVE, DURING_BELOW, DURING_NUMBER_OF };

/* What its cost is a part of: the time that others left the job, or the whole run. */
enum rule_part { PART_OF_OWN = 0, PART_OF_RUN, PART_NUMBER_OF };

struct rule {
	char *name, *about;
	char *theme; /* NULL: none was given */
	struct rule_expr needs[RULE_NEEDS];
	size_t nneeds;
	struct rule_expr enough, when, threshold, from, to, margin;
	struct rule_expr cost;    /* seconds of wall time lost, at most */
	struct rule_expr weight;  /* seconds of the run it is about, where the cost is not known */
	char *excludes, *yields;  /* names of other rules, a space before and behind each */
	struct rule_expr request; /* how much of the resource to ask for, without the margin */
	enum resource resource;
	enum severity severity;
	enum confidence confidence;
	enum rule_where where;
	enum rule_during during;
	enum rule_part part_of;
	struct sentence say, cannot;
	struct sentence briefly; /* said where a verdict before it names what used the CPU time */
	char *proof;
};

/* A kind of errors that programs print: error(NAME) of a rule. */
struct rule_error {
	char *name;
	char *words;  /* by which a line is known: "permission denied | EACCES" */
	char *advice; /* one sentence */
};

enum { RULE_ERRORS_MAX = 128 };

struct rules {
	struct rule *rule;
	size_t n;
	struct rule_error *error; /* in their order: the first that a line has is its kind */
	size_t nerrors;
};

/* That the line is of; NULL: of none. */
const struct rule_error *rule_error_of(const struct rules *rules, const char *line);

/* text is "{expression:form} and words". 0, -EINVAL with a sentence, and *at where in text the
 * fault is, or -ENOMEM. */
int sentence_parse(struct sentence *s, const char *text, size_t *at, struct err *e);
void sentence_free(struct sentence *s);
/* Writes the sentence with the summary's figures to out. */
void sentence_write(const struct sentence *s, const struct summary *sum, char *out, size_t size);
/* The numbers that it holds, each once. */
void sentence_numbers(const struct sentence *s, const struct summary *sum,
		      struct summary_verdict *v);

/* expr_parse_at, and every name in it must exist. */
int rule_expr_parse(struct expr **x, const char *text, size_t *at, struct err *e);

#endif
