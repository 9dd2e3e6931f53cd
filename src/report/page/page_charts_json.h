/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_charts_json.h - which charts the page has, for its script.
 *
 * The job's own numbers; those of page_charts.h, without the optional ones that no node has a value
 * of; then one for each metric that a verdict names and that is in no chart, so that each verdict
 * has its proof.
 */
#ifndef SONDE_REPORT_PAGE_PAGE_CHARTS_JSON_H
#define SONDE_REPORT_PAGE_PAGE_CHARTS_JSON_H

#include "base/text/json.h"
#include "report/page/page_kinds.h"
#include "report/page/page_series.h"
#include "report/summary/own.h"

/* Keys "charts" and "maps" of the object that is open. */
void page_charts_json(struct json *j, const struct page_series *d, const struct own *own,
		      const struct page_kinds *waits, const struct page_kinds *code,
		      const struct run *r);

#endif
