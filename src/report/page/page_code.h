/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_code.h - the functions that used the CPU, and those that waited, as data of the report page:
 * each a tree of bounded size with its times in stretches of the run, and kinds of code or of
 * waits.
 *
 * code.js reads it. "functions" are varints: name, module and file in "strings", line; "tree":
 * parent (as the distance to it), function and kind of each node from 1 on; node 0 is all together.
 * A set's "cells" are, for each group with any: group, number of stretches; for each of those: its
 * distance from the one before (from -1), number of nodes; for each: distance from the node before
 * (from 0), time in "unit" seconds. "whole": all CPU time of the run, and its parts without
 * samples: too short, other user time, kernel. "owners", of waits: the function that the time of a
 * node counts for, from node 1 on; 0: of none.
 */
#ifndef SONDE_REPORT_PAGE_PAGE_CODE_H
#define SONDE_REPORT_PAGE_PAGE_CODE_H

#include "base/text/json.h"
#include "report/page/page_kinds.h"
#include "report/summary/code.h"

enum { PAGE_CODE_SETS = 3, PAGE_CODE_KINDS = 7 }; /* the last kind is that of all others */

struct page_code {
	const char *key;                    /* in the data */
	struct stacks *stacks;              /* borrowed; NULL: no samples, and nothing is written */
	const struct code_account *account; /* of CPU time */
	const struct waiting *waiting;      /* of waits */
	struct waiting_node *waits;         /* [fold.n], of waits */
	struct stacks_fold fold;
	struct stacks_cells set[PAGE_CODE_SETS]; /* by node, rank, command */
	struct page_kinds kinds;
	double end_s;
};

/* {0} is empty and safe to free. code is borrowed, or NULL. 0 or -errno with a sentence. */
int page_code_make(struct page_code *c, const struct code *code, double end_s, struct err *e);
/* The same of what threads waited for. */
int page_code_make_waits(struct page_code *c, const struct waittime *t, double end_s,
			 struct err *e);
void page_code_free(struct page_code *c);

/* A specification in the array "charts" that is open. */
void page_code_chart_json(struct json *j, const struct page_kinds *k);
/* A member of the data. */
void page_code_json(struct json *j, const struct page_code *c);

#endif
