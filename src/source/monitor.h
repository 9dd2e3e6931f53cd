/* SPDX-License-Identifier: Apache-2.0 */
/*
 * monitor.h - where each metric of Sonde itself lies in the catalogue of source/monitor.c.
 */
#ifndef SONDE_SOURCE_MONITOR_H
#define SONDE_SOURCE_MONITOR_H

#include "core/metric.h"

enum monitor_metric {
	MONITOR_CPU,
	MONITOR_RESIDENT,
	MONITOR_WRITTEN,
	MONITOR_LATE,
	MONITOR_SKIPPED,
	MONITOR_WALKS,
	MONITOR_INTERVAL,
	MONITOR_NUMBER_OF
};

extern const struct metric *const monitor_metrics; /* MONITOR_NUMBER_OF rows */

#endif
