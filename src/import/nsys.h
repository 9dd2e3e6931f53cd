/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nsys.h - what NVIDIA's Nsight Systems exported to SQLite, while it is imported: read twice, once
 * for its times and whose they are, once for what happened.
 */
#ifndef SONDE_IMPORT_NSYS_H
#define SONDE_IMPORT_NSYS_H

#include "base/err.h"
#include "import/importer.h"
#include "import/lanes.h"
#include "import/protobuf.h"
#include "import/sqlitefile.h"
#include "import/timeline.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	NSYS_TABLES_MOST = 128,
	NSYS_STRINGS = 4096,
	NSYS_PEOPLE_MOST = 4096,
	NSYS_TEXT = TIMELINE_NAME_MAX + 1
};

/* Columns that mean something, wherever they are. */
enum nsys_column {
	NSYS_START,
	NSYS_END,
	NSYS_GLOBAL_TID,
	NSYS_GLOBAL_PID,
	NSYS_DEVICE,
	NSYS_STREAM,
	NSYS_TEXT_OF, /* inline */
	NSYS_TEXT_ID, /* of StringIds, from here on in the order in which they are asked */
	NSYS_NAME_ID,
	NSYS_DEMANGLED,
	NSYS_SHORT,
	NSYS_NAME,
	NSYS_EVENT_TYPE,
	NSYS_COPY_KIND,
	NSYS_BYTES,
	NSYS_SIZE,
	NSYS_GRID_X,
	NSYS_GRID_Y,
	NSYS_GRID_Z,
	NSYS_BLOCK_X,
	NSYS_BLOCK_Y,
	NSYS_BLOCK_Z,
	NSYS_REMOTE,
	NSYS_RANK,
	NSYS_VALUE,
	NSYS_UTC_EPOCH,
	NSYS_COLUMNS
};
struct nsys_table {
	struct sqlitefile_table t;
	int at[NSYS_COLUMNS]; /* -1: it has none */
	bool of_gpu, of_thread;
};

/* A process or a thread: by its global id. */
struct nsys_person {
	uint64_t key;
	char name[64], rank[24];
};

struct nsys {
	const struct import *x;
	struct err *e;
	struct packed file;
	struct sqlitefile db;
	struct timeline line;
	struct timeline_times times;
	struct lanes lanes;
	bool writes; /* the second reading */
	struct nsys_table *table;
	uint32_t ntables;
	const struct nsys_table *now, *strings; /* strings: NULL: there are none */
	struct nsys_person *person;
	uint32_t npeople;
	uint64_t spans, bad_time, backwards, open, nameless, others, tables_left;
	struct {
		int64_t id; /* plus 1; 0: none */
		char text[NSYS_TEXT];
	} string[NSYS_STRINGS]; /* those asked for last */
	char host[128];
};

/* A value of y->now's row, or NULL. */
const struct sqlitefile_value *nsys_column(const struct nsys *y, const struct sqlitefile_value *v,
					   enum nsys_column c);
/* Rows of y->now as sqlitefile hands them over: what a process or thread is called, an event. */
int nsys_take_person(void *y, const struct sqlitefile_value *v, uint32_t n);
int nsys_take_event(void *y, const struct sqlitefile_value *v, uint32_t n);

#endif
