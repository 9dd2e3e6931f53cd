/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - one table of an HDF5 file: a group with a chunked, compressed dataset of compound rows,
 * laid out so that pandas.read_hdf(file, key) gives a data frame and PyTables a table.
 *
 * Times are int64 ns since 1970 (none: the least int64, NaT), numbers are doubles (none: NaN; a
 * whole number that no double is fails), texts are codes of categories (none: -1).
 */
#ifndef SONDE_HDF5_TABLE_H
#define SONDE_HDF5_TABLE_H

#include "base/err.h"
#include "core/frame/frame.h"

#include <hdf5.h>
#include <libdeflate.h>

/* The categories of a column. */
struct categories {
	const char **text;
	uint32_t n, cap;
	int32_t *code; /* [ncodes] by stream_number: code + 1; 0: none yet */
	uint32_t ncodes;
};

struct field {
	char *name; /* plain ASCII, unique in the table */
	enum column_type type;
	size_t offset;
	struct categories categories;
};

struct table {
	struct field *field; /* the index first, then the columns */
	uint32_t nfields;
	hid_t group, type, dataset;
	size_t row_size;
	uint8_t *rows; /* of the chunk that is being filled */
	uint8_t *shuffled, *packed;
	size_t packed_room;
	struct libdeflate_compressor *compressor;
	uint32_t chunk, held;
	uint64_t written;
};

/* false: what HDF5 cannot do; errno may say why. Free in either case. */
bool h5table_open(struct table *t, hid_t group, const struct column *c, uint32_t n);
bool table_put(struct table *t, const struct batch *b);
/* The rest of the rows, attributes and categories. */
bool table_finish(struct table *t);
void h5table_free(struct table *t);

#endif
