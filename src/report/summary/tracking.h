/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracking.h - the trackers' figures (core/tracker.h) of each host of a run, and its samples.
 *
 * A host's step is its place among the nodes of the job, as the batch system told; else in the run.
 * Several recordings of one host are one: time that two of them saw counts once. Disks that lie on
 * others and virtual interfaces are left out of totals.
 */
#ifndef SONDE_REPORT_SUMMARY_TRACKING_H
#define SONDE_REPORT_SUMMARY_TRACKING_H

#include "base/text/json.h"
#include "core/tracker.h"
#include "report/summary/summary.h"

struct tracking_host {
	uint32_t node; /* its first recording */
	uint32_t step;
	const char *name; /* hostile text, borrowed from the run */
	struct tracker tracker;
	struct tracker_sample *sample; /* merged to samples_max at most, evenly in time */
	uint32_t nsamples, cap;
};

struct tracking {
	struct tracking_host *host;
	uint32_t n;
};

enum { TRACKING_SAMPLES = 1000 };

/* s is the run's summary. samples_max 0: no samples. 0 or -errno. Free in either case. */
int tracking_make(struct tracking *t, struct run *r, const struct summary *s, uint32_t samples_max,
		  struct err *e);
void tracking_free(struct tracking *t);

/* {"schema": "sonde/tracker/1", "nodes": [{"step", "host", "metrics", "unknown"}]}: known figures,
 * and why the others of the plain ones are not. */
void tracking_json(const struct tracking *t, struct json *j);
/* {"0": [samples of the first host], ...}. */
void tracking_samples_json(const struct tracking *t, struct json *j);

#endif
