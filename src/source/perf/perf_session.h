/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_session.h - perf events being counted: planned, opened, read.
 *
 * Without options every group is tried on this process and nothing is counted: what cannot be had
 * is refused with its reason. Events that this machine lacks leave their set; a group that cannot
 * be counted is refused and the others go on.
 */
#ifndef SONDE_SOURCE_PERF_PERF_SESSION_H
#define SONDE_SOURCE_PERF_PERF_SESSION_H

#include "source/perf/perf.h"
#include "source/perf/perf_count.h"
#include "source/perf/perf_plan.h"
#include "source/source.h"

/* What is counted: set i of the plan with its count, rows and slots. */
struct perf_session {
	struct perf_table *table; /* the plan's groups lie in it */
	struct perf_plan plan;
	struct perf_rows rows;
	struct perf_count count[PERF_SETS_MAX];
	uint64_t last_enabled[PERF_SETS_MAX], last_running[PERF_SETS_MAX];
	uint32_t slot[PERF_SETS_MAX];
	size_t tasks_missed;
	int64_t every_ns, read_ns;
	bool user_only;
	int pin; /* perf_count_pin */
	const struct source_env *env;
	int *pins; /* of launchers that came later; allocated when one comes */
	size_t npins;
};

int perf_session_open(struct perf_session *p, const struct source_env *env, struct sample *s,
		      struct err *e);
int perf_session_read(struct perf_session *p, struct sample *s);
/* One more launcher. Here something is allocated: a task begins, and is not sampled yet. */
int perf_session_joined(struct perf_session *p, pid_t launcher, bool runs, struct sample *s);
/* Processes that run already are the job's from now on. Here something is allocated, too. */
int perf_session_adopted(struct perf_session *p, const pid_t *pids, size_t n, struct sample *s);
void perf_session_close(struct perf_session *p);

#endif
