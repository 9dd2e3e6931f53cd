/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfmon.h - a run as perfmon's documents: metrics/{meta_data,cpu_metrics,perf_metrics,
 * nv_gpu_metrics}.json, an object of hosts, each with an array of all values of a key.
 *
 * docs/perfmon-data.md has their form. They are written in two passes: rows are spooled into a file
 * without a name in the directory `scratch`, and memory grows with hosts and keys, not with time.
 */
#ifndef SONDE_SINK_PERFMON_H
#define SONDE_SINK_PERFMON_H

#include "base/text/json.h"
#include "core/frame/frame.h"
#include "core/frame/run.h"

#include <stdio.h>

#define PERFMON_META_DATA "meta_data"

/* Whether the run has anything the table is about: one of GPUs needs a GPU. */
bool perfmon_applies(const struct map_table *t, const struct run *r);
/* The document of table t of the map, in the words of its keys. 0 or -errno. */
int perfmon_document(struct run *r, const struct map *m, uint32_t t, const char *scratch, FILE *out,
		     struct err *e);
/* What the machines are, as far as the map wants to know. 0 or -errno. */
int perfmon_meta_data(const struct run *r, const struct map *m, FILE *out, struct err *e);

#define PERFMON_CPU_METRICS "cpu_metrics"

/* The keys parent_proc_md, an object about the job's first process, and child_proc_md, a text
 * "PID NAME" for each other one, as many as have room: PERFMON_PROCESSES. */
void perfmon_processes(struct json *j, const struct run *r, uint32_t node);

enum { PERFMON_PROCESSES = 1000 };

#endif
