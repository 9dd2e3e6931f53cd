/* SPDX-License-Identifier: Apache-2.0 */
/*
 * markrule.h - which lines of a program's log are marks: REGEX=MARK, as "epoch ([0-9]+)=epoch
 * n=\1".
 *
 * REGEX is a POSIX extended regular expression, in which \= stands for =. MARK is NAME
 * [KEY=VALUE ...], after B or E of a span that begins or ends (core/phase/markline.h); \0 to \9 in
 * it are what the expression and its parentheses matched. What may take for ever is refused:
 * references back, and repetitions of repetitions. Lines are hostile; a line is looked at up to
 * MARK_LOG_LINE_MAX bytes.
 */
#ifndef SONDE_CORE_PHASE_MARKRULE_H
#define SONDE_CORE_PHASE_MARKRULE_H

#include "base/err.h"
#include "core/phase/markline.h"

#include <regex.h>

enum { MARK_RULE_MAX = 512, MARK_LOG_LINE_MAX = 1024 };

struct mark_rule {
	regex_t regex;
	enum mark_kind kind;
	char mark[MARK_RULE_MAX]; /* NAME [KEY=VALUE ...] */
};

/* 0, or -EINVAL with a sentence that says what is wrong; free what was read. */
int mark_rule_parse(struct mark_rule *r, const char *text, struct err *e);
void mark_rule_free(struct mark_rule *r);

/* Whether the line is such a mark: then it is in out, of which text is in `text`, which may hold a
 * line; one that does not fit is none. */
bool mark_rule_apply(const struct mark_rule *r, const char *line, struct mark_line *out,
		     struct bytes *text);

#endif
