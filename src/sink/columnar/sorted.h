/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sorted.h - the rows of the tidy series table in the order of metric, node, instance and time.
 *
 * Memory grows with the number of series, not of rows: what is more than `most` rows is sorted a
 * part at a time into a file without a name in $TMPDIR (else /var/tmp), and the parts are merged.
 */
#ifndef SONDE_SINK_COLUMNAR_SORTED_H
#define SONDE_SINK_COLUMNAR_SORTED_H

#include "base/bytes.h"
#include "core/frame/frame.h"

enum { SORTED_ROWS = 1 << 20 };

/* Texts are borrowed from the run; instance may be NULL. */
struct sorted_series {
	const char *metric, *node, *instance;
};

struct sorted_row {
	int64_t time_ns;
	double value;
	uint32_t series;
	uint32_t rank; /* of its series in the order; those of the same texts have the same */
};

struct sorted {
	const struct column *columns;
	uint32_t ncolumns;
	uint32_t node, metric, instance, time, value; /* columns */
	struct sorted_series *series;
	uint32_t nseries, series_cap;
	uint32_t *slot; /* where a series may be found by its texts; a power of two */
	uint32_t nslots;
	uint32_t *rank;
	bool ranked;
	struct sorted_row *row;
	uint32_t nrows, most, next;
	int fd; /* of the parts; -1: none */
	struct sorted_part *part;
	uint32_t *heap;
	uint32_t nparts, nheap;
};

/* 0, or -EINVAL when the schema is not the tidy table's. Free in either case. */
int sorted_init(struct sorted *s, const struct frame_schema *schema, uint32_t most, struct err *e);
/* Rows without a value are left out. 0 or -errno. */
int sorted_add(struct sorted *s, const struct batch *b, struct err *e);
/* After the last was added: 1 and the next row, 0 at the end, -errno. */
int sorted_next(struct sorted *s, struct sorted_row *out, struct err *e);
void sorted_free(struct sorted *s);

/*
 * The distinct values of a column, numbered from 0 in the order they came.
 *
 * Texts are UTF-8 when they are in: what is not becomes U+FFFD, and is still in only once. Numbers
 * are told apart by their 64 bits. {0} is empty and safe to free.
 */
struct dictionary {
	struct bytes text; /* all of them, one behind the other, without a NUL */
	uint32_t *end;     /* [n] where each ends in text */
	uint64_t *number;  /* [n] of a dictionary of numbers */
	uint32_t n, cap;
	uint32_t *slot; /* [nslots] code + 1; 0: free */
	uint32_t nslots;
	struct bytes clean;
};

/* The code of a text, which is put in when it is new. 0, -ENOMEM, or -EFBIG: all texts would be 2
 * GiB or more. */
int dictionary_text(struct dictionary *d, const char *text, uint32_t *code);
/* The same of a number. A dictionary holds one of the two. */
int dictionary_number(struct dictionary *d, uint64_t number, uint32_t *code);
/* A text by its code; *length is its bytes. */
const char *dictionary_get(const struct dictionary *d, uint32_t code, uint32_t *length);
/* Bytes that its values take. */
size_t dictionary_size(const struct dictionary *d);
void dictionary_empty(struct dictionary *d);
void dictionary_free(struct dictionary *d);

#endif
