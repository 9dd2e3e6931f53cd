/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h - the report page: one HTML file with everything in it, for a browser without a network.
 *
 * The job, its figures, verdicts and tables are plain HTML; the charts are drawn by the page's own
 * script from data beside it. Every name in a run is hostile and is escaped. Nothing is printed
 * here.
 */
#ifndef SONDE_REPORT_PAGE_PAGE_H
#define SONDE_REPORT_PAGE_PAGE_H

#include "base/bytes.h"
#include "report/phases/traces.h"
#include "report/summary/summary.h"

/* Whether the page has statistics of all of the run's series: of many it has those that verdicts
 * look at, and its summary needs no more. */
bool page_wants_all(const struct run *r);
/* Append the page of a run and its summary, of traces that page_series_wish wished for; NULL: it
 * reads the run. 0, or -errno with a sentence. */
int page_make(struct bytes *out, struct run *r, const struct summary *s, const struct traces *t,
	      struct err *e);
/* The same page, which asks the server it came from for what is new: events, then data. */
int page_make_live(struct bytes *out, struct run *r, const struct summary *s, struct err *e);
/* What it is given as data: {"parts": the plain parts of the page by name, "data": that of the
 * charts}. */
int page_update_json(struct bytes *out, struct run *r, const struct summary *s, struct err *e);

#endif
