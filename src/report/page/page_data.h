/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_data.h - what the page's script reads: charts, values and processes as one JSON text.
 *
 * Safe inside a <script> element. Values are base64 of little-endian floats, NaN where absent; a
 * series that never changes is one number.
 */
#ifndef SONDE_REPORT_PAGE_PAGE_DATA_H
#define SONDE_REPORT_PAGE_PAGE_DATA_H

#include "base/bytes.h"
#include "report/phases/traces.h"
#include "report/summary/summary.h"

/* Of traces that page_series_wish wished for. 0, or -errno with a sentence. */
int page_data_json(struct bytes *out, const struct run *r, const struct summary *s,
		   const struct traces *t, struct err *e);

#endif
