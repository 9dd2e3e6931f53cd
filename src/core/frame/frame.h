/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame.h - a pull cursor over a run: typed table rows, a batch at a time.
 *
 * Rates and derived metrics are made here and nowhere else. It never holds the run's values in
 * memory. Absent cells are absent (state != STATE_PRESENT), never 0. Text cells are hostile: escape
 * where they go. Tables: series (tidy: one row per value; wide: a row per node and instant),
 * instances, marks, spans, states (series that this machine does not have, may not be read or
 * failed, and why), counters (values that programs set in between samples).
 */
#ifndef SONDE_CORE_FRAME_FRAME_H
#define SONDE_CORE_FRAME_FRAME_H

#include "core/frame/run.h"
#include "core/table/map.h"

enum frame_table {
	FRAME_SERIES = 0,
	FRAME_INSTANCES,
	FRAME_MARKS,
	FRAME_SPANS,
	FRAME_STATES,
	FRAME_COUNTERS,
	FRAME_TABLE_NUMBER_OF
};
enum column_type { COLUMN_TEXT = 0, COLUMN_INT, COLUMN_REAL, COLUMN_TIME /* UTC ns since 1970 */ };

enum { FRAME_BATCH_ROWS = 4096 };

struct column {
	const char *name; /* header */
	enum column_type type;
	const char *unit; /* unit_name, or "" */
	const char *help;
	const char *kind; /* kind_name of a metric's values; NULL: no metric */
};

/* Columns that several tables have; COLUMN_SINCE: of the time in the column before. */
/* clang-format off */
#define COLUMN_NODE { "node", COLUMN_TEXT, "", "Host name.", NULL }
#define COLUMN_TRACK { "track", COLUMN_TEXT, "", "What it ran on; empty: the node.", NULL }
#define COLUMN_INSTANCE \
	{ "instance", COLUMN_TEXT, "", "Device or process; empty: the node itself.", NULL }
#define COLUMN_BEGIN { "begin_time", COLUMN_TIME, "", "Wall time (UTC) of its begin.", NULL }
#define COLUMN_END \
	{ "end_time", COLUMN_TIME, "", "Wall time (UTC) of its end; empty: none was seen.", NULL }
#define COLUMN_SINCE(name) { name, COLUMN_REAL, "seconds", "The same, since the run began.", NULL }
/* clang-format on */

struct losses;

struct frame_schema {
	const char *table; /* "series", "processes", "commands", "marks", "spans", "states",
			      "counters" */
	uint32_t ncolumns;
	const struct column *columns;
	/* The tidy table: what its metric column may say, each with its unit, kind and help. */
	uint32_t nmetrics;
	const struct column *metrics;
	const char *losses;        /* of the run, in words; "": none */
	const struct losses *lost; /* the same, one by one; NULL: only the words are here */
	const char *summary;       /* of the run, as JSON, for a file of a lake; NULL: none */
	bool texts_stay;           /* until frame_close: what is at one address is one text */
};

/* One column of a batch: nrows cells. */
struct cells {
	union {
		int64_t *i;     /* COLUMN_INT, COLUMN_TIME */
		double *d;      /* COLUMN_REAL */
		const char **s; /* COLUMN_TEXT; borrowed from the run */
	};
	uint8_t *state; /* enum state of each cell */
};

struct batch {
	uint32_t nrows;
	const struct cells *columns;
};

struct selection {
	enum frame_table table;
	bool wide;    /* series only: a row per node and instant. Process-like instances (those
			 that come and go) are left out; devices are columns metric[instance] */
	bool raw;     /* counters as stored (scaled to base units), not as rates; nothing derived */
	bool lasting; /* tidy: without rows of instances that come and go */
	bool combine; /* tidy: instances of a metric become one row by over_instances */
	const char *metrics; /* comma-separated globs on public names; NULL = all */
	bool may_match_none; /* else that is -EINVAL */
	const char
		*domain; /* instances: only this domain ("process", "command"); NULL = "process" */
	uint32_t from_node, to_node; /* for who reads the chunks: only nodes from_node .. to_node -
					1 are worked on; to_node 0 = all. Tables have all */
	double from_s, to_s;         /* seconds since the run began; to_s 0 = the end */
	double every_s; /* > 0: time-weighted means of windows this long, with minimum and maximum
			   in the tidy table; 0 = every sample. Not with raw */
	const struct map_table *map; /* series in the words of another program: columns Host,
					Timestamps, then the map's; borrowed. Alone but for from_s
					and to_s */
	bool map_keys; /* columns are named by the keys, in their units, and not by the headers */
};

struct frame;

/* The run is borrowed, must outlive the frame, and serves one frame at a time. 0 or -errno. */
int frame_open(struct frame **f, struct run *r, const struct selection *sel, struct err *e);
const struct frame_schema *frame_schema(const struct frame *f);
/* 1 and a batch (valid until the next call), 0 at the end, -errno. */
int frame_next(struct frame *f, struct batch *b, struct err *e);
int frame_rewind(struct frame *f);
void frame_close(struct frame *f);

#endif
