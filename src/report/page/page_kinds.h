/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_kinds.h - what time was of, by a few kinds: as a bar with its words, and over time as a
 * chart of the page with one layer for each. What the job's threads waited for is of this form;
 * so is its code (page_code.h).
 */
#ifndef SONDE_REPORT_PAGE_PAGE_KINDS_H
#define SONDE_REPORT_PAGE_PAGE_KINDS_H

#include "base/bytes.h"
#include "base/text/json.h"
#include "core/stacks/stacks.h"
#include "report/page/page_charts.h"
#include "report/summary/waittime.h"

enum {
	PAGE_KINDS = 9,
	PAGE_PLACES = 64,    /* what a stack can be of */
	PAGE_GROUPS = 512,   /* as many nodes as the page has in detail */
	PAGE_BUCKETS = 1024, /* as many as there are cells for */
};

struct page_kind {
	const char *label, *colour; /* colour: a token of page.css */
	double seconds;             /* 0: there is none */
};

/* {0} is empty. */
struct page_kinds {
	const char *id; /* of the chart; its series are "id:0", ... */
	struct page_kind kind[PAGE_KINDS];
	uint32_t n;
	uint32_t of[PAGE_PLACES];  /* of each place: which kind it is */
	struct stacks_cells cells; /* by node and place */
};

/* Share out the samples over time. places: of each node of run.stacks; NULL: by class. 0 or -errno
 * with a sentence. */
int page_kinds_cells(struct page_kinds *k, struct stacks *s, const uint32_t *places, double end_s,
		     struct err *e);
void page_kinds_free(struct page_kinds *k);
/* The first cell of a group, or of those behind it. */
uint32_t page_cells_first(const struct stacks_cells *x, uint32_t group);

/* A specification in the array "charts" that is open; c has its title, note and unit, and gets the
 * rest. */
void page_kinds_chart_json(struct json *j, const struct page_kinds *k, struct page_chart *c);
/* Keys in the object "series" that is open, of n points; node 0: of all together. */
void page_kinds_series_json(struct json *j, const struct page_kinds *k, uint32_t node,
			    const double *at_s, uint32_t n);

/* The bar of those that are not 0, and their words; where they are less than whole_s, it is not
 * filled. */
void html_kinds(struct bytes *b, const struct page_kind *kind, uint32_t n, double whole_s);

/* What the job's threads waited for: on a CPU, ready, the kinds of wait of the most time, all
 * others, and what is not known. Over time up to end_s. Empty without waits, and t may be NULL. 0
 * or -errno with a sentence. */
int page_waits_make(struct page_kinds *k, const struct waittime *t, double end_s, struct err *e);
/* A specification in the array "charts" that is open. */
void page_waits_chart_json(struct json *j, const struct page_kinds *k);

#endif
