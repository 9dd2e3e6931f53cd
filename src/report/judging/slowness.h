/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slowness.h - why the hottest place is slow, where the functions that were sampled give it away:
 * the rows of slowness.def.
 */
#ifndef SONDE_REPORT_JUDGING_SLOWNESS_H
#define SONDE_REPORT_JUDGING_SLOWNESS_H

#include "core/stacks/hot.h"

struct slowness_row {
	double percent; /* of the time */
	struct hot_pattern pattern;
	const char *what, *advice;
};
extern const struct slowness_row slowness_rows[];
extern const size_t slowness_nrows;

struct slowness {
	const struct slowness_row *row; /* NULL: none */
	struct hot_match match;         /* what shows it */
};
/* The first row that holds: of the time of the place (NULL: of all samples), of which it needs that
 * share, 0..1, and what it asks for itself. 0 or -ENOMEM. */
int slowness_find(struct slowness *r, const struct stacks *s, const struct hot *place,
		  double least);
/* The first row that is of a function that does it alone, whoever called it. */
const struct slowness_row *slowness_of(const struct stacks_function *f);
/* Of all samples, the share that shows the same. 0 or -ENOMEM. */
int slowness_share(double *share, const struct stacks *s, const struct slowness_row *row);

#endif
