/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_plan.h - which events are counted together: the groups that were asked for, cut into sets
 * that fit the CPU's counters.
 *
 * The events of a set run at the same time or not at all, so that their ratios hold. Pure: opens
 * nothing.
 */
#ifndef SONDE_SOURCE_PERF_PERF_PLAN_H
#define SONDE_SOURCE_PERF_PERF_PLAN_H

#include "base/pool.h"
#include "core/metric.h"
#include "source/perf/perf_table.h"

enum { PERF_SETS_MAX = 64 };

struct perf_set {
	const struct perf_group *group;
	uint32_t nth; /* of its group, from 1 */
	uint32_t n;
	uint8_t event[PERF_GROUP_EVENTS_MAX]; /* in group->event */
	uint32_t counters;                    /* it takes */
};

struct perf_plan {
	struct perf_set set[PERF_SETS_MAX];
	uint32_t n;
};

struct perf_budget {
	uint32_t counters; /* general ones of a CPU */
	bool watchdog;     /* the kernel's own takes the cycles counter, or a general one */
};

/* groups: "auto", "all", or names with commas between them, in any case of letters; those that the
 * table does not know are passed over. 0, or -E2BIG when there are too many sets. */
int perf_plan_make(struct perf_plan *plan, const struct perf_table *t, const char *groups,
		   const struct perf_budget *budget);
/* The next of these words, in lower case; false at the end. */
bool perf_groups_next(const char **groups, char name[PERF_NAME_MAX]);
bool perf_groups_known(const struct perf_table *t, const char *name);

static inline const struct perf_event *perf_set_event(const struct perf_set *s, uint32_t i)
{
	return &s->group->event[s->event[i]];
}

/* Whether it is of the core's own counters, of the kernel's, or of a device in sysfs. */
enum perf_place { PERF_CORE, PERF_KERNEL, PERF_DEVICE };
enum perf_place perf_event_place(const struct perf_event *ev);

/*
 * The catalogue rows of what is counted here: two times and the events of each set,
 * and the formulas of what follows from them.
 *
 * In an events file a formula names events of its group; here each becomes its rate, divided by the
 * share of the time in which its set was counted. A formula whose events are not counted is left
 * out.
 */

enum { PERF_SET_ENABLED, PERF_SET_RUNNING, PERF_SET_EVENTS }; /* rows of a set, in this order */

struct perf_rows {
	struct pool pool;
	struct metric *row;
	uint32_t n, cap;
	uint32_t first[PERF_SETS_MAX]; /* of each set: PERF_SET_EVENTS + its n rows */
	uint32_t derived;              /* from here on rows have formulas */
};

/* 0 or -ENOMEM. whose is a sentence: "Counted for the job's processes." Free in either case. */
int perf_rows_make(struct perf_rows *r, const struct perf_plan *plan, const char *whose);
void perf_rows_free(struct perf_rows *r);

#endif
