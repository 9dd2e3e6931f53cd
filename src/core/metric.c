/* SPDX-License-Identifier: Apache-2.0 */
#include "core/metric.h"

static const char *const kind_names[] = {
	[KIND_COUNTER] = "counter",
	[KIND_GAUGE] = "gauge",
	[KIND_STATE] = "state",
	[KIND_TOTAL] = "total",
};
_Static_assert(sizeof kind_names / sizeof kind_names[0] == KIND_NUMBER_OF, "a name for every kind");

static const char *const combine_names[] = {
	[COMBINE_NONE] = "none", [COMBINE_SUM] = "sum", [COMBINE_MEAN] = "mean",
	[COMBINE_MAX] = "max",   [COMBINE_MIN] = "min",
};
_Static_assert(sizeof combine_names / sizeof combine_names[0] == COMBINE_NUMBER_OF,
	       "a name for every way");

const char *kind_name(enum kind k)
{
	return (unsigned)k < KIND_NUMBER_OF ? kind_names[k] : "unknown";
}

const char *combine_name(enum combine c)
{
	return (unsigned)c < COMBINE_NUMBER_OF ? combine_names[c] : "unknown";
}
