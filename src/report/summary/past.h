/* SPDX-License-Identifier: Apache-2.0 */
/*
 * past.h - what the history (store/history.h) keeps of a run: who, what, where, and the summary's
 * figures under the names of `sonde show --json`.
 */
#ifndef SONDE_REPORT_SUMMARY_PAST_H
#define SONDE_REPORT_SUMMARY_PAST_H

#include "report/summary/summary.h"
#include "store/history.h"

/* Metrics that the summary has to have beside those of the rules: summary_wish.compared. */
extern const char past_metrics[];

/* Adds the run. path: where the recording is, absolute. now_utc_ns: to tell what still runs.
 * 0 or -ENOMEM. */
int past_add(struct history *h, const struct run *r, const struct summary *s, const char *path,
	     int64_t now_utc_ns);

#endif
