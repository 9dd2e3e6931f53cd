/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sonde.h - reads the recordings that sonde makes: link with -lsonde (or libsonde.a -lzstd -lm).
 *
 * A recording, or a directory of them, opens as one run: nodes, metrics, instances (processes,
 * disks, ...), metadata; and its tables, row by row. Damage never stops the reading: what is
 * undamaged is read and the rest is counted. Nothing here prints, exits or changes a file.
 *
 * Ownership: what a sonde_*_open gave is freed by its close. Every const char * that is handed out
 * belongs to the run, is UTF-8 only when its writer was honest, and lives until sonde_close; those
 * of a row live until the next row. A run is used by one thread at a time.
 * Ids of nodes, metrics, instances and metadata are 1 .. count; 0 is none.
 * Before version 1 these declarations may change with the number in the library's name.
 */
#ifndef SONDE_H
#define SONDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined __GNUC__
#define SONDE_API __attribute__((visibility("default")))
#else
#define SONDE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct sonde_run;
struct sonde_rows;

/* One sentence that names the thing and says what to do; code is an errno (ENOENT, ENODATA, ...).
 */
struct sonde_error {
	int code;
	char text[512];
};

SONDE_API const char *sonde_version(void);

/* path: a directory that sonde made, or one .sonde file of it. NULL on failure; error may be NULL.
 */
SONDE_API struct sonde_run *sonde_open(const char *path, struct sonde_error *error);
SONDE_API void sonde_close(struct sonde_run *run); /* NULL is ignored */

/* When the run's second 0 was: nanoseconds since 1970, UTC. */
SONDE_API int64_t sonde_start_utc_ns(const struct sonde_run *run);
/* How many places of its files are damaged and were left out. */
SONDE_API size_t sonde_damage_count(const struct sonde_run *run);

struct sonde_node {
	const char *host;
	uint64_t samples;
	double first_s, last_s; /* seconds since the run began, of its first and last sample */
	bool complete;          /* false: killed, cut short, or still running */
};
SONDE_API size_t sonde_node_count(const struct sonde_run *run);
SONDE_API bool sonde_node_get(const struct sonde_run *run, size_t id, struct sonde_node *out);

/* Values are in the unit named: seconds, bytes, count, ratio (0..1), ... */
struct sonde_metric {
	const char *name;   /* "process.cpu_seconds" */
	const char *unit;   /* "" for a bare number */
	const char *kind;   /* "counter", "gauge" or "state" */
	const char *domain; /* what an instance of it is: "process"; NULL: the node itself */
	const char *label, *help;
	const char *formula; /* of a derived metric; NULL: measured */
};
SONDE_API size_t sonde_metric_count(const struct sonde_run *run);
SONDE_API bool sonde_metric_get(const struct sonde_run *run, size_t id, struct sonde_metric *out);

struct sonde_instance {
	const char *domain, *name; /* "process", "make" */
	size_t node, parent;
	double begin_s, end_s; /* seconds since the run began; end NAN while it lives */
};
SONDE_API size_t sonde_instance_count(const struct sonde_run *run);
SONDE_API bool sonde_instance_get(const struct sonde_run *run, size_t id,
				  struct sonde_instance *out);
/* NULL when it has no such label. Keys of a process: "pid", ... */
SONDE_API const char *sonde_instance_label(const struct sonde_run *run, size_t id, const char *key);

/* What was said once of the run, the job or the machine: "job.command", "job.exit_code". */
enum sonde_meta_type { SONDE_META_TEXT = 0, SONDE_META_INT, SONDE_META_REAL, SONDE_META_BOOL };
struct sonde_meta {
	size_t node;
	const char *key, *text; /* text NULL when the type is another */
	enum sonde_meta_type type;
	int64_t integer; /* of INT, and 0 or 1 of BOOL */
	double real;     /* of REAL */
};
SONDE_API size_t sonde_meta_count(const struct sonde_run *run);
SONDE_API bool sonde_meta_get(const struct sonde_run *run, size_t id, struct sonde_meta *out);
/* The last that was said of key; false when nothing was. */
SONDE_API bool sonde_meta_find(const struct sonde_run *run, const char *key,
			       struct sonde_meta *out);

/* Tables. SERIES has one row per value: node, metric, instance, time, value; counters are given as
 * rates, derived metrics are computed. The others have one row per process (or other instance),
 * mark, span, series without values, and value of a program's counter. */
enum sonde_table {
	SONDE_SERIES = 0,
	SONDE_INSTANCES,
	SONDE_MARKS,
	SONDE_SPANS,
	SONDE_STATES,
	SONDE_COUNTERS
};

/* Zeroed, it asks for every value of SERIES. */
struct sonde_selection {
	enum sonde_table table;
	bool wide;           /* SERIES: one row per node and instant, one column per metric */
	bool raw;            /* SERIES: counters as they were read, not as rates; nothing derived */
	bool combine;        /* SERIES: all instances of a metric become one value */
	const char *metrics; /* globs separated by commas: "job.*,node.load"; NULL: all */
	const char *domain;  /* INSTANCES: of this domain; NULL: "process" */
	double from_s, to_s; /* seconds since the run began; to_s 0: to the end */
	double every_s;      /* more than 0: means over windows as long as this; not with raw */
};

/* selection NULL: as if zeroed. One at a time per run, and closed before it: EBUSY. */
SONDE_API struct sonde_rows *sonde_rows_open(struct sonde_run *run,
					     const struct sonde_selection *selection,
					     struct sonde_error *error);
SONDE_API void sonde_rows_close(struct sonde_rows *rows); /* NULL is ignored */

enum sonde_column_type {
	SONDE_TEXT = 0,
	SONDE_INT,
	SONDE_REAL,
	SONDE_TIME /* ns since 1970, UTC */
};
struct sonde_column {
	const char *name, *unit, *help; /* borrowed from the rows */
	enum sonde_column_type type;
};
/* Columns are 0 .. count - 1. */
SONDE_API size_t sonde_column_count(const struct sonde_rows *rows);
SONDE_API bool sonde_column_get(const struct sonde_rows *rows, size_t column,
				struct sonde_column *out);
/* SIZE_MAX when there is none of that name. */
SONDE_API size_t sonde_column_find(const struct sonde_rows *rows, const char *name);

/* 1: there is a row; 0: that was all; -1: error says why. */
SONDE_API int sonde_rows_next(struct sonde_rows *rows, struct sonde_error *error);
/* Cells of the row. A value that was not there is absent, never 0. */
SONDE_API bool sonde_cell_present(const struct sonde_rows *rows, size_t column);
SONDE_API double sonde_cell_real(const struct sonde_rows *rows,
				 size_t column); /* any number; else NAN */
SONDE_API int64_t sonde_cell_int(const struct sonde_rows *rows,
				 size_t column); /* INT and TIME; else 0 */
SONDE_API const char *sonde_cell_text(const struct sonde_rows *rows,
				      size_t column); /* TEXT; else NULL */

/* The same by columns, for programs that take many rows at once: the next rows, at most some
 * thousands; their number, 0: that was all, -1: error says why. Not mixed with sonde_rows_next. */
SONDE_API int64_t sonde_batch_next(struct sonde_rows *rows, struct sonde_error *error);
/* The column's cells, one a row, until the next batch; NULL when the column is of another type. */
SONDE_API const double *sonde_batch_real(const struct sonde_rows *rows, size_t column);
SONDE_API const int64_t *sonde_batch_int(const struct sonde_rows *rows, size_t column);
SONDE_API const char *const *sonde_batch_text(const struct sonde_rows *rows, size_t column);
/* 1 where the row has a value; what stands elsewhere in the cells means nothing. */
SONDE_API const uint8_t *sonde_batch_present(struct sonde_rows *rows, size_t column);

#ifdef __cplusplus
}
#endif

#endif
