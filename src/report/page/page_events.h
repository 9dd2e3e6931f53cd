/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_events.h - marks and spans of a run: on its page as data for the charts and as a table, and
 * as lines for a terminal.
 *
 * Where they are too many to be drawn, neighbours are drawn as one that says how many it is; how
 * many there are in all is said.
 */
#ifndef SONDE_REPORT_PAGE_PAGE_EVENTS_H
#define SONDE_REPORT_PAGE_PAGE_EVENTS_H

#include "base/text/json.h"
#include "core/frame/run.h"

#include <stdio.h>

/* Keys "marks", "marks_total", "spans" and "spans_total" of the object that is open. length_s: of
 * the run. */
void page_events_json(struct json *j, const struct run *r, double length_s);
/* Nothing, where there are none; of many spans, those that took most by name. 0 or -errno. */
int page_events_print(struct run *r, FILE *out, struct err *e);

#endif
