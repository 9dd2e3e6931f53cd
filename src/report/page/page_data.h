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
#include "core/frame/run.h"
#include "report/phases/traces.h"
#include "report/summary/summary.h"

/*
 * The nodes that the page, or JSON, shows in detail: all of them, or, of very many,
 * those that differ most from the others.
 *
 * First those that a verdict or a comparison of the nodes names and those that were lost, then
 * those whose CPU time or memory is farthest from the middle. All nodes are in the sums.
 */

enum { PAGE_NODES_MAX = 512 };

struct page_nodes {
	uint32_t *id; /* [n] of the run, ascending */
	uint32_t n;
};

/* At most max of them. 0 or -ENOMEM; free in either case. */
int page_nodes_make(struct page_nodes *x, const struct run *r, const struct summary *s,
		    uint32_t max);
bool page_nodes_has(const struct page_nodes *x, uint32_t node);
void page_nodes_free(struct page_nodes *x);

/* Of traces that page_series_wish wished for. 0, or -errno with a sentence. */
int page_data_json(struct bytes *out, const struct run *r, const struct summary *s,
		   const struct traces *t, struct err *e);

#endif
