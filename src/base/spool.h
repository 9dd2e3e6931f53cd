/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool.h - columns of numbers that come row by row and are wanted one after the other, kept in a
 * file without a name, so that memory grows with the number of columns and not with their length.
 *
 * Any number may be absent: NAN. {0} is closed and safe to close; ids start at 1.
 */
#ifndef SONDE_BASE_SPOOL_H
#define SONDE_BASE_SPOOL_H

#include <stdint.h>

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
