/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlitefile.h - the tables of a SQLite database that nobody writes, row by row.
 *
 * It reads the file's format (sqlite.org/fileformat2.html) by itself: no SQL, no library, fixed
 * memory, and a file in which every byte may be hostile. What is in a write-ahead log beside it is
 * not seen. Tables with a rowid only, text in UTF-8.
 */
#ifndef SONDE_IMPORT_SQLITEFILE_H
#define SONDE_IMPORT_SQLITEFILE_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	SQLITEFILE_COLUMNS = 128,
	SQLITEFILE_NAME = 64,
	SQLITEFILE_ROW = 1 << 20,
	SQLITEFILE_DEPTH = 16
};

struct sqlitefile {
	int fd;       /* borrowed */
	bool has_log; /* it says that there may be a write-ahead log */

	/* private */
	uint32_t page_size, usable, npages;
	uint8_t *page[SQLITEFILE_DEPTH];
	uint8_t *row;
};

/* 0, or -errno with a sentence of what is wrong, without the file's name. */
int sqlitefile_open(struct sqlitefile *f, int fd, struct err *e);
void sqlitefile_close(struct sqlitefile *f);

struct sqlitefile_table {
	char name[SQLITEFILE_NAME];
	uint32_t root, ncolumns;
	int rowid; /* the column that is the rowid, else -1 */
	char column[SQLITEFILE_COLUMNS][SQLITEFILE_NAME];
};

enum sqlitefile_type { SQLITEFILE_NULL, SQLITEFILE_INTEGER, SQLITEFILE_REAL, SQLITEFILE_TEXT };

struct sqlitefile_value {
	enum sqlitefile_type type; /* a blob is NULL */
	int64_t integer;
	double real;
	const char *text; /* n bytes, without a NUL */
	size_t n;
};

/* Rows' values are valid until the next one. A taker's answer other than 0 ends it. */
typedef int (*sqlitefile_take)(void *ctx, const struct sqlitefile_value *value, uint32_t n);
typedef int (*sqlitefile_take_table)(void *ctx, const struct sqlitefile_table *t);

/* Each table, each row. What a taker answered, or 0; -EBADMSG with a sentence: the file is
 * malformed from somewhere on. */
int sqlitefile_tables(struct sqlitefile *f, sqlitefile_take_table take, void *ctx, struct err *e);
int sqlitefile_rows(struct sqlitefile *f, const struct sqlitefile_table *t, sqlitefile_take take,
		    void *ctx, struct err *e);
/* The row with that rowid, also while rows are taken, whose texts are not valid any more then. 1,
 * 0: there is none, -EBADMSG. */
int sqlitefile_find(struct sqlitefile *f, const struct sqlitefile_table *t, int64_t rowid,
		    sqlitefile_take take, void *ctx);

#endif
