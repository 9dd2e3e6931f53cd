/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_metrics.h - the catalogue of perf events in source/perf/perf.c: every metric that events
 * files name.
 *
 * Which of them a recording has depends on the CPU and on what was asked for: perf_rows.h makes
 * its rows from these. It holds no codes and no formulas of CPUs.
 */
#ifndef SONDE_SOURCE_PERF_PERF_METRICS_H
#define SONDE_SOURCE_PERF_PERF_METRICS_H

#include "core/metric.h"

/* NULL when no metric has this name. */
const struct metric *perf_metric(const char *name);

#endif
