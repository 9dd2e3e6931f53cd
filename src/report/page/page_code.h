/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_code.h - the functions that used the CPU, as data of the report page: a tree of bounded size
 * with its times in stretches of the run, and the kinds of code.
 *
 * code.js reads it. "functions" are varints: name, module and file in "strings", line; "tree":
 * parent (as the distance to it), function and kind of each node from 1 on; node 0 is all together.
 * A set's "cells" are, for each group with any: group, number of stretches; for each of those: its
 * distance from the one before (from -1), number of nodes; for each: distance from the node before
 * (from 0), time in "unit" seconds. "whole": all CPU time of the run, and its parts without
 * samples: too short, other user time, kernel.
 */
#ifndef SONDE_REPORT_PAGE_PAGE_CODE_H
#define SONDE_REPORT_PAGE_PAGE_CODE_H

#include "base/text/json.h"
#include "report/page/page_kinds.h"
#include "report/summary/code.h"

enum { PAGE_CODE_SETS = 3, PAGE_CODE_KINDS = 7 }; /* the last kind is that of all others */

/* Of the classes of the most time, in the colours that code.js has; place: a class. */
void page_code_kinds(struct page_kinds *k, const struct stacks *s);

struct page_code {
	struct stacks *stacks; /* borrowed; NULL: no samples, and nothing is written */
	struct code_account account;
	struct stacks_fold fold;
	struct stacks_cells set[PAGE_CODE_SETS]; /* by node, rank, command */
	struct page_kinds kinds;
	double end_s;
};

/* {0} is empty and safe to free. code is borrowed, or NULL. 0 or -errno with a sentence. */
int page_code_make(struct page_code *c, const struct code *code, double end_s, struct err *e);
void page_code_free(struct page_code *c);

/* A specification in the array "charts" that is open. */
void page_code_chart_json(struct json *j, const struct page_kinds *k);
/* The member "code" of the data. */
void page_code_json(struct json *j, const struct page_code *c);

#endif
