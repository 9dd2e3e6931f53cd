/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.h - a directory that has to be there before something is put into it.
 */
#ifndef SONDE_BASE_FILES_H
#define SONDE_BASE_FILES_H

#include "base/err.h"

#include <stdint.h>

/* Its own user's alone (0700), unless it is there already; in one that is there. 0, or -errno with
 * a sentence. */
int folder_make(const char *path, struct err *e);
/* The same; one that is there and is a link to another is refused: somebody else may have put it
 * there. */
int folder_make_own(const char *path, struct err *e);

/*
 * A private file without a name: it goes with who holds it.
 */
/* Opened for reading and writing, in the file system of that directory. A descriptor or -errno. */
int unnamed_open(const char *directory);
/* In memory, or where the kernel is older than 3.17 in a temporary directory. */
int unnamed_memory(const char *name);

/*
 * Columns of numbers that come row by row and are wanted one after the other, kept in a
 * file without a name, so that memory grows with the number of columns and not with their length.
 *
 * Any number may be absent: NAN. {0} is closed and safe to close; ids start at 1.
 */

enum { SPOOL_BLOCK = 63 };

struct spool_block {
	uint64_t next; /* of the same column */
	double value[SPOOL_BLOCK];
};

struct spool_column {
	uint64_t first, open; /* blocks: its first, and the one that is being filled */
	uint64_t count;
	struct spool_block *block;
};

struct spool {
	int fd; /* valid while column is not NULL */
	struct spool_column *column;
	uint32_t ncolumns, cap;
	uint64_t nblocks;
};

struct spool_cursor {
	const struct spool *spool;
	uint32_t column;
	uint64_t at, next; /* values read; the block after this one */
	struct spool_block block;
};

/* The file is in that directory. 0 or -errno. */
int spool_open(struct spool *s, const char *directory);
void spool_close(struct spool *s);
/* A new column; 0: out of memory. */
uint32_t spool_column(struct spool *s);
/* 0 or -errno. */
int spool_put(struct spool *s, uint32_t column, double value);
uint64_t spool_count(const struct spool *s, uint32_t column);
/* From its first value on; nothing may be put meanwhile. */
void spool_read(const struct spool *s, uint32_t column, struct spool_cursor *c);
/* 1 and a value, 0 at the end, -errno. */
int spool_next(struct spool_cursor *c, double *value);

#endif
