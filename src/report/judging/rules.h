/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules.h - verdicts as data: rules read from text, applied to a summary.
 *
 * A rule speaks only when what it needs is known and there is enough of it; a name that is misspelt
 * is an error when the rules are read, not a silent rule. docs/verdicts.md says how a file is
 * written; it is generated from here. No file is found here: the caller says which.
 */
#ifndef SONDE_REPORT_JUDGING_RULES_H
#define SONDE_REPORT_JUDGING_RULES_H

#include "base/bytes.h"
#include "base/err.h"
#include "report/summary/summary.h"

struct rules;

/* text[0..len) need not end in NUL; name is what errors call it: "site.rules:12:7: ..." is line and
 * column. 0 or -EINVAL. */
int rules_parse(struct rules **rules, const char *name, const char *text, size_t len,
		struct err *e);
/* Add them to others; a name may be there once. What was added before a fault stays. */
int rules_add(struct rules *rules, const char *name, const char *text, size_t len, struct err *e);
/* The rules of a file, or of all files *.rules of a directory: 0 or -errno. */
int rules_read(struct rules **rules, const char *path, struct err *e);
/* Those that travel in the program. */
int rules_builtin(struct rules **rules, struct err *e);
void rules_free(struct rules *rules);

/* Judge s and keep its verdicts sorted, worst first. A verdict that an earlier rule of the same
 * name gave is taken back: a site's rule replaces the built-in one. */
void rules_apply(const struct rules *rules, struct summary *s);

/* The metrics that rules look at over time, appended to names: "node.load_1min,job.swap_bytes";
 * those of which they tell when they were beyond a threshold also to told. */
void rules_metrics(const struct rules *rules, struct bytes *names, struct bytes *told);

/* docs/verdicts.md: the rules, what a rule may ask for, how a file is written. */
int rules_markdown(FILE *out, struct err *e);

#endif
