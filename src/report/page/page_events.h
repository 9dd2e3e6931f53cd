/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_events.h - marks and spans of a run on its clock: on its page as data for the charts and as
 * a table, and as lines for a terminal.
 *
 * Where they are too many to be drawn, neighbours that are too short to draw separately become one
 * event that gives their number and for how long they lasted together; how many there are in all is
 * given, too. None is left out as long as that is enough.
 */
#ifndef SONDE_REPORT_PAGE_PAGE_EVENTS_H
#define SONDE_REPORT_PAGE_PAGE_EVENTS_H

#include "base/text/json.h"
#include "core/frame/run.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Keys "marks", "marks_total", "spans" and "spans_total" of the object that is open. length_s: of
 * the run. */
void page_events_json(struct json *j, const struct run *r, double length_s);
/* Nothing, where there are none; of many spans, those that took most by name. 0 or -errno. */
int page_events_print(struct run *r, FILE *out, struct err *e);

/* Texts are borrowed from the run. */
struct page_event {
	uint32_t node, id;
	const char *name, *text, *track; /* name NULL: many of several names */
	double from_s, to_s;             /* to_s NAN: a mark, or a span that did not end */
	double lasted_s;                 /* of many: all of them added up */
	uint32_t count;                  /* 1, or of how many it is made */
	bool is_span;
};

/* At most `most` in place of e[0..n), in order of time; returns how many. length_s: of the run. */
uint32_t page_events_merge(struct page_event *e, uint32_t n, uint32_t most, double length_s);

#endif
