/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.h - where each metric of the whole process tree lies in the catalogue of source/job.c.
 */
#ifndef SONDE_SOURCE_JOB_H
#define SONDE_SOURCE_JOB_H

#include "core/metric.h"

enum job_metric {
	JOB_CPU,
	JOB_PROCESSES_LIVE,
	JOB_PROCESSES_STARTED,
	JOB_PROCESSES_ENDED,
	JOB_THREADS,
	JOB_FILES,
	JOB_RESIDENT,
	JOB_VIRTUAL,
	JOB_SHARED,
	JOB_PSS,
	JOB_PSS_AGE,
	JOB_USS,
	JOB_SWAP,
	JOB_READ,
	JOB_WRITTEN,
	JOB_READ_CALLS,
	JOB_WRITE_CALLS,
	JOB_STORAGE_READ,
	JOB_STORAGE_WRITTEN,
	JOB_MINOR_FAULTS,
	JOB_MAJOR_FAULTS,
	JOB_ATTRIBUTED_CPU,
	/* when the threads of all processes have been looked at */
	JOB_VOLUNTARY,
	JOB_INVOLUNTARY,
	JOB_MIGRATIONS,
	JOB_WAITED,
	JOB_THREADS_RUNNING,
	JOB_THREADS_SLEEPING,
	JOB_THREADS_BLOCKED,
	JOB_THREADS_STOPPED,
	JOB_VOLUNTARY_TOTAL,
	JOB_INVOLUNTARY_TOTAL,
	JOB_AFFINITY,
	JOB_LOOKS_AGE,
	JOB_NUMBER_OF
};

extern const struct metric *const job_metrics; /* JOB_NUMBER_OF rows */

#endif
