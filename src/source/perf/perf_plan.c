/* SPDX-License-Identifier: Apache-2.0 */
#include "source/perf/perf_plan.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

enum { DEVICE_COUNTERS = 4, KERNEL_COUNTERS = PERF_GROUP_EVENTS_MAX };

enum perf_place perf_event_place(const struct perf_event *ev)
{
	if (!strcmp(ev->pmu, "cpu") || !strcmp(ev->pmu, "hardware"))
		return PERF_CORE;
	if (!strcmp(ev->pmu, "software") || !strcmp(ev->pmu, "breakpoint"))
		return PERF_KERNEL;
	return PERF_DEVICE;
}

bool perf_groups_next(const char **groups, char name[PERF_NAME_MAX])
{
	const char *p = *groups;
	size_t n = strcspn(p, ",");

	if (!*p)
		return false;
	*groups = p + n + (p[n] == ',');
	n = n < PERF_NAME_MAX ? n : PERF_NAME_MAX - 1;
	for (size_t i = 0; i < n; i++)
		name[i] = p[i] >= 'A' && p[i] <= 'Z' ? (char)(p[i] - 'A' + 'a') : p[i];
	name[n] = '\0';
	return true;
}

bool perf_groups_known(const struct perf_table *t, const char *name)
{
	return !strcmp(name, "auto") || !strcmp(name, "all") || perf_table_group(t, name);
}

enum wanted { NOT_WANTED, WANTED_AUTOMATIC, WANTED_ALL };

static enum wanted find_word(const char *groups, const char *group)
{
	enum wanted found = NOT_WANTED;
	char name[PERF_NAME_MAX];

	while (perf_groups_next(&groups, name)) {
		if (!strcmp(name, "all") || !strcmp(name, group))
			return WANTED_ALL;
		if (!strcmp(name, "auto"))
			found = WANTED_AUTOMATIC;
	}
	return found;
}

static bool is_cycles(const struct perf_event *ev)
{
	return !strcmp(ev->id, "cycles");
}

static bool has_fixed_cycles(const struct perf_table *t)
{
	const struct perf_group *g = perf_table_group(t, "hardware");

	for (uint32_t i = 0; g && i < g->nevents; i++)
		if (is_cycles(&g->event[i]))
			return !g->event[i].counters;
	return false;
}

static bool same_place(const struct perf_event *a, const struct perf_event *b)
{
	enum perf_place place = perf_event_place(a);

	return place == perf_event_place(b) && (place == PERF_CORE || !strcmp(a->pmu, b->pmu));
}

struct planner {
	struct perf_plan *plan;
	uint32_t core;    /* counters of a set on the core */
	bool cycles_cost; /* the watchdog has the cycles counter */
};

static uint32_t room(const struct planner *p, const struct perf_event *ev)
{
	enum perf_place place = perf_event_place(ev);

	if (place == PERF_CORE)
		return p->core;
	return place == PERF_KERNEL && strcmp(ev->pmu, "breakpoint") != 0 ? KERNEL_COUNTERS
									  : DEVICE_COUNTERS;
}

/* Into the first set of its group that has room, else into a new one. */
static int place_event(struct planner *p, const struct perf_group *g, uint32_t first, uint32_t i)
{
	struct perf_plan *plan = p->plan;
	const struct perf_event *ev = &g->event[i];
	uint32_t cost = p->cycles_cost && is_cycles(ev) ? 1 : ev->counters, k = first;

	while (k < plan->n && (!same_place(perf_set_event(&plan->set[k], 0), ev) ||
			       plan->set[k].counters + cost > room(p, ev)))
		k++;
	if (k == PERF_SETS_MAX)
		return -E2BIG;
	if (k == plan->n) {
		plan->set[k] = (struct perf_set){ .group = g, .nth = k - first + 1 };
		plan->n++;
	}
	plan->set[k].event[plan->set[k].n++] = (uint8_t)i;
	plan->set[k].counters += cost;
	return 0;
}

static int place_group(struct planner *p, const struct perf_group *g, enum wanted wanted)
{
	uint32_t first = p->plan->n;
	int bad = 0;

	for (uint32_t i = 0; i < g->nevents && !bad; i++)
		if (wanted == WANTED_ALL || g->event[i].automatic)
			bad = place_event(p, g, first, i);
	return bad;
}

int perf_plan_make(struct perf_plan *plan, const struct perf_table *t, const char *groups,
		   const struct perf_budget *budget)
{
	bool fixed = has_fixed_cycles(t);
	struct planner p = {
		.plan = plan,
		.core = budget->counters - (budget->watchdog && !fixed && budget->counters > 1),
		.cycles_cost = budget->watchdog && fixed,
	};
	int bad = 0;

	plan->n = 0;
	for (uint32_t i = 0; i < t->ngroups && !bad; i++) {
		enum wanted wanted = find_word(groups, t->group[i].name);

		if (wanted != NOT_WANTED)
			bad = place_group(&p, &t->group[i], wanted);
	}
	return bad;
}
