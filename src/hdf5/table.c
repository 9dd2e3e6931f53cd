/* SPDX-License-Identifier: Apache-2.0 */
#include "hdf5/table.h"

#include "base/bytes.h"
#include "sink/foreign.h"

#include <errno.h>
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- attributes ---- */

static bool write_attribute(hid_t object, const char *name, hid_t type, const void *data)
{
	hid_t space = H5Screate(H5S_SCALAR);
	hid_t id = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
	bool good = id >= 0 && H5Awrite(id, type, data) >= 0;

	if (id >= 0 && H5Aclose(id) < 0)
		good = false;
	H5Sclose(space);
	return good;
}

static bool write_string(hid_t object, const char *name, const char *text, H5T_cset_t set)
{
	hid_t type = H5Tcopy(H5T_C_S1);
	size_t n = strlen(text);
	bool good = H5Tset_size(type, n ? n : 1) >= 0 && H5Tset_cset(type, set) >= 0 &&
		    write_attribute(object, name, type, text);

	H5Tclose(type);
	return good;
}

/* All return whether it was written. */
static bool attribute_text(hid_t object, const char *name, const char *text)
{
	return write_string(object, name, text, H5T_CSET_UTF8);
}

static bool attribute_int(hid_t object, const char *name, int64_t value)
{
	return write_attribute(object, name, H5T_NATIVE_INT64, &value);
}

/* The pickle in b, which is emptied. */
static bool attribute_pickle(hid_t object, const char *name, struct bytes *b)
{
	bool good;

	bytes_u8(b, '.');
	bytes_u8(b, '\0');
	good = !b->failed && write_string(object, name, (const char *)b->data, H5T_CSET_ASCII);
	bytes_reset(b);
	return good;
}

/* Pieces of pickles: a text; a list of one text. */
static void pickle_text(struct bytes *b, const char *text)
{
	bytes_printf(b, "V%s\n", text);
}

static void pickle_list_of_one(struct bytes *b, const char *text)
{
	bytes_puts(b, "(l");
	pickle_text(b, text);
	bytes_u8(b, 'a');
}

/* ---- table ---- */

enum { CHUNK_BYTES = 256 << 10, DEFLATE_LEVEL = 1, BITS = 8 };

/* Of a text that is no category, as it must not be any job's own. */
#define NO_TEXT "sonde: nothing is known of this cell"

static const struct layout {
	const char *dtype, *meta;
	size_t size;
} layouts[] = {
	[COLUMN_TEXT] = { "int32", "category", sizeof(int32_t) },
	[COLUMN_INT] = { "float64", NULL, sizeof(double) },
	[COLUMN_REAL] = { "float64", NULL, sizeof(double) },
	[COLUMN_TIME] = { "datetime64", NULL, sizeof(int64_t) },
};

static hid_t native(enum column_type type)
{
	switch (type) {
	case COLUMN_TEXT:
		return H5T_STD_I32LE;
	case COLUMN_INT:
	case COLUMN_REAL:
		return H5T_IEEE_F64LE;
	case COLUMN_TIME:
		break;
	}
	return H5T_STD_I64LE;
}

static bool is_taken(const struct table *t, const char *name)
{
	for (uint32_t i = 0; i < t->nfields; i++)
		if (!strcmp(t->field[i].name, name))
			return true;
	return false;
}

/* PyTables takes no slash, a pickle no other than ASCII. What is the same then gets a number. */
static char *plain_name(const struct table *t, const char *name)
{
	size_t n = strlen(name);
	char *plain = malloc(n + 16);

	for (size_t i = 0; plain && i < n; i++)
		plain[i] = name[i] == '/'                                      ? '|'
			   : name[i] < ' ' || name[i] > '~' || name[i] == '\\' ? '?'
									       : name[i];
	if (plain)
		plain[n] = '\0';
	for (unsigned i = 2; plain && is_taken(t, plain); i++)
		snprintf(plain + n, 16, "_%u", i);
	return plain;
}

static bool add_field(struct table *t, const char *name, enum column_type type)
{
	char *plain = plain_name(t, name);

	if (!plain)
		return false;
	t->field[t->nfields++] =
		(struct field){ .name = plain, .type = type, .offset = t->row_size };
	t->row_size += layouts[type].size;
	return true;
}

static bool make_type(struct table *t)
{
	bool good = true;

	t->type = H5Tcreate(H5T_COMPOUND, t->row_size);
	for (uint32_t i = 0; i < t->nfields && good; i++)
		good = H5Tinsert(t->type, t->field[i].name, t->field[i].offset,
				 native(t->field[i].type)) >= 0;
	return good;
}

static hid_t make_dataset(hid_t group, hid_t type, hsize_t chunk)
{
	const hsize_t none = 0, most = H5S_UNLIMITED;
	hid_t space = H5Screate_simple(1, &none, &most), list = H5Pcreate(H5P_DATASET_CREATE);
	hid_t dataset = -1;

	if (H5Pset_chunk(list, 1, &chunk) >= 0 && H5Pset_shuffle(list) >= 0 &&
	    H5Pset_deflate(list, DEFLATE_LEVEL) >= 0)
		dataset = H5Dcreate2(group, "table", type, space, H5P_DEFAULT, list, H5P_DEFAULT);
	H5Pclose(list);
	H5Sclose(space);
	return dataset;
}

/* What makes a dataset a table to PyTables. */
static bool mark_table(const struct table *t)
{
	char name[32];
	bool good = attribute_text(t->dataset, "CLASS", "TABLE") &&
		    attribute_text(t->dataset, "VERSION", "2.7") &&
		    attribute_text(t->dataset, "TITLE", "");

	for (uint32_t i = 0; i < t->nfields && good; i++) {
		snprintf(name, sizeof(name), "FIELD_%u_NAME", i);
		good = attribute_text(t->dataset, name, t->field[i].name);
	}
	return good;
}

static bool reserve_chunk(struct table *t)
{
	size_t size = t->chunk * t->row_size;

	t->compressor = libdeflate_alloc_compressor(DEFLATE_LEVEL);
	if (!t->compressor)
		return false;
	t->packed_room = libdeflate_zlib_compress_bound(t->compressor, size);
	t->rows = malloc(size);
	t->shuffled = malloc(size);
	t->packed = malloc(t->packed_room);
	return t->rows && t->shuffled && t->packed;
}

bool h5table_open(struct table *t, hid_t group, const struct column *c, uint32_t n)
{
	bool good;

	*t = (struct table){ .group = group, .type = -1, .dataset = -1 };
	t->field = calloc(n + 1u, sizeof(*t->field));
	good = t->field && add_field(t, "index", COLUMN_TIME);
	for (uint32_t i = 0; i < n && good; i++)
		good = add_field(t, c[i].name, c[i].type);
	if (!good || !make_type(t))
		return false;
	t->chunk = t->row_size < CHUNK_BYTES ? (uint32_t)(CHUNK_BYTES / t->row_size) : 1;
	t->dataset = reserve_chunk(t) ? make_dataset(group, t->type, t->chunk) : -1;
	return t->dataset >= 0 && mark_table(t);
}

/* Byte by byte, as HDF5's filter does: all first bytes of the rows, then all second ones. */
static void shuffle(struct table *t)
{
	for (size_t byte = 0; byte < t->row_size; byte++) {
		const uint8_t *from = t->rows + byte;
		uint8_t *to = t->shuffled + byte * t->chunk;

		for (uint32_t i = 0; i < t->chunk; i++, from += t->row_size)
			to[i] = *from;
	}
}

/* A chunk as HDF5's filters would leave it, but with a faster deflate; the last is filled up. */
static bool flush(struct table *t)
{
	const hsize_t at = t->written, size = at + t->held;
	size_t n;

	if (!t->held)
		return true;
	memset(t->rows + t->held * t->row_size, 0, (t->chunk - t->held) * t->row_size);
	shuffle(t);
	n = libdeflate_zlib_compress(t->compressor, t->shuffled, t->chunk * t->row_size, t->packed,
				     t->packed_room);
	t->written += t->held;
	t->held = 0;
	return n && H5Dset_extent(t->dataset, &size) >= 0 &&
	       H5Dwrite_chunk(t->dataset, H5P_DEFAULT, 0, &at, n, t->packed) >= 0;
}

static bool reserve_code(struct categories *c, uint32_t number)
{
	uint32_t want = c->ncodes ? c->ncodes * 2 : 256;
	int32_t *bigger;

	while (want <= number)
		want *= 2;
	bigger = reallocarray(c->code, want, sizeof(*bigger));
	if (!bigger)
		return false;
	memset(bigger + c->ncodes, 0, (want - c->ncodes) * sizeof(*bigger));
	c->code = bigger;
	c->ncodes = want;
	return true;
}

static bool add_category(struct categories *c, uint32_t number, const char *text)
{
	if (c->n == c->cap) {
		uint32_t cap = c->cap ? c->cap * 2 : 64;
		const char **bigger = reallocarray(c->text, cap, sizeof(*bigger));

		if (!bigger)
			return false;
		c->text = bigger;
		c->cap = cap;
	}
	c->text[c->n++] = text;
	c->code[number] = (int32_t)c->n;
	return true;
}

static bool code_of(struct categories *c, const char *text, int32_t *code)
{
	uint32_t number = stream_number(text);

	if (number >= c->ncodes && !reserve_code(c, number))
		return false;
	if (!c->code[number] && !add_category(c, number, text))
		return false;
	*code = c->code[number] - 1;
	return true;
}

static bool put_texts(const struct table *t, struct field *f, const struct cells *c, uint32_t from,
		      uint32_t n)
{
	uint8_t *to = t->rows + t->held * t->row_size + f->offset;

	for (uint32_t i = from; i < from + n; i++, to += t->row_size) {
		int32_t code = -1;

		if (c->state[i] == STATE_PRESENT && !code_of(&f->categories, c->s[i], &code))
			return false;
		memcpy(to, &code, sizeof(code));
	}
	return true;
}

static void put_reals(const struct table *t, const struct field *f, const struct cells *c,
		      uint32_t from, uint32_t n)
{
	uint8_t *to = t->rows + t->held * t->row_size + f->offset;

	for (uint32_t i = from; i < from + n; i++, to += t->row_size) {
		double v = c->state[i] == STATE_PRESENT ? c->d[i] : NAN;

		memcpy(to, &v, sizeof(v));
	}
}

/* As doubles, since only these can be absent. */
static bool put_ints(const struct table *t, const struct field *f, const struct cells *c,
		     uint32_t from, uint32_t n)
{
	uint8_t *to = t->rows + t->held * t->row_size + f->offset;

	for (uint32_t i = from; i < from + n; i++, to += t->row_size) {
		bool there = c->state[i] == STATE_PRESENT;
		double v = there ? (double)c->i[i] : NAN;

		if (there && (v >= 0x1p63 || (int64_t)v != c->i[i])) {
			errno = ERANGE;
			return false;
		}
		memcpy(to, &v, sizeof(v));
	}
	return true;
}

static void put_times(const struct table *t, const struct field *f, const struct cells *c,
		      uint32_t from, uint32_t n)
{
	uint8_t *to = t->rows + t->held * t->row_size + f->offset;

	for (uint32_t i = from; i < from + n; i++, to += t->row_size) {
		int64_t v = c->state[i] == STATE_PRESENT ? c->i[i] : INT64_MIN;

		memcpy(to, &v, sizeof(v));
	}
}

static void put_index(const struct table *t, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t at = t->written + t->held + i;

		memcpy(t->rows + (t->held + i) * t->row_size, &at, sizeof(at));
	}
}

/* As many rows as the chunk has room for. */
static bool put_rows(struct table *t, const struct batch *b, uint32_t from, uint32_t n)
{
	put_index(t, n);
	for (uint32_t i = 1; i < t->nfields; i++) {
		struct field *f = &t->field[i];
		const struct cells *c = &b->columns[i - 1];

		if (f->type == COLUMN_REAL)
			put_reals(t, f, c, from, n);
		else if (f->type == COLUMN_TIME)
			put_times(t, f, c, from, n);
		else if (f->type == COLUMN_TEXT ? !put_texts(t, f, c, from, n)
						: !put_ints(t, f, c, from, n))
			return false;
	}
	t->held += n;
	return t->held < t->chunk || flush(t);
}

bool table_put(struct table *t, const struct batch *b)
{
	for (uint32_t at = 0; at < b->nrows;) {
		uint32_t room = t->chunk - t->held, left = b->nrows - at;
		uint32_t n = left < room ? left : room;

		if (!put_rows(t, b, at, n))
			return false;
		at += n;
	}
	return true;
}

static void pickle_columns(struct bytes *b, const struct table *t)
{
	bytes_puts(b, "(l");
	for (uint32_t i = 1; i < t->nfields; i++) {
		pickle_text(b, t->field[i].name);
		bytes_u8(b, 'a');
	}
}

/* Times are UTC; categories have no order. */
static void pickle_info(struct bytes *b, const struct table *t)
{
	bytes_puts(b, "(dI1\n(dVnames\n(lNasVtype\nVIndex\nss");
	for (uint32_t i = 1; i < t->nfields; i++) {
		const struct field *f = &t->field[i];

		if (f->type != COLUMN_TIME && f->type != COLUMN_TEXT)
			continue;
		pickle_text(b, f->name);
		bytes_puts(b, f->type == COLUMN_TIME ? "(dVtz\nVUTC\nss" : "(dVordered\nI00\nss");
	}
}

static bool mark_group(hid_t group, const char *pandas_type, const char *table_type,
		       struct bytes *b)
{
	bytes_puts(b, "(l(I0\nVindex\nta");
	return attribute_pickle(group, "index_cols", b) &&
	       attribute_text(group, "pandas_type", pandas_type) &&
	       attribute_text(group, "pandas_version", "0.15.2") &&
	       attribute_text(group, "table_type", table_type) &&
	       attribute_text(group, "encoding", "UTF-8") &&
	       attribute_text(group, "errors", "strict") &&
	       attribute_text(group, "nan_rep", NO_TEXT) && attribute_int(group, "levels", 1);
}

static bool describe_group(const struct table *t, struct bytes *b)
{
	bool good = mark_group(t->group, "frame_table", "appendable_frame", b);

	pickle_columns(b, t);
	good = good && attribute_pickle(t->group, "values_cols", b);
	pickle_columns(b, t);
	good = good && attribute_pickle(t->group, "data_columns", b);
	bytes_puts(b, "(l(I1\n");
	pickle_columns(b, t);
	bytes_puts(b, "ta");
	good = good && attribute_pickle(t->group, "non_index_axes", b);
	pickle_info(b, t);
	return good && attribute_pickle(t->group, "info", b);
}

static bool describe_field(hid_t dataset, const char *field, const char *dtype, const char *meta,
			   struct bytes *b)
{
	size_t room = strlen(field) + 8;
	char *name = malloc(room);
	bool good = name;

	if (good)
		snprintf(name, room, "%s_kind", field);
	pickle_list_of_one(b, field);
	good = good && attribute_pickle(dataset, name, b);
	if (good)
		snprintf(name, room, "%s_dtype", field);
	good = good && attribute_text(dataset, name, dtype);
	if (good)
		snprintf(name, room, "%s_meta", field);
	good = good && (!meta || attribute_text(dataset, name, meta));
	free(name);
	return good;
}

static bool describe_fields(const struct table *t, struct bytes *b)
{
	bool good = attribute_text(t->dataset, "index_kind", "integer");

	for (uint32_t i = 1; i < t->nfields && good; i++) {
		const struct layout *l = &layouts[t->field[i].type];

		good = describe_field(t->dataset, t->field[i].name, l->dtype, l->meta, b);
	}
	return good;
}

/* Rows of index and text, as wide as the longest. */
static bool write_values(hid_t dataset, hid_t type, const struct categories *c, size_t width)
{
	size_t size = sizeof(int64_t) + width;
	uint8_t *rows = calloc(c->n + 1u, size);
	const hsize_t n = c->n;
	bool good = rows && H5Dset_extent(dataset, &n) >= 0;

	for (uint32_t i = 0; i < c->n && rows; i++) {
		int64_t at = i;

		memcpy(rows + i * size, &at, sizeof(at));
		memcpy(rows + i * size + sizeof(at), c->text[i], strlen(c->text[i]));
	}
	good = good && (!n || H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0);
	free(rows);
	return good;
}

static size_t longest(const struct categories *c)
{
	size_t most = 1;

	for (uint32_t i = 0; i < c->n; i++)
		if (strlen(c->text[i]) > most)
			most = strlen(c->text[i]);
	return most;
}

static bool describe_values(hid_t group, hid_t dataset, size_t width, struct bytes *b)
{
	char dtype[32];
	bool good = mark_group(group, "series_table", "appendable_series", b);

	pickle_list_of_one(b, "values");
	good = good && attribute_pickle(group, "values_cols", b);
	bytes_puts(b, "(l");
	good = good && attribute_pickle(group, "data_columns", b);
	bytes_puts(b, "(l");
	good = good && attribute_pickle(group, "non_index_axes", b);
	bytes_puts(b, "(dVindex\n(ds");
	good = good && attribute_pickle(group, "info", b);
	snprintf(dtype, sizeof(dtype), "bytes%zu", width * BITS);
	return good && attribute_text(dataset, "CLASS", "TABLE") &&
	       attribute_text(dataset, "VERSION", "2.7") && attribute_text(dataset, "TITLE", "") &&
	       attribute_text(dataset, "FIELD_0_NAME", "index") &&
	       attribute_text(dataset, "FIELD_1_NAME", "values") &&
	       attribute_text(dataset, "index_kind", "integer") &&
	       describe_field(dataset, "values", dtype, NULL, b);
}

/* A series of its own below meta/COLUMN/meta. */
static bool write_categories(const struct table *t, const struct field *f, struct bytes *b)
{
	size_t width = longest(&f->categories), room = strlen(f->name) + 16;
	hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(int64_t) + width), text = H5Tcopy(H5T_C_S1);
	hid_t list = H5Pcreate(H5P_LINK_CREATE), group = -1, dataset = -1;
	char *path = malloc(room);
	bool good = path && H5Tset_size(text, width) >= 0 &&
		    H5Tinsert(type, "index", 0, H5T_STD_I64LE) >= 0 &&
		    H5Tinsert(type, "values", sizeof(int64_t), text) >= 0 &&
		    H5Pset_create_intermediate_group(list, 1) >= 0;

	if (good) {
		snprintf(path, room, "meta/%s/meta", f->name);
		group = H5Gcreate2(t->group, path, list, H5P_DEFAULT, H5P_DEFAULT);
		dataset = group >= 0 ? make_dataset(group, type, 1024) : -1;
	}
	good = dataset >= 0 && write_values(dataset, type, &f->categories, width) &&
	       describe_values(group, dataset, width, b);
	if (dataset >= 0 && H5Dclose(dataset) < 0)
		good = false;
	if (group >= 0 && H5Gclose(group) < 0)
		good = false;
	H5Pclose(list);
	H5Tclose(type);
	H5Tclose(text);
	free(path);
	return good;
}

bool table_finish(struct table *t)
{
	struct bytes b = { 0 };
	bool good = flush(t) && describe_group(t, &b) && describe_fields(t, &b);

	for (uint32_t i = 1; i < t->nfields && good; i++)
		if (t->field[i].type == COLUMN_TEXT)
			good = write_categories(t, &t->field[i], &b);
	bytes_free(&b);
	return good && H5Dclose(t->dataset) >= 0 && H5Tclose(t->type) >= 0;
}

void h5table_free(struct table *t)
{
	for (uint32_t i = 0; t->field && i < t->nfields; i++) {
		free(t->field[i].name);
		free(t->field[i].categories.text);
		free(t->field[i].categories.code);
	}
	if (t->compressor)
		libdeflate_free_compressor(t->compressor);
	free(t->field);
	free(t->rows);
	free(t->shuffled);
	free(t->packed);
}
