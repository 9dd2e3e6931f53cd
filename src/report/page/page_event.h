/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_event.h - a mark or a span on the run's clock, and how very many become as many as a page
 * can draw.
 *
 * Neighbours that are too short to draw separately become one event that says how many it is and
 * for how long they lasted together. None is left out as long as that is enough.
 */
#ifndef SONDE_REPORT_PAGE_PAGE_EVENT_H
#define SONDE_REPORT_PAGE_PAGE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

/* Texts are borrowed from the run. */
struct page_event {
	uint32_t node, id;
	const char *name, *text, *track; /* name NULL: many of several names */
	double from_s, to_s;             /* to_s NAN: a mark, or a span that did not end */
	double lasted_s;                 /* of many: all of them added up */
	uint32_t count;                  /* 1, or of how many it is made */
	bool is_span;
};

/* For qsort: in order of time, spans before marks. */
int page_event_by_time(const void *a, const void *b);
/* At most `most` in place of e[0..n), in order of time; returns how many. length_s: of the run. */
uint32_t page_events_merge(struct page_event *e, uint32_t n, uint32_t most, double length_s);

#endif
