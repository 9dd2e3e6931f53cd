/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.h - a foreign vocabulary as data: what another program's tables and documents call what
 * Sonde measures, and in which unit. docs/perfmon-data.md says how a map is written.
 *
 * A key's value is an expression (core/expr/expr.h) over names of metrics: a bare name is the
 * public value at that moment, counter(name) the counter as it stands, rise(name) by how much it
 * rose since it was read before. The first name is what the key is about: its value alone must give
 * the key's, so that the way back (an import) is a division by `factor`. rise(perf.l2.*) is of each
 * count that begins so, and the key's * is what that one is labelled.
 */
#ifndef SONDE_CORE_TABLE_MAP_H
#define SONDE_CORE_TABLE_MAP_H

#include "base/err.h"
#include "base/pool.h"
#include "core/expr/expr.h"

#include <stdint.h>

enum map_how { MAP_VALUE = 0, MAP_COUNTER, MAP_RISE };

struct map_key {
	const char *
		key; /* "memory_info.rss"; a * stands for what an instance, or a count, is called */
	const char *header;    /* of the table's column */
	bool optional;         /* there only where the recording has it, as what has a * is */
	double header_divisor; /* the column's unit is so many of the key's */
	struct expr *value;
	enum map_how how; /* of its first name: */
	const char *metric;
	double factor; /* of that name's value to the key's */
};

struct map_table {
	const char *name;   /* "cpu_metrics" */
	const char *domain; /* a row is of an instance of it; NULL: of the node */
	struct map_key *keys;
	uint32_t nkeys;
};

struct map {
	struct map_table *tables;
	uint32_t ntables;
	const char *machine;  /* globs: metadata that say what a node is; NULL: none */
	const char *interval; /* the key of the time between samples, in ns; NULL: none */
	struct pool pool;
};

/* text[0..len) need not end in NUL; name is what errors call it: "perfmon.map:12: ...". 0 or
 * -errno; free in either case. */
int map_parse(struct map *m, const char *name, const char *text, size_t len, struct err *e);
void map_free(struct map *m);
const struct map_table *map_table(const struct map *m, const char *name); /* NULL: none */

/* How a name is asked for: by its function in an expression. False: no such function. */
bool map_how(const char *function, enum map_how *out);
/* Where the * of a key or header is, or NULL. */
const char *map_star(const char *text);

#endif
