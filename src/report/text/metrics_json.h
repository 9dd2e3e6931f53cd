/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_json.h - every metric of a summary as JSON: of each node, or, of very many nodes, of
 * those that are told in detail, and of the others together.
 */
#ifndef SONDE_REPORT_TEXT_METRICS_JSON_H
#define SONDE_REPORT_TEXT_METRICS_JSON_H

#include "base/text/json.h"
#include "report/page/page_data.h"
#include "report/summary/summary.h"

/* Nodes that are told in detail: with them the document stays below some 20 MB. */
enum { JSON_NODES_MAX = 256 };

/* Whether the summary is to have all metrics: of more nodes they are read again for the document,
 * and none is kept. */
bool json_needs_all(const struct run *r);
/* Keys "metrics" and "metrics_of_other_nodes" of an open object. 0 or -errno. */
int metrics_json(struct json *j, const struct summary *s, struct run *r,
		 const struct page_nodes *detail);

#endif
