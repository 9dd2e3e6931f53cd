/* SPDX-License-Identifier: Apache-2.0 */
#include "report/phases/cascade.h"

#include "base/clock.h"
#include "report/phases/phases.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

int cascade_report_make(struct cascade_report *c, const struct run *r, bool as_graph_py, bool local,
			struct err *e)
{
	const struct phase_wish wish = { .marks_only = true,
					 .size_step = as_graph_py ? CASCADE_GRAPH_PY_STEP : 0 };
	int rc;

	*c = (struct cascade_report){ .run = r, .as_graph_py = as_graph_py, .local = local };
	rc = phase_rules_builtin(&c->rules, e);
	if (!rc)
		rc = phases_make(&c->phases, r, &c->rules, &wish, e);
	if (!rc && cascade_pools_make(&c->pools, r, &c->phases))
		rc = err_set(e, -ENOMEM, "out of memory for the pools of %.300s", r->path);
	return rc;
}

void cascade_report_free(struct cascade_report *c)
{
	cascade_pools_free(&c->pools);
	phases_free(&c->phases);
	phase_rules_free(&c->rules);
	*c = (struct cascade_report){ 0 };
}

uint32_t cascade_report_lacking(const struct cascade_report *c)
{
	uint32_t lacking = 0;

	for (uint32_t i = 0; i < c->pools.n; i++)
		for (uint32_t k = 0; k < c->pools.pool[i].nnodes; k++) {
			const struct cascade_node *n = &c->pools.pool[i].node[k];

			lacking += !n->counts || n->lacks || n->unfinished || n->unreadable_sizes;
		}
	return lacking;
}

const char *cascade_lack_name(const struct cascade_node *n, unsigned i)
{
	static const struct {
		enum cascade_lack lack;
		const char *name;
	} names[] = { { CASCADE_NO_PREPARATION, "nodeprep:start" },
		      { CASCADE_UNPREPARED, "nodeprep:end" },
		      { CASCADE_NO_LOADING, "cascade:start" },
		      { CASCADE_UNLOADED, "cascade:gr-done" } };

	for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
		if ((n->lacks & names[k].lack) && !i--)
			return names[k].name;
	return NULL;
}

const char *cascade_file_name(const struct cascade_pool *p, char *out, size_t size)
{
	snprintf(out, size, "%s", *p->name ? p->name : "pool");
	for (char *c = out; *c; c++)
		if (*c == '$')
			*c = '-';
		else if (!isalnum((unsigned char)*c) && !strchr("-_.", *c))
			*c = '_';
	if (*out == '.' || *out == '-')
		*out = '_';
	return out;
}

const char *cascade_title(const struct cascade_pool *p, char *out, size_t size)
{
	const char *behind = strrchr(p->name, '$'), *pool = behind ? behind + 1 : p->name;

	snprintf(out, size, "Shipyard Performance for %s%s%s%s%s%s", *pool ? pool : "a pool",
		 *p->offer || *p->sku ? " (" : "", p->offer, *p->offer && *p->sku ? " " : "",
		 p->sku, *p->offer || *p->sku ? ")" : "");
	return out;
}

const char *cascade_time(const struct cascade_report *c, int64_t utc_ns, enum cascade_time form,
			 char *out, size_t size)
{
	time_t s = (time_t)(utc_ns / NS_PER_S);
	long us = (long)(utc_ns % NS_PER_S / 1000);
	struct tm t = { 0 };
	char day[40] = "";

	if (c->local)
		localtime_r(&s, &t);
	else
		gmtime_r(&s, &t);
	if (form != CASCADE_TIME_OF_DAY)
		snprintf(day, sizeof day, "%04d-%02d-%02d%c", t.tm_year + 1900, t.tm_mon + 1,
			 t.tm_mday, form == CASCADE_FILE_TIME ? '-' : ' ');
	snprintf(out, size, "%s%02d:%02d:%02d.%0*ld", day, t.tm_hour, t.tm_min, t.tm_sec,
		 form == CASCADE_TIME_OF_DAY ? 3 : 6, form == CASCADE_TIME_OF_DAY ? us / 1000 : us);
	return out;
}
