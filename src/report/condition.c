/* SPDX-License-Identifier: Apache-2.0 */
#include "report/condition.h"

#include <math.h>
#include <string.h>

static const char *const names[] = {
	[COMPLETE] = "complete", [RUNNING] = "running",       [CUT] = "cut",
	[DAMAGED] = "damaged",   [UNREADABLE] = "unreadable",
};
_Static_assert(sizeof names / sizeof names[0] == CONDITION_NUMBER_OF, "a name each");

const char *condition_name(enum condition c)
{
	return names[c];
}

double condition_number(const struct run *r, const char *key)
{
	double largest = NAN;

	for (uint32_t i = 1; i < r->nmetas; i++) {
		const struct run_meta *m = &r->metas[i];

		if (m->type == META_INT && !strcmp(m->key, key))
			largest = fmax(largest, (double)m->value);
	}
	return largest;
}

enum condition condition_of(const struct run *r, int64_t now_utc_ns)
{
	double interval_ns = condition_number(r, "run.interval_ns");
	double patience_ns = 3e9 + (isnan(interval_ns) ? 0 : 3 * interval_ns);
	enum condition c = r->ndamages ? DAMAGED : COMPLETE;

	for (uint32_t i = 1; i < r->nnodes && c != DAMAGED; i++) {
		double age_ns = (double)(now_utc_ns - run_utc_ns(r, i, r->nodes[i].last_ns));

		if (!r->nodes[i].complete && (c != CUT))
			c = r->nodes[i].rows && age_ns < patience_ns ? RUNNING : CUT;
	}
	return c;
}
