/* SPDX-License-Identifier: Apache-2.0 */
/* summary_made.h - the summary of a run in memory, for unit tests. */
#ifndef TESTS_SUMMARY_MADE_H
#define TESTS_SUMMARY_MADE_H

#include "report/summary/summary.h"
#include "summary_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static inline struct summary made(struct synthetic *x)
{
	struct summary s;
	struct err e = { "" };

	if (summary_make(&s, &x->run, &e) != 0)
		fail_msg("%s", e.text);
	return s;
}

static inline void done(struct summary *s, struct synthetic *x)
{
	summary_free(s);
	free(x);
}

#endif
