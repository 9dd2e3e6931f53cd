/* SPDX-License-Identifier: Apache-2.0 */
#include "report/judging/slowness.h"

#include <math.h>

const struct slowness_row slowness_rows[] = {
#define SLOWNESS(percent, functions, above, what, advice)                                          \
	{ percent, { functions, above }, what, advice },
#include "report/judging/slowness.def"
#undef SLOWNESS
};

enum { ROWS = sizeof slowness_rows / sizeof slowness_rows[0] };
_Static_assert((int)ROWS <= (int)HOT_PATTERNS, "all are matched at once");
const size_t slowness_nrows = ROWS;

int slowness_find(struct slowness *r, const struct stacks *s, const struct hot *place, double least)
{
	struct hot_pattern pattern[ROWS];
	struct hot_match match[ROWS];
	double of = place ? place->place.seconds : s->total;
	int rc;

	*r = (struct slowness){ 0 };
	for (size_t i = 0; i < ROWS; i++)
		pattern[i] = slowness_rows[i].pattern;
	rc = hot_match(match, s, place, pattern, ROWS);
	for (size_t i = 0; i < ROWS && !rc && !r->row; i++)
		if (match[i].seconds > 0 &&
		    match[i].seconds >= fmax(slowness_rows[i].percent / 100, least) * of)
			*r = (struct slowness){ &slowness_rows[i], match[i] };
	return rc;
}

const struct slowness_row *slowness_of(const struct stacks_function *f)
{
	for (size_t i = 0; i < ROWS && *f->name; i++)
		if (!*slowness_rows[i].pattern.above &&
		    hot_is_of(slowness_rows[i].pattern.functions, f->shown, f->module, true))
			return &slowness_rows[i];
	return NULL;
}

int slowness_share(double *share, const struct stacks *s, const struct slowness_row *row)
{
	struct hot_match match;
	int rc = hot_match(&match, s, NULL, &row->pattern, 1);

	*share = rc ? 0 : stacks_share(s, match.seconds);
	return rc;
}
