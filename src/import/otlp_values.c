/* SPDX-License-Identifier: Apache-2.0 */
/* otlp_values.c - values of OpenTelemetry's metrics become counters, one for each metric and set of
 * attributes of a process; and texts of values that are lists. */
#include "base/hash.h"
#include "import/otlp.h"
#include "recording/format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void otlp_point_begin(struct otlp *o)
{
	struct otlp_point *p = &o->point;

	p->has_time = p->has_value = p->has_count = p->has_sum = false;
	*p->labels = '\0';
}

/* A count of things has no unit of its own. */
static bool has_unit(const struct otlp_point *p, const char *part)
{
	return *p->unit && strcmp(p->unit, "1") != 0 && strcmp(part, " count") != 0;
}

/* Of several processes each has counters of its own. */
static uint32_t counter_of(struct otlp *o, const char *part)
{
	const struct otlp_point *p = &o->point;
	const struct otlp_resource *r = &o->now;
	char name[TIMELINE_NAME_MAX + TIMELINE_TEXT_MAX + OTLP_WHOSE + 16], whose[OTLP_WHOSE] = "";
	bool unit = has_unit(p, part);
	uint64_t key;
	uint32_t id;

	if (o->nresources > 1 && *o->now.service)
		otlp_whose(o, whose);
	snprintf(name, sizeof name, "%s%s%s%s%s%s%s%s%s%s", whose, *whose ? ": " : "", p->metric,
		 part, unit ? " (" : "", unit ? p->unit : "", unit ? ")" : "",
		 *p->labels ? " {" : "", p->labels, *p->labels ? "}" : "");
	key = hash_bytes(hash_text(hash_bytes(0, &o->now_id, sizeof o->now_id), name), "", 1) | 1;
	id = sampled_ids_get(&o->counters, key);
	if (id)
		return id == UINT32_MAX ? 0 : id;
	name[TIMELINE_NAME_MAX] = '\0';
	id = timeline_counter(&o->line, name, r->pid);
	timeline_label(&o->line, id, "unit", p->unit);
	sampled_ids_put(&o->counters, key, id ? id : UINT32_MAX);
	return id;
}

static int put(struct otlp *o, const char *part, double value)
{
	if (!isfinite(value))
		return 0;
	return timeline_value(&o->line, counter_of(o, part), o->point.at_ns - o->times.first_ns,
			      value);
}

int otlp_point_end(struct otlp *o)
{
	const struct otlp_point *p = &o->point;
	int rc = 0;

	if (!p->has_time || (o->writes && p->at_ns - o->times.first_ns > MONO_MAX)) {
		o->count.bad_time++;
		return 0;
	}
	if (!*p->metric || !(p->has_value || p->has_count || p->has_sum)) {
		o->count.no_value++;
		return 0;
	}
	if (o->writes && !otlp_is_of_the_node(o))
		return 0;
	o->count.points++;
	if (!o->writes) {
		otlp_see(o, p->at_ns, p->at_ns);
		return 0;
	}
	if (p->has_value)
		rc = put(o, "", p->value);
	if (!rc && p->has_count)
		rc = put(o, " count", p->count);
	if (!rc && p->has_sum)
		rc = put(o, " sum", p->sum);
	return rc;
}

/* ---- lists ---- */

void otlp_list_put(char *out, size_t size, const char *item)
{
	size_t n = strlen(out);

	if (!n)
		n += otlp_copy(out, size, "[", 1);
	else if (n > 1)
		n += otlp_copy(out + n, size - n, ",", 1);
	otlp_copy(out + n, size - n, item, strlen(item));
}

void otlp_list_end(char *out, size_t size)
{
	size_t n = strlen(out);

	otlp_copy(out + n, size - n, n ? "]" : "[]", n ? 1 : 2);
}
