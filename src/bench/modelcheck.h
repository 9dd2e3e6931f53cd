/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modelcheck.h - checks of a model: what one of its columns has to be by the others, such as a rate
 * by operations and time.
 *
 * Written as "rate ~ size^3 / elapsed / 1e6 within 1%", with the formulas of core/expr/expr.h,
 * whose names are columns and figures of trials. A trial that fails one is reported, and counts as
 * before.
 */
#ifndef SONDE_BENCH_MODELCHECK_H
#define SONDE_BENCH_MODELCHECK_H

#include "bench/model.h"
#include "core/expr/expr.h"

struct model_check {
	const char *text; /* all of it, as it was written */
	const char *name; /* the column */
	struct expr *computed;
	double tolerance; /* 0.01: one percent of what is computed */
};

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
