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
	JOB_PSS,
	JOB_PSS_AGE,
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
	JOB_NUMBER_OF
};

extern const struct metric *const job_metrics; /* JOB_NUMBER_OF rows */

#endif
