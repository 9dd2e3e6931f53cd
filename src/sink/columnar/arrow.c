/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/columnar/arrow.h"

#include "sink/columnar/column.h"

#include <stdlib.h>
#include <string.h>

/* ---- FlatBuffers, as far as Arrow's metadata needs them ----
 *
 * A buffer is built from its end to its begin: what something refers to is made before it. A ref is
 * where a thing lies, counted from the end; 0 is none. Tables do not nest: one is ended before the
 * next begins. {0} is empty. */

enum { FLATBUFFER_FIELDS = 8 };

typedef uint32_t flatbuffer_ref;

struct flatbuffer {
	struct bytes reversed;                   /* the last byte first */
	flatbuffer_ref field[FLATBUFFER_FIELDS]; /* of the open table */
	uint32_t begin;
};

/* So that what comes next, of so many bytes, ends where `align` divides. */
static void align(struct flatbuffer *f, size_t bytes, size_t to)
{
	while ((f->reversed.len + bytes) % to && !f->reversed.failed)
		bytes_u8(&f->reversed, 0);
}

/* A number by itself: an element of a vector or of a struct in it. */
static void flatbuffer_put(struct flatbuffer *f, uint64_t v, size_t size)
{
	align(f, size, size);
	for (size_t i = size; i; i--)
		bytes_u8(&f->reversed, (uint8_t)(v >> 8 * (i - 1)));
}

static flatbuffer_ref here(const struct flatbuffer *f)
{
	return (flatbuffer_ref)f->reversed.len;
}

static void put_ref(struct flatbuffer *f, flatbuffer_ref ref)
{
	align(f, sizeof(ref), sizeof(ref));
	flatbuffer_put(f, here(f) + sizeof(ref) - ref, sizeof(ref));
}

static flatbuffer_ref flatbuffer_binary_text(struct flatbuffer *f, const void *text, size_t n)
{
	const uint8_t *at = text;

	align(f, n + 1, sizeof(uint32_t));
	bytes_u8(&f->reversed, 0);
	for (size_t i = n; i; i--)
		bytes_u8(&f->reversed, at[i - 1]);
	flatbuffer_put(f, n, sizeof(uint32_t));
	return here(f);
}

static flatbuffer_ref flatbuffer_text(struct flatbuffer *f, const char *text)
{
	return flatbuffer_binary_text(f, text, strlen(text));
}

/* A vector: begin, its elements from the last to the first, end. Its length comes before the
 * elements, of which some are of 8 bytes. */
static void flatbuffer_vector(struct flatbuffer *f, size_t bytes)
{
	align(f, bytes, sizeof(uint64_t));
}

static flatbuffer_ref flatbuffer_vector_end(struct flatbuffer *f, size_t n)
{
	flatbuffer_put(f, n, sizeof(uint32_t));
	return here(f);
}

static flatbuffer_ref flatbuffer_vector_of_refs(struct flatbuffer *f, const flatbuffer_ref *refs,
						size_t n)
{
	flatbuffer_vector(f, n * sizeof(*refs));
	for (size_t i = n; i; i--)
		put_ref(f, refs[i - 1]);
	return flatbuffer_vector_end(f, n);
}

static void flatbuffer_table(struct flatbuffer *f)
{
	memset(f->field, 0, sizeof(f->field));
	f->begin = here(f);
}

static void flatbuffer_number(struct flatbuffer *f, unsigned field, uint64_t v, size_t size)
{
	flatbuffer_put(f, v, size);
	f->field[field] = here(f);
}

static void flatbuffer_refer(struct flatbuffer *f, unsigned field, flatbuffer_ref ref)
{
	if (!ref)
		return;
	put_ref(f, ref);
	f->field[field] = here(f);
}

static flatbuffer_ref flatbuffer_table_end(struct flatbuffer *f)
{
	flatbuffer_ref table;
	uint32_t to_fields;

	flatbuffer_put(f, 0, sizeof(to_fields));
	table = here(f);
	for (unsigned i = FLATBUFFER_FIELDS; i; i--)
		flatbuffer_put(f, f->field[i - 1] ? table - f->field[i - 1] : 0, sizeof(uint16_t));
	flatbuffer_put(f, table - f->begin, sizeof(uint16_t));
	flatbuffer_put(f, sizeof(uint16_t) * (2 + FLATBUFFER_FIELDS), sizeof(uint16_t));
	to_fields = here(f) - table;
	for (size_t i = 0; i < sizeof(to_fields) && !f->reversed.failed; i++)
		f->reversed.data[table - 1 - i] = (uint8_t)(to_fields >> 8 * i);
	return table;
}

/* Append the buffer whose root is that table to out, a multiple of 8 bytes, and empty it. */
static void flatbuffer_end(struct flatbuffer *f, flatbuffer_ref root, struct bytes *out)
{
	align(f, sizeof(root), sizeof(uint64_t));
	put_ref(f, root);
	out->failed |= f->reversed.failed;
	if (bytes_room(out, f->reversed.len))
		for (size_t i = f->reversed.len; i; i--)
			out->data[out->len++] = f->reversed.data[i - 1];
	bytes_reset(&f->reversed);
}

static void flatbuffer_free(struct flatbuffer *f)
{
	bytes_free(&f->reversed);
}

/* ---- messages ---- */

/* Schema.fbs, Message.fbs and File.fbs of Arrow: fields by their place. */
enum { VERSION_5 = 4, CODEC_ZSTD = 1, UNIT_NANOSECOND = 3, PRECISION_DOUBLE = 2 };
enum header { HEADER_SCHEMA = 1, HEADER_DICTIONARY = 2, HEADER_RECORD = 3 };
enum type { TYPE_INT = 2, TYPE_REAL = 3, TYPE_UTF8 = 5, TYPE_TIMESTAMP = 10 };
enum { PAIRS = 3 };

static flatbuffer_ref pair(struct flatbuffer *f, const char *key, const void *value, size_t n)
{
	flatbuffer_ref v = flatbuffer_binary_text(f, value, n), k = flatbuffer_text(f, key);

	flatbuffer_table(f);
	flatbuffer_refer(f, 0, k);
	flatbuffer_refer(f, 1, v);
	return flatbuffer_table_end(f);
}

static flatbuffer_ref integer(struct flatbuffer *f, unsigned bits)
{
	flatbuffer_table(f);
	flatbuffer_number(f, 0, bits, sizeof(uint32_t));
	flatbuffer_number(f, 1, 1, 1);
	return flatbuffer_table_end(f);
}

static flatbuffer_ref timestamp(struct flatbuffer *f)
{
	flatbuffer_ref zone = flatbuffer_text(f, "UTC");

	flatbuffer_table(f);
	flatbuffer_number(f, 0, UNIT_NANOSECOND, sizeof(uint16_t));
	flatbuffer_refer(f, 1, zone);
	return flatbuffer_table_end(f);
}

static flatbuffer_ref put_type(struct flatbuffer *f, enum column_type type, enum type *number)
{
	static const enum type numbers[] = { [COLUMN_TEXT] = TYPE_UTF8,
					     [COLUMN_INT] = TYPE_INT,
					     [COLUMN_REAL] = TYPE_REAL,
					     [COLUMN_TIME] = TYPE_TIMESTAMP };

	*number = numbers[type];
	if (type == COLUMN_INT)
		return integer(f, 64);
	if (type == COLUMN_TIME)
		return timestamp(f);
	flatbuffer_table(f);
	if (type == COLUMN_REAL)
		flatbuffer_number(f, 0, PRECISION_DOUBLE, sizeof(uint16_t));
	return flatbuffer_table_end(f);
}

static flatbuffer_ref encoding(struct flatbuffer *f, uint32_t id)
{
	flatbuffer_ref index = integer(f, 32);

	flatbuffer_table(f);
	flatbuffer_number(f, 0, id, sizeof(uint64_t));
	flatbuffer_refer(f, 1, index);
	return flatbuffer_table_end(f);
}

/* What the catalogue says of a column. */
static flatbuffer_ref put_about(struct flatbuffer *f, const struct column *c)
{
	const char *const about[PAIRS][2] = { { "unit", c->unit },
					      { "kind", c->kind },
					      { "help", c->help } };
	flatbuffer_ref pairs[PAIRS];
	size_t n = 0;

	for (size_t i = 0; i < PAIRS; i++)
		if (about[i][1] && *about[i][1])
			pairs[n++] = pair(f, about[i][0], about[i][1], strlen(about[i][1]));
	return n ? flatbuffer_vector_of_refs(f, pairs, n) : 0;
}

static flatbuffer_ref put_field(struct flatbuffer *f, const struct column *c, uint32_t id)
{
	struct bytes text = { 0 };
	flatbuffer_ref name, type, dictionary = 0, children, about;
	enum type number;

	column_name(&text, c);
	f->reversed.failed |= text.failed;
	name = flatbuffer_text(f, text.failed ? "" : (const char *)text.data);
	bytes_free(&text);
	type = put_type(f, c->type, &number);
	if (c->type == COLUMN_TEXT)
		dictionary = encoding(f, id);
	children = flatbuffer_vector_of_refs(f, NULL, 0);
	about = put_about(f, c);
	flatbuffer_table(f);
	flatbuffer_refer(f, 0, name);
	flatbuffer_refer(f, 3, type);
	flatbuffer_refer(f, 4, dictionary);
	flatbuffer_refer(f, 5, children);
	flatbuffer_refer(f, 6, about);
	flatbuffer_number(f, 1, 1, 1);
	flatbuffer_number(f, 2, number, 1);
	return flatbuffer_table_end(f);
}

static flatbuffer_ref put_fields(struct flatbuffer *f, const struct frame_schema *schema)
{
	flatbuffer_ref *fields = calloc(schema->ncolumns + 1u, sizeof(*fields)), ref = 0;

	f->reversed.failed |= !fields;
	for (uint32_t i = 0; fields && i < schema->ncolumns; i++)
		fields[i] = put_field(f, &schema->columns[i], i);
	if (fields)
		ref = flatbuffer_vector_of_refs(f, fields, schema->ncolumns);
	free(fields);
	return ref;
}

static flatbuffer_ref put_schema(struct flatbuffer *f, const struct frame_schema *schema)
{
	flatbuffer_ref fields = put_fields(f, schema), about;
	struct bytes json = { 0 };

	columns_describe(&json, schema);
	f->reversed.failed |= json.failed;
	about = pair(f, "sonde", json.data, json.len);
	about = flatbuffer_vector_of_refs(f, &about, 1);
	bytes_free(&json);
	flatbuffer_table(f);
	flatbuffer_refer(f, 1, fields);
	flatbuffer_refer(f, 2, about);
	return flatbuffer_table_end(f);
}

static void put_message(struct flatbuffer *f, struct bytes *out, enum header type,
			flatbuffer_ref header, int64_t body)
{
	size_t begin = out->len;
	uint32_t length;

	flatbuffer_table(f);
	flatbuffer_number(f, 3, (uint64_t)body, sizeof(body));
	flatbuffer_refer(f, 2, header);
	flatbuffer_number(f, 0, VERSION_5, sizeof(uint16_t));
	flatbuffer_number(f, 1, type, 1);
	header = flatbuffer_table_end(f);
	bytes_u32(out, UINT32_MAX);
	bytes_u32(out, 0);
	flatbuffer_end(f, header, out);
	flatbuffer_free(f);
	if (out->failed)
		return;
	length = (uint32_t)(out->len - begin - 2 * sizeof(length));
	memcpy(out->data + begin + sizeof(length), &length, sizeof(length));
}

void arrow_schema(struct bytes *out, const struct frame_schema *schema)
{
	struct flatbuffer f = { 0 };
	flatbuffer_ref header = put_schema(&f, schema);

	put_message(&f, out, HEADER_SCHEMA, header, 0);
}

static flatbuffer_ref put_batch(struct flatbuffer *f, const struct arrow_batch *b)
{
	flatbuffer_ref nodes, buffers, compression;

	flatbuffer_vector(f, b->nnodes * sizeof(*b->node));
	for (size_t i = b->nnodes; i; i--) {
		flatbuffer_put(f, (uint64_t)b->node[i - 1].nulls, sizeof(int64_t));
		flatbuffer_put(f, (uint64_t)b->node[i - 1].rows, sizeof(int64_t));
	}
	nodes = flatbuffer_vector_end(f, b->nnodes);
	flatbuffer_vector(f, b->nbuffers * sizeof(*b->buffer));
	for (size_t i = b->nbuffers; i; i--) {
		flatbuffer_put(f, (uint64_t)b->buffer[i - 1].length, sizeof(int64_t));
		flatbuffer_put(f, (uint64_t)b->buffer[i - 1].offset, sizeof(int64_t));
	}
	buffers = flatbuffer_vector_end(f, b->nbuffers);
	flatbuffer_table(f);
	flatbuffer_number(f, 0, CODEC_ZSTD, 1);
	compression = flatbuffer_table_end(f);
	flatbuffer_table(f);
	flatbuffer_number(f, 0, (uint64_t)b->rows, sizeof(b->rows));
	flatbuffer_refer(f, 1, nodes);
	flatbuffer_refer(f, 2, buffers);
	flatbuffer_refer(f, 3, compression);
	return flatbuffer_table_end(f);
}

void arrow_record(struct bytes *out, const struct arrow_batch *b)
{
	struct flatbuffer f = { 0 };
	flatbuffer_ref header = put_batch(&f, b);

	put_message(&f, out, HEADER_RECORD, header, b->body);
}

void arrow_dictionary(struct bytes *out, const struct arrow_batch *b, uint32_t id)
{
	struct flatbuffer f = { 0 };
	flatbuffer_ref batch = put_batch(&f, b);

	flatbuffer_table(&f);
	flatbuffer_number(&f, 0, id, sizeof(uint64_t));
	flatbuffer_refer(&f, 1, batch);
	put_message(&f, out, HEADER_DICTIONARY, flatbuffer_table_end(&f), b->body);
}

static flatbuffer_ref put_blocks(struct flatbuffer *f, const struct arrow_block *b, size_t n)
{
	flatbuffer_vector(f, n * 3 * sizeof(uint64_t));
	for (size_t i = n; i; i--) {
		flatbuffer_put(f, b[i - 1].body, sizeof(uint64_t));
		flatbuffer_put(f, b[i - 1].message, sizeof(uint64_t)); /* 4 bytes of padding */
		flatbuffer_put(f, b[i - 1].offset, sizeof(uint64_t));
	}
	return flatbuffer_vector_end(f, n);
}

void arrow_footer(struct bytes *out, const struct frame_schema *schema,
		  const struct arrow_file *file)
{
	struct flatbuffer f = { 0 };
	flatbuffer_ref about = put_schema(&f, schema),
		       dictionaries = put_blocks(&f, file->dictionary, file->ndictionaries),
		       batches = put_blocks(&f, file->batch, file->nbatches);
	size_t begin = out->len;

	flatbuffer_table(&f);
	flatbuffer_refer(&f, 1, about);
	flatbuffer_refer(&f, 2, dictionaries);
	flatbuffer_refer(&f, 3, batches);
	flatbuffer_number(&f, 0, VERSION_5, sizeof(uint16_t));
	flatbuffer_end(&f, flatbuffer_table_end(&f), out);
	flatbuffer_free(&f);
	bytes_u32(out, (uint32_t)(out->len - begin));
	bytes_puts(out, "ARROW1");
}
