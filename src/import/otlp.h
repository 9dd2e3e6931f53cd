/* SPDX-License-Identifier: Apache-2.0 */
/*
 * otlp.h - OpenTelemetry's traces, metrics and logs in OTLP, while they are imported: read twice,
 * once for their times and whose they are, once for what happened. JSON and protobuf hand over the
 * same.
 *
 * Every byte is hostile: texts, attributes and events of a span are bounded.
 */
#ifndef SONDE_IMPORT_OTLP_H
#define SONDE_IMPORT_OTLP_H

#include "base/err.h"
#include "base/pool.h"
#include "import/importer.h"
#include "import/lanes.h"
#include "import/protobuf.h"
#include "import/sampled.h"
#include "import/timeline.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	OTLP_EVENTS = 64, /* of a span */
	OTLP_KEY = 96,
	OTLP_NAME = 200, /* of an event */
	OTLP_RESOURCES_MAX = 1 << 20,
};

/* What produced spans: a process, mostly. */
struct otlp_resource {
	char service[128], host[256], pid[24];
	char more[TIMELINE_TEXT_MAX + 1]; /* other attributes, as words */
	bool told;
};

struct otlp_event {
	bool has_time;
	int64_t at_ns;
	char name[OTLP_NAME + 1], detail[TIMELINE_TEXT_MAX + 1];
};

struct otlp_span {
	bool has_begin, has_end, shortened;
	int64_t begin_ns, end_ns;
	char name[TIMELINE_NAME_MAX + 1], detail[TIMELINE_TEXT_MAX + 1];
	char tid[24], thread[64];
	uint32_t nevents, events_left, links;
	struct otlp_event event[OTLP_EVENTS];
};

/* A value of a metric; of a histogram or a summary its number and sum. */
struct otlp_point {
	char metric[TIMELINE_NAME_MAX + 1], unit[64];
	bool has_time, has_value, has_count, has_sum;
	int64_t at_ns;
	double value, count, sum;
	char labels[TIMELINE_TEXT_MAX + 1];
};

struct otlp {
	const struct import *x;
	struct err *e;
	struct packed file;
	struct timeline line;
	struct timeline_times times;
	struct lanes lanes;
	struct sampled_ids counters;
	bool seen;   /* anything with a time */
	bool writes; /* the second reading */
	bool bad;    /* from somewhere on; fault says why */
	struct err fault;
	struct {
		uint64_t spans, bad_time, backwards, open, shortened, links, events_left, others;
		uint64_t malformed, points, no_value, logs;
	} count;

	/* Of each part of the file, in its order: which process, from 1. The first reading finds
	 * it, since a part may say it behind its spans. */
	struct otlp_resource *resource;
	uint32_t nresources, cap;
	uint32_t *part;
	uint32_t nparts, parts_cap, at_part;
	bool several_hosts;

	struct otlp_resource now; /* of the part that is read */
	uint32_t now_id;
	struct otlp_span span; /* or a record of a log, at its begin */
	struct otlp_point point;
};

/* A text, shortened between characters if need be; false: it was. */
bool otlp_copy(char *out, size_t size, const char *text, size_t n);
/* One attribute of the part, or of o->span. */
void otlp_resource_attribute(struct otlp *o, const char *key, const char *value);
void otlp_attribute(struct otlp_span *s, const char *key, const char *value);
/* What a span says beside its attributes; numbers as OTLP has them. */
void otlp_kind(struct otlp_span *s, int64_t kind);
void otlp_status(struct otlp_span *s, int64_t code, const char *message);
/* The next event of a span, emptied; NULL: there are too many. */
struct otlp_event *otlp_event(struct otlp_span *s);

/* A part begins, ends; o->span is whole. 0 or -errno. */
int otlp_part_begin(struct otlp *o);
int otlp_part_end(struct otlp *o);
void otlp_span_begin(struct otlp *o);
int otlp_span_end(struct otlp *o);
int otlp_log_end(struct otlp *o);
/* A point of the metric o->point.metric. */
void otlp_point_begin(struct otlp *o);
int otlp_point_end(struct otlp *o);
/* Is o's part of the node that is imported into? */
bool otlp_is_of_the_node(const struct otlp *o);
/* Of what is in the file: the first reading. */
void otlp_see(struct otlp *o, int64_t first_ns, int64_t last_ns);
/* Who owns spans and logs: SERVICE PID. */
enum { OTLP_WHOSE = 440 };
void otlp_whose(const struct otlp *o, char out[OTLP_WHOSE]);
/* "[", "[a", "[a,b": as far as there is room; otlp_list_end closes it. */
void otlp_list_put(char *out, size_t size, const char *item);
void otlp_list_end(char *out, size_t size);

/* All of the file, rewound. 0 or -errno; o->bad: the file is, behind what was taken. */
int otlp_json_read(struct otlp *o);
int otlp_protobuf_read(struct otlp *o);

#endif
