/* SPDX-License-Identifier: Apache-2.0 */
#include "report/judging/verdict.h"

#include <stdio.h>

const char *const severity_names[] = {
	[SEVERITY_NOTE] = "note",
	[SEVERITY_GOOD] = "good",
	[SEVERITY_WARN] = "warn",
	[SEVERITY_BAD] = "bad",
	[SEVERITY_CANNOT_TELL] = "cannot-tell",
	[SEVERITY_NUMBER_OF] = NULL,
};

const char *const confidence_names[] = {
	[CONFIDENCE_LOW] = "low",
	[CONFIDENCE_MEDIUM] = "medium",
	[CONFIDENCE_HIGH] = "high",
	[CONFIDENCE_NUMBER_OF] = NULL,
};

const char *const resource_names[] = {
	[RESOURCE_NONE] = "",     [RESOURCE_CORES] = "cores", [RESOURCE_MEMORY] = "memory",
	[RESOURCE_GPUS] = "gpus", [RESOURCE_TIME] = "time",   [RESOURCE_NUMBER_OF] = NULL,
};

const char *severity_name(enum severity severity)
{
	return severity_names[severity];
}

const char *confidence_name(enum confidence confidence)
{
	return confidence_names[confidence];
}

const char *resource_name(enum resource resource)
{
	return resource_names[resource];
}

const char *verdict_next(const struct summary_verdict *v, char *out, size_t size)
{
	char margin[32];

	if (!*v->next)
		snprintf(out, size, "%s", "");
	else if (v->margin > 0)
		snprintf(out, size, "Next time: %s (%s to spare)", v->next,
			 unit_format(UNIT_RATIO, v->margin, margin, sizeof margin));
	else
		snprintf(out, size, "Next time: %s", v->next);
	return out;
}
