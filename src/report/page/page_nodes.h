/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_nodes.h - the nodes that the page, or JSON, shows in detail: all of them, or, of very many,
 * those that differ most from the others.
 *
 * First those that a verdict or a comparison of the nodes names and those that were lost, then
 * those whose CPU time or memory is farthest from the middle. All nodes are in the sums.
 */
#ifndef SONDE_REPORT_PAGE_PAGE_NODES_H
#define SONDE_REPORT_PAGE_PAGE_NODES_H

#include "core/frame/run.h"
#include "report/summary/summary.h"

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

#endif
