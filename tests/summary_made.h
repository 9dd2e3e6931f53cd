/* SPDX-License-Identifier: Apache-2.0 */
/* summary_made.h - the summary of a run in memory, for unit tests. */
#ifndef TESTS_SUMMARY_MADE_H
#define TESTS_SUMMARY_MADE_H

#include "kept_rules.h"
#include "report/summary/summary.h"
#include "summary_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static inline struct summary made(struct synthetic *x)
{
	const struct summary_wish all = { .all = true, .builtin = kept_rules() };
	struct summary s;
	struct err e = { "" };

	if (summary_make_as(&s, &x->run, &all, &e) != 0)
		fail_msg("%s", e.text);
	return s;
}

static inline void done(struct summary *s, struct synthetic *x)
{
	summary_free(s);
	free(x);
}

#endif
