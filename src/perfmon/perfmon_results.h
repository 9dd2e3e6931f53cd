/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfmon_results.h - what perfmon's first node does when its part of the job is over: waits for
 * the recordings of the others, then writes everything that was asked for of all of them.
 */
#ifndef SONDE_PERFMON_PERFMON_RESULTS_H
#define SONDE_PERFMON_PERFMON_RESULTS_H

#include "job/scheduler/scheduler.h"
#include "perfmon/logfile.h"
#include "perfmon/perfmon_place.h"

#include <stdint.h>

struct perfmon_results {
	const struct logfile *log;
	const struct perfmon_place *place;
	const char *recording; /* the directory */
	const struct batch_job *job;
	const char *host;                  /* this one, as its recording has it */
	int64_t began_utc_ns, ends_utc_ns; /* of this recording; of the job, 0: not known */
	const char *id;      /* of the job, as files and tables are named after it; "" */
	int64_t interval_ns; /* of the samples */
	uint64_t formats;    /* of tables to export; bit i: sinks[i] */
	bool report;
};

/* Until every node's recording is closed, or nothing comes of those that are not, or the job's time
 * is up, or a signal comes. The log says which. */
void perfmon_results_wait(const struct perfmon_results *p);
/* Where nothing tells which node is the job's first, or that one has no copy: is it this one's
 * turn, since it began before the others? */
bool perfmon_results_are_ours(const struct perfmon_results *p);
/* Whether all could be written; the log says what, and why not. */
bool perfmon_results_write(const struct perfmon_results *p);

#endif
