/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_pfm.h - events by libpfm4's names, where that library is installed.
 *
 * It is loaded when a file names an event so, and let go again; nothing links to it. It knows the
 * CPU it runs on, and no others.
 */
#ifndef SONDE_SOURCE_PERF_PERF_PFM_H
#define SONDE_SOURCE_PERF_PERF_PFM_H

#include "source/perf/perf_table.h"

/* Fill the PMU and the codes of "skx::L2_RQSTS:MISS". 0, or -errno with a few words: no library, an
 * unknown name, an event that no task can have. */
int perf_pfm_encode(const char *name, struct perf_event *ev, struct err *e);

#endif
