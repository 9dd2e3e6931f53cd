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

/* The refusal of a series of the metric on a node; NULL when there is none. */
static const struct run_series *refusal_of(const struct run *r, uint32_t node,
					   const struct metric *m)
{
	for (uint32_t i = 1; m && i < r->nseries; i++)
		if (r->series[i].node == node && &r->metrics[r->series[i].metric].row == m &&
		    r->series[i].state >= STATE_UNSUPPORTED)
			return &r->series[i];
	return NULL;
}

const char *page_why_missing(const struct run *r, uint32_t node, const char *public_name,
			     const char *source, char *out, size_t size)
{
	const struct metric *m = page_metric(r, public_name, NULL);
	const struct run_series *s = refusal_of(r, node, m);
	const struct run_meta *meta;
	char key[64];

	snprintf(key, sizeof key, "source.%s", source);
	meta = run_find_meta(r, node, key);
	if (s)
		snprintf(out, size, "%s%s%s", state_name(s->state), s->reason ? ": " : "",
			 s->reason ? s->reason : "");
	else if (meta && meta->text)
		snprintf(out, size, "%s", meta->text);
	else
		snprintf(out, size, "%s", m ? "no value was read" : "not in this recording");
	return out;
}
