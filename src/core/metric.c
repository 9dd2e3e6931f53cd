/* SPDX-License-Identifier: Apache-2.0 */
#include "core/metric.h"

#include <string.h>

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

/* [a-z][a-z0-9_]*: what is left after it, or NULL. */
static const char *word_end(const char *p)
{
	if (*p < 'a' || *p > 'z')
		return NULL;
	while ((*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') || *p == '_')
		p++;
	return p;
}

static const char *name_fault(const char *name)
{
	const char *p = name ? word_end(name) : NULL;

	if (!p || *p != '.')
		return "the name is not scope.noun_unit in [a-z0-9_.]";
	while (p && *p == '.')
		p = word_end(p + 1);
	return p && !*p ? NULL : "the name is not scope.noun_unit in [a-z0-9_.]";
}

static const char *text_fault(const struct metric *m)
{
	size_t n = m->help ? strlen(m->help) : 0;

	if (!m->label || !*m->label)
		return "it has no label";
	if (m->label[strlen(m->label) - 1] == '.')
		return "the label ends with a full stop";
	if (n < 2 || m->help[n - 1] != '.')
		return "the help is no sentence with a full stop";
	return NULL;
}

const char *metric_fault(const struct metric *m)
{
	const char *end = m->domain ? word_end(m->domain) : "";
	const char *fault = name_fault(m->name);

	if (!fault)
		fault = text_fault(m);
	if (fault)
		return fault;
	if (!end || *end)
		return "the domain is no word in [a-z0-9_]";
	if ((unsigned)m->unit >= UNIT_NUMBER_OF || (unsigned)m->kind >= KIND_NUMBER_OF ||
	    (unsigned)m->storage >= STORE_NUMBER_OF ||
	    (unsigned)m->over_instances >= COMBINE_NUMBER_OF ||
	    (unsigned)m->over_nodes >= COMBINE_NUMBER_OF)
		return "a unit, kind or combination is out of range";
	if (m->formula && (m->kind != KIND_GAUGE || m->mul > 1 || m->div > 1))
		return "a derived metric is a gauge in its base unit";
	if (!m->domain && m->over_instances != COMBINE_NONE)
		return "it combines instances and has none";
	return NULL;
}
