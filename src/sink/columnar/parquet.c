/* SPDX-License-Identifier: Apache-2.0 */
/* parquet.c - Apache Parquet: row groups of up to a million rows, zstd, statistics. */
#include "sink/columnar/parquet.h"

#include "sink/columnar/parquet_chunk.h"
#include "sink/sink.h"
#include "sink/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP_ROWS = 1 << 20, GROUP_BYTES = 16 << 20 };

static const char magic[] = "PAR1";

struct parquet {
	FILE *out;
	const struct frame_schema *schema;
	struct columns columns;
	struct parquet_work work;
	struct parquet_chunk *chunk; /* [schema->ncolumns] of the open row group */
	struct bytes dictionary, name;
	struct bytes groups; /* what the footer will say of the row groups so far */
	uint32_t ngroups;
	uint64_t group_rows, rows, at; /* at: bytes written */
};

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for a row group");
}

/* Write b and empty it. */
static int put(struct parquet *p, struct bytes *b, struct err *e)
{
	p->at += b->len;
	return text_flush(b, p->out, 0, e);
}

static int parquet_begin(void *state, const struct frame_schema *schema, FILE *out, struct err *e)
{
	struct parquet *p = state;
	int rc = columns_open(&p->columns, schema, e);

	p->schema = schema;
	p->out = out;
	if (rc)
		return rc;
	p->chunk = calloc(schema->ncolumns + 1u, sizeof(*p->chunk));
	if (!p->chunk || !parquet_work_open(&p->work))
		return no_memory(e);
	bytes_puts(&p->dictionary, magic);
	return put(p, &p->dictionary, e);
}

static int end_chunk(struct parquet *p, uint32_t i, struct thrift *t, struct err *e)
{
	struct parquet_chunk *c = &p->chunk[i];
	const struct column_page *page = &p->columns.column[i];
	struct parquet_place where = { .at = p->at };
	int rc;

	parquet_chunk_dictionary(c, &p->work, page, &p->dictionary);
	column_name(&p->name, &p->schema->columns[i]);
	if (p->dictionary.failed || p->name.failed)
		return no_memory(e);
	where.dictionary = p->dictionary.len;
	where.name = (const char *)p->name.data;
	thrift_struct(t, 0);
	thrift_i64(t, 2, (int64_t)where.at);
	thrift_struct(t, 3);
	parquet_chunk_describe(c, page, &where, t);
	thrift_struct_end(t);
	thrift_struct_end(t);
	rc = put(p, &p->dictionary, e);
	return rc ? rc : put(p, &c->pages, e);
}

static int end_group(struct parquet *p, struct err *e)
{
	struct thrift t = { .out = &p->groups };
	uint64_t at = p->at, unpacked = 0;
	int rc = 0;

	if (!p->group_rows)
		return 0;
	thrift_struct(&t, 0);
	thrift_list(&t, 1, THRIFT_STRUCT, p->schema->ncolumns);
	for (uint32_t i = 0; i < p->schema->ncolumns && !rc; i++) {
		rc = end_chunk(p, i, &t, e);
		unpacked += p->chunk[i].unpacked;
		parquet_chunk_reset(&p->chunk[i]);
	}
	thrift_i64(&t, 2, (int64_t)unpacked);
	thrift_i64(&t, 3, (int64_t)p->group_rows);
	thrift_i64(&t, 5, (int64_t)at);
	thrift_i64(&t, 6, (int64_t)(p->at - at));
	thrift_struct_end(&t);
	columns_empty_dictionaries(&p->columns);
	p->rows += p->group_rows;
	p->group_rows = 0;
	p->ngroups++;
	return rc;
}

static int end_page(void *state, struct err *e)
{
	struct parquet *p = state;
	size_t size = 0;

	for (uint32_t i = 0; i < p->schema->ncolumns; i++) {
		const struct column_page *page = &p->columns.column[i];

		if (parquet_chunk_page(&p->chunk[i], &p->work, page, p->columns.nrows))
			return no_memory(e);
		size += parquet_chunk_size(&p->chunk[i], page);
	}
	p->group_rows += p->columns.nrows;
	columns_next_page(&p->columns);
	return p->group_rows >= GROUP_ROWS || size >= GROUP_BYTES ? end_group(p, e) : 0;
}

static int parquet_batch(void *state, const struct batch *b, struct err *e)
{
	struct parquet *p = state;

	return columns_batch(&p->columns, b, end_page, p, e);
}

static void thrift_empty_struct(struct thrift *t, int id);

static void describe_type(struct thrift *t, enum column_type type)
{
	if (type == COLUMN_TEXT) {
		thrift_i32(t, 6, PARQUET_UTF8);
		thrift_struct(t, 10);
		thrift_empty_struct(t, 1);
		thrift_struct_end(t);
	} else if (type == COLUMN_TIME) { /* UTC, ns */
		thrift_struct(t, 10);
		thrift_struct(t, 8);
		thrift_bool(t, 1, true);
		thrift_struct(t, 2);
		thrift_empty_struct(t, 3);
		thrift_struct_end(t);
		thrift_struct_end(t);
		thrift_struct_end(t);
	}
}

static void describe_schema(struct parquet *p, struct thrift *t)
{
	thrift_list(t, 2, THRIFT_STRUCT, p->schema->ncolumns + 1u);
	thrift_struct(t, 0);
	thrift_text(t, 4, p->schema->table);
	thrift_i32(t, 5, (int32_t)p->schema->ncolumns);
	thrift_struct_end(t);
	for (uint32_t i = 0; i < p->schema->ncolumns; i++) {
		enum column_type type = p->schema->columns[i].type;

		column_name(&p->name, &p->schema->columns[i]);
		thrift_struct(t, 0);
		thrift_i32(t, 1, (int32_t)parquet_type(type));
		thrift_i32(t, 3, PARQUET_OPTIONAL);
		thrift_text(t, 4, p->name.failed ? "" : (const char *)p->name.data);
		describe_type(t, type);
		thrift_struct_end(t);
		t->out->failed |= p->name.failed;
	}
}

static void put_pair(struct thrift *t, const char *key, const void *value, size_t n)
{
	thrift_struct(t, 0);
	thrift_text(t, 1, key);
	thrift_binary(t, 2, value, n);
	thrift_struct_end(t);
}

static void describe_metadata(struct parquet *p, struct thrift *t)
{
	struct bytes *json = &p->work.body;

	bytes_reset(json);
	columns_describe(json, p->schema);
	t->out->failed |= json->failed;
	thrift_list(t, 5, THRIFT_STRUCT, p->schema->summary ? 2 : 1);
	put_pair(t, "sonde", json->data, json->len);
	if (p->schema->summary)
		put_pair(t, PARQUET_RUN_KEY, p->schema->summary, strlen(p->schema->summary));
}

static void describe_orders(struct parquet *p, struct thrift *t)
{
	thrift_list(t, 7, THRIFT_STRUCT, p->schema->ncolumns);
	for (uint32_t i = 0; i < p->schema->ncolumns; i++) {
		thrift_struct(t, 0);
		thrift_empty_struct(t, 1);
		thrift_struct_end(t);
	}
}

static int put_footer(struct parquet *p, struct err *e)
{
	struct bytes *out = &p->dictionary;
	struct thrift t = { .out = out };

	thrift_struct(&t, 0);
	thrift_i32(&t, 1, 2);
	describe_schema(p, &t);
	thrift_i64(&t, 3, (int64_t)p->rows);
	thrift_list(&t, 4, THRIFT_STRUCT, p->ngroups);
	bytes_put(out, p->groups.data, p->groups.len);
	describe_metadata(p, &t);
	thrift_text(&t, 6, "sonde version " SONDE_VERSION);
	describe_orders(p, &t);
	thrift_struct_end(&t);
	bytes_u32(out, (uint32_t)out->len);
	bytes_puts(out, magic);
	out->failed |= p->groups.failed;
	if (out->len > INT32_MAX)
		return err_set(e, -EFBIG,
			       "too many row groups for one file of Parquet: export "
			       "less of it (--metrics, --from, --until)");
	return put(p, out, e);
}

static int parquet_end(void *state, struct err *e)
{
	struct parquet *p = state;
	int rc = p->columns.nrows ? end_page(p, e) : 0;

	if (!rc)
		rc = end_group(p, e);
	return rc ? rc : put_footer(p, e);
}

static void parquet_free(void *state)
{
	struct parquet *p = state;

	for (uint32_t i = 0; p->chunk && i < p->schema->ncolumns; i++)
		parquet_chunk_free(&p->chunk[i]);
	free(p->chunk);
	parquet_work_close(&p->work);
	columns_close(&p->columns);
	bytes_free(&p->dictionary);
	bytes_free(&p->name);
	bytes_free(&p->groups);
}

const struct sink sink_parquet = {
	.name = "parquet",
	.what = "Apache Parquet, zstd",
	.size = sizeof(struct parquet),
	.begin = parquet_begin,
	.batch = parquet_batch,
	.end = parquet_end,
	.free = parquet_free,
};

/* ---- Thrift ---- */

enum {
	TYPE_TRUE = 1,
	TYPE_FALSE = 2,
	TYPE_BYTE = 3,
	TYPE_I16 = 4,
	TYPE_DOUBLE = 7,
	TYPE_LIST = 9,
	TYPE_SET = 10,
	TYPE_MAP = 11,
};

enum { SKIP_DEPTH = 16, KEY_VALUE_FIELD = 5 };

static void field(struct thrift *t, int id, unsigned type)
{
	int *last = &t->last[t->depth];

	if (id > *last && id - *last <= 15) {
		bytes_u8(t->out, (uint8_t)((unsigned)(id - *last) << 4 | type));
	} else {
		bytes_u8(t->out, (uint8_t)type);
		bytes_zigzag(t->out, id);
	}
	*last = id;
}

void thrift_bool(struct thrift *t, int id, bool v)
{
	field(t, id, v ? TYPE_TRUE : TYPE_FALSE);
}

void thrift_i32(struct thrift *t, int id, int32_t v)
{
	field(t, id, THRIFT_I32);
	bytes_zigzag(t->out, v);
}

void thrift_i64(struct thrift *t, int id, int64_t v)
{
	field(t, id, THRIFT_I64);
	bytes_zigzag(t->out, v);
}

static void put_binary(struct thrift *t, const void *data, size_t n)
{
	bytes_varint(t->out, n);
	bytes_put(t->out, data, n);
}

void thrift_binary(struct thrift *t, int id, const void *data, size_t n)
{
	field(t, id, THRIFT_BINARY);
	put_binary(t, data, n);
}

void thrift_text(struct thrift *t, int id, const char *text)
{
	thrift_binary(t, id, text, strlen(text));
}

void thrift_struct(struct thrift *t, int id)
{
	if (id)
		field(t, id, THRIFT_STRUCT);
	t->last[++t->depth] = 0;
}

void thrift_struct_end(struct thrift *t)
{
	bytes_u8(t->out, 0);
	t->depth--;
}

static void thrift_empty_struct(struct thrift *t, int id)
{
	thrift_struct(t, id);
	thrift_struct_end(t);
}

void thrift_list(struct thrift *t, int id, enum thrift_type of, size_t n)
{
	field(t, id, TYPE_LIST);
	if (n < 15) {
		bytes_u8(t->out, (uint8_t)(n << 4 | of));
	} else {
		bytes_u8(t->out, (uint8_t)(0xf0U | of));
		bytes_varint(t->out, n);
	}
}

void thrift_element_i32(struct thrift *t, int32_t v)
{
	bytes_zigzag(t->out, v);
}

void thrift_element_text(struct thrift *t, const char *text)
{
	put_binary(t, text, strlen(text));
}

/* ---- what others may have written ---- */

/* The next field of a struct: its id goes on from *id. False at the struct's end. */
static bool next_field(struct scan *s, int *id, unsigned *type)
{
	uint8_t head = scan_u8(s);

	*type = head & 15;
	if (s->bad || !*type)
		return false;
	*id = head >> 4 ? *id + (head >> 4) : (int16_t)scan_zigzag(s);
	return !s->bad && *id <= INT16_MAX;
}

static void skip(struct scan *s, unsigned type, bool in_list, unsigned depth);

static void skip_struct(struct scan *s, unsigned depth)
{
	unsigned type;
	int id = 0;

	while (next_field(s, &id, &type))
		skip(s, type, false, depth);
}

/* How many elements, and their type. */
static uint64_t list_head(struct scan *s, unsigned *of)
{
	uint8_t head = scan_u8(s);

	*of = head & 15;
	return head >> 4 == 15 ? scan_varint(s) : head >> 4;
}

static void skip_list(struct scan *s, unsigned depth)
{
	unsigned of;

	for (uint64_t n = list_head(s, &of); n && !s->bad; n--)
		skip(s, of, true, depth);
}

static void skip_map(struct scan *s, unsigned depth)
{
	uint64_t n = scan_varint(s);
	unsigned of = n ? scan_u8(s) : 0;

	for (; n && !s->bad; n--) {
		skip(s, of >> 4, true, depth);
		skip(s, of & 15, true, depth);
	}
}

/* Each takes a byte at least, but for a bool in a field; what is nested too deep is bad. */
static void skip(struct scan *s, unsigned type, bool in_list, unsigned depth)
{
	size_t n;

	s->bad |= depth == SKIP_DEPTH;
	if (s->bad)
		return;
	if (type == TYPE_TRUE || type == TYPE_FALSE)
		scan_take(s, in_list);
	else if (type == TYPE_BYTE)
		scan_u8(s);
	else if (type == TYPE_I16 || type == THRIFT_I32 || type == THRIFT_I64)
		scan_varint(s);
	else if (type == TYPE_DOUBLE)
		scan_u64(s);
	else if (type == THRIFT_BINARY)
		scan_text(s, &n);
	else if (type == TYPE_LIST || type == TYPE_SET)
		skip_list(s, depth + 1);
	else if (type == TYPE_MAP)
		skip_map(s, depth + 1);
	else if (type == THRIFT_STRUCT)
		skip_struct(s, depth + 1);
	else
		s->bad = true;
}

/* A pair of key and value: the value if it is that key's, else NULL. */
static const char *pair_value(struct scan *s, const char *key, size_t *len)
{
	const char *text[2] = { NULL, NULL };
	size_t n[2] = { 0, 0 };
	unsigned type;
	int id = 0;

	while (next_field(s, &id, &type))
		if (type == THRIFT_BINARY && (id == 1 || id == 2))
			text[id - 1] = scan_text(s, &n[id - 1]);
		else
			skip(s, type, false, 0);
	if (!text[0] || n[0] != strlen(key) || memcmp(text[0], key, n[0]) != 0)
		return NULL;
	*len = n[1];
	return text[1];
}

static const char *find_pair(struct scan *s, const char *key, size_t *len)
{
	const char *value = NULL;
	unsigned of;

	for (uint64_t n = list_head(s, &of); n && !value && !s->bad; n--)
		value = pair_value(s, key, len);
	return value;
}

const uint8_t *parquet_find_value(const uint8_t *footer, size_t n, const char *key, size_t *len)
{
	struct scan s = { .at = footer, .end = footer + n };
	const char *value = NULL;
	unsigned type;
	int id = 0;

	while (!value && next_field(&s, &id, &type))
		if (id == KEY_VALUE_FIELD && type == TYPE_LIST)
			value = find_pair(&s, key, len);
		else
			skip(&s, type, false, 0);
	return s.bad ? NULL : (const uint8_t *)value;
}

/* ---- hybrid runs ---- */

enum { RUN_LEAST = 16 }; /* a shorter run costs more than its bits */

unsigned hybrid_width(uint32_t max)
{
	return max ? 32U - (unsigned)__builtin_clz(max) : 1;
}

static void put_run(struct bytes *out, uint32_t v, uint32_t n, unsigned width)
{
	bytes_varint(out, (uint64_t)n << 1);
	for (unsigned i = 0; i < width; i += 8)
		bytes_u8(out, (uint8_t)(v >> i));
}

/* n is a multiple of 8 but at the end, which is filled up with zeros. */
static void put_packed(struct bytes *out, const uint32_t *v, uint32_t n, unsigned width)
{
	size_t groups = (n + 7) / 8, size = groups * width;
	uint64_t gathered = 0;
	unsigned bits = 0;
	uint8_t *at, *end;

	if (!n)
		return;
	bytes_varint(out, groups << 1 | 1);
	if (!bytes_room(out, size))
		return;
	at = out->data + out->len;
	end = at + size;
	for (uint32_t i = 0; i < n; i++) {
		gathered |= (uint64_t)v[i] << bits;
		for (bits += width; bits >= 8; bits -= 8, gathered >>= 8)
			*at++ = (uint8_t)gathered;
	}
	for (; at < end; gathered >>= 8)
		*at++ = (uint8_t)gathered;
	out->len += size;
}

void hybrid_put(struct bytes *out, const uint32_t *v, uint32_t n, unsigned width)
{
	uint32_t packed = 0, at = 0;

	while (at < n) {
		uint32_t end = at + 1, begin;

		while (end < n && v[end] == v[at])
			end++;
		begin = packed + (at - packed + 7) / 8 * 8;
		if (end >= begin + RUN_LEAST) {
			put_packed(out, v + packed, begin - packed, width);
			put_run(out, v[at], end - begin, width);
			packed = end;
		}
		at = end;
	}
	put_packed(out, v + packed, n - packed, width);
}

void hybrid_bits(struct bytes *out, const uint8_t *bits, uint32_t n, uint32_t clear)
{
	if (!n || !clear || clear == n) {
		put_run(out, !clear, n, 1);
		return;
	}
	bytes_varint(out, (uint64_t)((n + 7) / 8) << 1 | 1);
	bytes_put(out, bits, (n + 7) / 8);
}
