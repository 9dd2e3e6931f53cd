/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_trace.h - a trace in Chrome's JSON, while it is imported: read twice, once for what it
 * says of itself and once for what happened.
 */
#ifndef SONDE_IMPORT_CHROME_TRACE_H
#define SONDE_IMPORT_CHROME_TRACE_H

#include "import/chrome_event.h"
#include "import/chrome_names.h"
#include "import/importer.h"
#include "import/openspans.h"
#include "import/packed.h"
#include "import/timeline_clock.h"

/* Times since 1970 and others in one trace: one of both is wrong. */
enum { CHROME_SMALL, CHROME_SINCE_1970, CHROME_CLOCKS };

struct chrome_counts {
	uint64_t malformed, bad_time, other_clock;
	uint64_t no_begin, ends_before, open, too_many_open, other_name;
	uint64_t flows, shortened;
	uint64_t unknown[128]; /* by phase */
};

struct chrome {
	const struct import *x;
	struct err *e;
	struct packed file;
	struct err fault; /* of the document */
	struct chrome_event ev;
	struct chrome_names names;
	struct chrome_counts count;

	/* What the file says of itself. */
	bool has_list, bad; /* bad: it ends too early, or is malformed from somewhere on */
	char rank[24];
	char statement[64];
	struct timeline_times times;
	struct {
		uint64_t n;
		int64_t first_ns, last_ns;
	} clock[CHROME_CLOCKS];
	int which_clock;

	/* While it is written. */
	struct timeline line;
	struct openspans open;
};

/* Which of both clocks. */
int chrome_clock_of(int64_t ts_ns);
/* The event c->ev, into c->line. 0 or -errno. */
int chrome_put(struct chrome *c);
/* What is still open has no end. 0 or -errno. */
int chrome_put_open(struct chrome *c);

#endif
