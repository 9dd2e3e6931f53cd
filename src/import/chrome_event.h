/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_event.h - one event of a trace in Chrome's JSON, out of a document at its opening brace.
 *
 * Members may come in any order, be missing or be something else; texts are hostile and bounded:
 * what is longer is shortened, and ends in a checksum, so that two that differ stay different.
 */
#ifndef SONDE_IMPORT_CHROME_EVENT_H
#define SONDE_IMPORT_CHROME_EVENT_H

#include "base/err.h"
#include "base/text/jsondoc.h"
#include "import/timeline.h"

enum { CHROME_KEY = 64, CHROME_ARGS = 16 };

struct chrome_arg {
	char key[CHROME_KEY], text[TIMELINE_NAME_MAX + 1];
	bool is_number;
	double number;
};

struct chrome_event {
	char phase; /* of "ph"; 0: none */
	bool has_ts, has_duration;
	bool empty;    /* "{}", with which some end the list */
	bool bad_time; /* a time that is none */
	bool shortened, args_left;
	int64_t ts_ns, duration_ns;
	char name[TIMELINE_NAME_MAX + 1], category[CHROME_KEY], pid[CHROME_KEY], tid[CHROME_KEY];
	char id[CHROME_KEY], scope[CHROME_KEY];
	bool id_is_local; /* to its process */
	uint32_t nargs;
	struct chrome_arg arg[CHROME_ARGS];
};

/* Behind JSONDOC_OBJECT. False: the document is bad, *e says why. */
bool chrome_event_read(struct chrome_event *ev, struct jsondoc *j, struct err *e);
/* Of a number of microseconds as it was written, with up to three more digits. False: it is none,
 * or is beyond 292 years. */
bool chrome_time(const char *text, int64_t *ns);
/* "key=value key=value", shortened; "" when there are none. */
void chrome_detail(const struct chrome_event *ev, char out[TIMELINE_TEXT_MAX + 1]);

#endif
