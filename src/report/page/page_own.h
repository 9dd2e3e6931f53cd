/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_own.h - the job's own numbers as the first charts of the report page.
 */
#ifndef SONDE_REPORT_PAGE_PAGE_OWN_H
#define SONDE_REPORT_PAGE_PAGE_OWN_H

#include "report/summary/own.h"

/* Specifications in the array "charts" that is open: one for each name. */
void page_own_charts_json(struct json *j, const struct own *own);
/* Keys in the object "series" that is open, of a node's n times; node 0: of all together, from the
 * least to the most of them. */
void page_own_series_json(struct json *j, const struct own *own, uint32_t node, const double *at_s,
			  uint32_t n);

#endif
