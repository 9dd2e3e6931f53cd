/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page_metric.h"

#include <stdio.h>
#include <string.h>

const struct metric *page_metric(const struct run *r, const char *public_name, bool *is_rate)
{
	char rate[256];

	for (uint32_t i = 1; i < r->nmetrics; i++) {
		const struct metric *m = &r->metrics[i].row;
		bool own = strcmp(m->name, public_name) == 0;

		metric_rate_name(m, rate, sizeof rate);
		if (!own && strcmp(rate, public_name) != 0)
			continue;
		if (is_rate)
			*is_rate = !own;
		return m;
	}
	return NULL;
}

enum unit page_unit(const struct run *r, const char *public_name)
{
	bool is_rate = false;
	const struct metric *m = page_metric(r, public_name, &is_rate);

	if (!m)
		return UNIT_ONE;
	return is_rate ? unit_rate(m->unit) : m->unit;
}

const char *page_why_missing(const struct run *r, uint32_t node, const char *public_name, char *out,
			     size_t size)
{
	const struct metric *m = page_metric(r, public_name, NULL);

	snprintf(out, size, "%s", m ? "no value was read" : "not in this recording");
	for (uint32_t i = 1; m && i < r->nseries; i++) {
		const struct run_series *s = &r->series[i];

		if (s->node != node || &r->metrics[s->metric].row != m ||
		    s->state < STATE_UNSUPPORTED)
			continue;
		snprintf(out, size, "%s%s%s", state_name(s->state), s->reason ? ": " : "",
			 s->reason ? s->reason : "");
		break;
	}
	return out;
}
