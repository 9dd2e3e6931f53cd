/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.h - what an importer has read, written as a recording: a file for each node.
 */
#ifndef SONDE_IMPORT_WRITE_H
#define SONDE_IMPORT_WRITE_H

#include "base/err.h"
#include "base/files.h"
#include "base/pool.h"
#include "core/metric.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * What an importer has read, until it is written as a recording: nodes, each with groups
 * of series that share their times.
 *
 * Values wait in a spool, so that memory grows with nodes and series only, and these are bounded.
 * {0} is closed and safe to close.
 */
enum {
	STORE_NODES_MAX = 16384,
	STORE_SERIES_MAX = 131072,
	STORE_GROUP_SERIES_MAX = 1024,
	STORE_GROUPS_MAX = 256,       /* of a node */
	STORE_NODE_SERIES_MAX = 8192, /* of a node */
	STORE_METAS_MAX = 512,        /* of a node */
	STORE_META_TEXT_MAX = 1024,
	STORE_EVENTS_MAX = 8192, /* of a node */
	STORE_NOTES_MAX = 40
};

struct store_series {
	struct metric metric; /* its texts live in the store's pool, or for ever */
	const char *instance; /* NULL: the node itself */
	bool aside;           /* the instance is left out of totals */
	double factor;        /* value = what was read / factor */
	uint32_t values;      /* in the spool; 0: none, then: */
	const char *refused;  /* why there is no value (failed) */
	bool rises;           /* what was read is by how much a counter rose since then */
	uint64_t zeros;       /* in so many first rows, 0 says that nothing was read */
	struct store_series *next;
	uint32_t slot; /* while it is written */
	double sum;
	struct spool_cursor cursor;
};

struct store_group {
	uint32_t node;
	const char *from;  /* what of the document it is, so that nothing is taken twice */
	bool of_intervals; /* its times are the begins of intervals */
	uint32_t times;    /* in the spool: seconds since 1970; 0: none */
	double interval_s; /* > 0: their length; values are of their ends */
	uint32_t nseries;
	struct store_series *series, *last;
	struct store_group *next;
	struct spool_cursor cursor;
	int64_t at_ns; /* of the next row; INT64_MAX: none */
	bool origin;   /* it is the begin of the first interval */
};

struct store_meta {
	const char *key, *text; /* text NULL: a number */
	double number;
	bool whole;
	struct store_meta *next;
};

/* What happened; a span is a BEGIN and the END of its name behind it. */
enum store_event_kind { STORE_MARK, STORE_BEGIN, STORE_END, STORE_TAKEN };

struct store_event {
	enum store_event_kind kind;
	double at_s; /* since 1970 */
	const char *name, *text;
	struct store_event *next;
};

struct store_node {
	const char *host;
	struct store_event *event, *last_event;
	uint32_t nevents;
	struct store_group *group;
	struct store_meta *meta;
	uint32_t ngroups, nseries, nmetas;
};

struct store {
	struct pool pool;
	struct spool spool;
	struct store_node *node;
	uint32_t nnodes, cap, nseries;
	const char *note[STORE_NOTES_MAX];
	uint32_t nnotes;
	uint64_t left_out; /* things that were malformed or too many */
	double interval_s; /* between samples; 0: unknown */
};

/* The spool is in that directory. 0 or -errno. */
int store_open(struct store *s, const char *directory);
void store_close(struct store *s);

/* The node of that host, made when it is new. -1: too many, or no memory. */
int64_t store_node(struct store *s, const char *host);
/* A new group of a node, or NULL: too many, or no memory. */
struct store_group *store_group(struct store *s, uint32_t node);
/* A new series of it, of which metric, instance and factor are to be set; or NULL, likewise. */
struct store_series *store_series(struct store *s, struct store_group *g);
void store_meta_text(struct store *s, uint32_t node, const char *key, const char *text);
void store_meta_number(struct store *s, uint32_t node, const char *key, double v, bool whole);
/* Name and text are copied. */
void store_event(struct store *s, uint32_t node, enum store_event_kind kind, double at_s,
		 const char *name, const char *text);
/* A copy that lives as long as the store; NULL: no memory. */
const char *store_text(struct store *s, const char *text);

/* What the user should know; the first STORE_NOTES_MAX are kept. */
void store_note(struct store *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same of something that could not be taken. */
void store_leave_out(struct store *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Into the directory dirfd; from says where it comes from (import.from). wrote() is told of each
 * file. 0 or -errno. */
int import_write(struct store *s, int dirfd, const char *from,
		 void (*wrote)(void *ctx, const char *name), void *ctx, struct err *e);

#endif
