/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule.h - one parsed rule, between its parser (rules.c) and its judge (judge.c).
 *
 * Owned by its struct rules; nothing changes after parsing.
 */
#ifndef SONDE_REPORT_RULE_H
#define SONDE_REPORT_RULE_H

#include "core/expr.h"
#include "report/rules.h"

enum { RULE_NEEDS = 8, SENTENCE_PARTS = 16 };

/* How a number is written in a sentence: with its unit, or in one of these ways. */
enum number_form {
	FORM_UNIT = 0,
	FORM_WHOLE,  /* rounded up to a whole number: 3.1 -> "4" */
	FORM_NUMBER, /* as it is: 127 -> "127" */
	FORM_SIGNAL, /* a signal's name: 9 -> "SIGKILL" */
};

struct sentence_part {
	char *text;     /* what stands before the number */
	struct expr *x; /* NULL: the sentence ends with this part */
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

struct rule {
	char *name, *about;
	struct rule_expr needs[RULE_NEEDS];
	size_t nneeds;
	struct rule_expr enough, when, threshold, from, to;
	enum severity severity;
	struct sentence say, cannot;
	char *proof;
};

struct rules {
	struct rule *rule;
	size_t n;
};

/* text is "{expression:form} and words". 0, -EINVAL with a sentence, or -ENOMEM. */
int sentence_parse(struct sentence *s, const char *text, struct err *e);
void sentence_free(struct sentence *s);
/* Writes the sentence with the summary's figures to out. */
void sentence_write(const struct sentence *s, const struct summary *sum, char *out, size_t size);

/* expr_parse, and every name in it must exist. 0, -EINVAL with a sentence, or -ENOMEM. */
int rule_expr_parse(struct expr **x, const char *text, struct err *e);

#endif
