/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_trace.h - a trace in Chrome's JSON, while it is imported: read twice, once for what it
 * says of itself and once for what happened.
 */
#ifndef SONDE_IMPORT_CHROME_TRACE_H
#define SONDE_IMPORT_CHROME_TRACE_H

#include "base/err.h"
#include "base/pool.h"
#include "base/text/jsondoc.h"
#include "import/importer.h"
#include "import/protobuf.h"
#include "import/timeline.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One event of a trace in Chrome's JSON, out of a document at its opening brace.
 *
 * Members may come in any order, be missing or be something else; texts are hostile and bounded:
 * what is longer is shortened, and ends in a checksum, so that two that differ stay different. */

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
	bool id_is_local;     /* to its process */
	bool binds_enclosing; /* "bp": "e" */
	uint32_t nargs;
	struct chrome_arg arg[CHROME_ARGS];
};

/* Behind JSONDOC_OBJECT. False: the document is bad, *e says why. */
bool chrome_event_read(struct chrome_event *ev, struct jsondoc *j, struct err *e);
/* " key=value key=value" of its arguments behind what there is, shortened. */
void chrome_args(const struct chrome_event *ev, char detail[TIMELINE_TEXT_MAX + 1]);
/* Its process and thread; never 0. */
uint64_t chrome_thread_key(const struct chrome_event *ev);

/* The processes, threads and counters of a trace: what each is called and which track it became,
 * by its kind and up to two texts. {0} is empty; how many there are is bounded. */

enum chrome_kind { CHROME_PROCESS = 1, CHROME_THREAD, CHROME_LANE, CHROME_COUNTER };
enum { CHROME_NAMES_MAX = 65536, CHROME_LANES = 256 };

struct chrome_name {
	uint64_t key;
	const char *text;                  /* NULL: it has no name */
	uint32_t id;                       /* of its track or counter, plus 1; 0: none yet */
	uint32_t lanes[CHROME_LANES / 32]; /* of a process: those in use */
};

struct chrome_names {
	struct chrome_name *at;
	uint32_t n, cap, nprocesses;
	struct pool text;
};

/* Made when it is new; NULL: too many, or no memory. Valid until the next call. */
struct chrome_name *chrome_name_of(struct chrome_names *c, enum chrome_kind kind, const char *a,
				   const char *b);
void chrome_name_set(struct chrome_names *c, struct chrome_name *n, const char *text);
void chrome_names_free(struct chrome_names *c);

/* Spans that have begun, in stacks by a key: of a thread, or of an id.
 *
 * How many are open, and how much their texts are, is bounded. {0} is empty. */

enum { OPENSPANS_MAX = 1 << 20, OPENSPANS_TEXT = 256 << 20, OPENSPANS_BUCKETS = 1 << 16 };

struct openspan {
	uint64_t key;
	int64_t begin_ns;
	uint32_t track;
	uint32_t lane; /* of what it is the outermost of; 0: none */
	uint32_t next; /* of its bucket: the newest first */
	bool has_args;
	char *name; /* its detail is behind its NUL */
};

struct openspans {
	struct openspan *at; /* from 1 */
	uint32_t n, cap, free;
	uint32_t *bucket;
	size_t text;
};

enum openspans_put { OPENSPANS_PUT, OPENSPANS_FULL, OPENSPANS_NO_MEMORY };
void openspans_free(struct openspans *o);

/* The ends of arrows. {0} is empty; how many there are is bounded. */

enum { CHROME_FLOWS_MAX = 1 << 18 };

struct chrome_flow {
	uint64_t thread, number;
	int64_t at_ns;
	int64_t begin_ns, end_ns; /* of its span; INT64_MIN: none */
	char phase;
	bool next; /* of the next span that begins, not of the one that is open */
	bool kept; /* with a span */
};

struct chrome_flows {
	struct chrome_flow *at;
	uint32_t n, cap;
	uint64_t left; /* beyond CHROME_FLOWS_MAX */
};

/* Times since 1970 and others in one trace: one of both is wrong. */
enum { CHROME_SMALL, CHROME_SINCE_1970, CHROME_CLOCKS };

struct chrome_counts {
	uint64_t malformed, bad_time, other_clock;
	uint64_t no_begin, ends_before, open, too_many_open, other_name;
	uint64_t shortened, no_number, categories;
	uint64_t unknown[128]; /* by phase */
};

struct chrome {
	const struct import *x;
	struct err *e;
	struct packed file;
	struct err fault; /* of the document */
	struct chrome_event ev;
	struct chrome_names names;
	struct chrome_flows flows;
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

/* The event c->ev is one. 0 or -errno. */
int chrome_flow_take(struct chrome *c);
/* By their times, to find spans; or by those, to write them. */
void chrome_flows_sort(struct chrome_flows *all, bool spans);
/* A span: it has those that are nearer to it than to what was seen before. */
void chrome_flows_bind(struct chrome_flows *all, uint64_t thread, int64_t begin_ns, int64_t end_ns);
/* Those of a span as "flow_out=ID" and "flow_in=ID" behind the detail, as far as there is room. */
void chrome_flows_words(struct chrome_flows *all, uint64_t thread, int64_t begin_ns, int64_t end_ns,
			char detail[TIMELINE_TEXT_MAX + 1]);
/* How many no span kept. */
uint64_t chrome_flows_left(const struct chrome_flows *all);
void chrome_flows_free(struct chrome_flows *all);

/* Which of both clocks. */
int chrome_clock_of(int64_t ts_ns);
/* The event c->ev, into c->line. 0 or -errno. */
int chrome_put(struct chrome *c);
/* Whose span it is, for the arrows at it. 0 or -errno. */
int chrome_bind(struct chrome *c);
/* What is still open has no end. 0 or -errno. */
int chrome_put_open(struct chrome *c);

#endif
