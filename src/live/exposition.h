/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exposition.h - the newest samples of running jobs as text that Prometheus takes.
 *
 * Counters as they were read, gauges; of nodes and devices, not of processes. Only what is current
 * is told: nothing of a recording that ended, or of which nothing came for EXPOSITION_STALE_S; for
 * each there is sonde_recording_open and the time of its newest sample. Labels tell any two series
 * apart.
 */
#ifndef SONDE_LIVE_EXPOSITION_H
#define SONDE_LIVE_EXPOSITION_H

#include "base/bytes.h"
#include "recording/follow.h"

enum { EXPOSITION_STALE_S = 300 };

/* The text format of version 0.0.4, which also the textfile collector reads, or OpenMetrics 1.0. */
enum exposition_format { EXPOSITION_TEXT = 0, EXPOSITION_OPENMETRICS };

struct exposition_run {
	const struct follow *follow;
	const char *
		path; /* absolute, of its directory: what it is called when it is not a batch job */
	const char *only; /* this .sonde file of it; NULL: all */
};

/* Replace what is in out. 0 or -ENOMEM. */
int exposition_put(struct bytes *out, const struct exposition_run *run, size_t n,
		   int64_t now_utc_ns, enum exposition_format format);

#endif
