/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfmon_parts.h - what perfmon's documents hold beside arrays of values. Private to perfmon*.c.
 */
#ifndef SONDE_SINK_PERFMON_PARTS_H
#define SONDE_SINK_PERFMON_PARTS_H

#include "base/text/json.h"
#include "core/frame/run.h"

#define PERFMON_CPU_METRICS "cpu_metrics"

/* The keys parent_proc_md, an object about the job's first process, and child_proc_md, a text
 * "PID NAME" for each other one, as many as have room: PERFMON_PROCESSES. */
void perfmon_processes(struct json *j, const struct run *r, uint32_t node);

enum { PERFMON_PROCESSES = 1000 };

#endif
