/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_waits.h - what the job's threads waited for, on the report page: by kind as a bar and as a
 * chart over time, and the places of the most of it as a table.
 */
#ifndef SONDE_REPORT_PAGE_PAGE_WAITS_H
#define SONDE_REPORT_PAGE_PAGE_WAITS_H

#include "report/page/page_kinds.h"
#include "report/summary/waittime.h"

/* On a CPU, ready, the kinds of wait of the most time, all others, and what is not known. Over time
 * up to end_s. Empty without waits, and t may be NULL. 0 or -errno with a sentence. */
int page_waits_make(struct page_kinds *k, const struct waittime *t, double end_s, struct err *e);
void page_waits_kinds(struct page_kinds *k, const struct waiting *w);
/* A specification in the array "charts" that is open. */
void page_waits_chart_json(struct json *j, const struct page_kinds *k);

#endif
