/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_mapped.h - what a mapped table is made of, once it is known which of the map's names the
 * run has.
 *
 * An entity is what has rows: a node, or an instance of the map's domain on it. A binding is a key
 * of an entity that has a column, an input a name in the key's value. Private to table_mapped*.c.
 */
#ifndef SONDE_CORE_TABLE_TABLE_MAPPED_H
#define SONDE_CORE_TABLE_TABLE_MAPPED_H

#include "core/frame/derive.h"
#include "core/frame/frame_table.h"

struct map_counter {
	double value;
	double before;   /* what it had counted before the run saw its device for the first time */
	uint64_t serial; /* of the row that it is of; 0: none yet */
};

struct map_input {
	enum map_how how;
	const char *name;        /* the expression's */
	uint32_t cell;           /* MAP_VALUE: of the plan; 0: none */
	uint32_t first, nseries; /* else: in mapped.series */
	double value, before;
	bool known, before_known;
};

struct map_binding {
	const struct map_key *key;
	uint32_t column, first_input, ninputs;
};

struct map_entity {
	const char *host;
	uint32_t first, nbindings;
};

struct mapped {
	struct run *run;
	const struct map_table *map;
	bool keys;
	struct derive derive;
	struct map_entity *entity; /* sorted by node */
	uint32_t *node_first;      /* [nnodes + 1]: first of its entities */
	struct map_binding *binding;
	struct map_input *input;
	uint32_t *series;            /* of inputs that are counters */
	struct map_counter *counter; /* [nseries] */
	uint8_t *is_counter;         /* [nseries] */
	uint32_t nentities, nbindings, ninputs, nseries;
	uint32_t entity_cap, binding_cap, input_cap, series_cap;
	struct pool pool; /* hosts and headings */
	uint64_t serial;  /* of the row */
	int64_t utc_ns;
	uint32_t next, end; /* entities of this instant that have not had their row */
};

/* What of the map the run has: columns are added, derive is opened (unless there is nothing). 0 or
 * -errno; free in either case. */
int mapped_bind(struct frame *f, struct mapped *w, const struct selection *sel, struct err *e);
void mapped_free(struct mapped *w);

#endif
