/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metric_fault.h - for tests: what is wrong with a row of a source's table of metrics, which a
 * compiler does not see: its name's pattern, label, help's full stop, scale, domain.
 */
#ifndef SONDE_TESTS_UNIT_METRIC_FAULT_H
#define SONDE_TESTS_UNIT_METRIC_FAULT_H

#include "core/metric.h"

#include <string.h>

/* [a-z][a-z0-9_]*: what is left after it, or NULL. */
static inline const char *metric_word_end(const char *p)
{
	if (*p < 'a' || *p > 'z')
		return NULL;
	while ((*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') || *p == '_')
		p++;
	return p;
}

static inline const char *metric_name_fault(const char *name)
{
	const char *p = name ? metric_word_end(name) : NULL;

	if (!p || *p != '.')
		return "the name is not scope.noun_unit in [a-z0-9_.]";
	while (p && *p == '.')
		p = metric_word_end(p + 1);
	return p && !*p ? NULL : "the name is not scope.noun_unit in [a-z0-9_.]";
}

static inline const char *metric_text_fault(const struct metric *m)
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

/* NULL: nothing is. */
static inline const char *metric_fault(const struct metric *m)
{
	const char *end = m->domain ? metric_word_end(m->domain) : "";
	const char *fault = metric_name_fault(m->name);

	if (!fault)
		fault = metric_text_fault(m);
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

#endif
