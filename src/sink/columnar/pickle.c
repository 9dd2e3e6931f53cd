/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pickle.c - a DataFrame of pandas, pickled: a program for Python's unpickler, which only calls
 * what numpy and pandas say is public, so that it serves pandas 1, 2 and 3 alike.
 *
 * Each column is a list, which every page adds an array to; at the end the arrays are joined. Whole
 * numbers and the codes of texts take as few bytes in a page as its largest needs: joining makes
 * them as wide as the widest.
 */
#include "sink/columnar/column.h"
#include "sink/sink.h"
#include "sink/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of Python's pickletools, protocol 4. */
enum opcode {
	OP_PROTO = 0x80,
	OP_MEMOIZE = 0x94,
	OP_STACK_GLOBAL = 0x93,
	OP_TUPLE1 = 0x85,
	OP_TUPLE2 = 0x86,
	OP_FALSE = 0x89,
	OP_TRUE = 0x88,
	OP_MARK = '(',
	OP_STOP = '.',
	OP_POP = '0',
	OP_BYTES = 'B',
	OP_INT = 'J',
	OP_NONE = 'N',
	OP_REDUCE = 'R',
	OP_UNICODE = 'X',
	OP_LIST = ']',
	OP_APPEND = 'a',
	OP_APPENDS = 'e',
	OP_GET = 'j',
	OP_SETITEM = 's',
	OP_TUPLE = 't',
	OP_DICT = '}',
	OP_SETITEMS = 'u',
};

/* What is called, and where it is in the memo: by this number. The columns' lists come behind. */
enum call {
	CALL_FROMBUFFER = 0,
	CALL_ZEROS,
	CALL_CONCATENATE,
	CALL_ARRAY,
	CALL_TAKE,
	CALL_TO_DATETIME,
	CALL_INTEGERS,
	CALL_FRAME,
	CALL_GETATTR,
	CALLS
};

static const struct {
	const char *module, *name;
} calls[CALLS] = {
	[CALL_FROMBUFFER] = { "numpy", "frombuffer" },
	[CALL_ZEROS] = { "numpy", "zeros" },
	[CALL_CONCATENATE] = { "numpy", "concatenate" },
	[CALL_ARRAY] = { "numpy", "array" },
	[CALL_TAKE] = { "numpy", "take" },
	[CALL_TO_DATETIME] = { "pandas", "to_datetime" },
	[CALL_INTEGERS] = { "pandas.arrays", "IntegerArray" },
	[CALL_FRAME] = { "pandas", "DataFrame" },
	[CALL_GETATTR] = { "builtins", "getattr" },
};

enum { WIDEST = sizeof(int64_t) };

static const char bool_type[] = "?";
static const char *const types[] = { [COLUMN_TEXT] = "|i1",
				     [COLUMN_INT] = "<i8",
				     [COLUMN_REAL] = "<f8",
				     [COLUMN_TIME] = "<M8[ns]" };

struct pickle {
	FILE *out;
	const struct frame_schema *schema;
	struct columns columns;
	struct columns_behind behind;
	struct bytes text, name;
	uint8_t *absent; /* [COLUMN_PAGE_ROWS] */
	uint8_t *narrow; /* [COLUMN_PAGE_ROWS + 1] of the widest */
	bool *gaps;      /* [ncolumns] something is absent */
};

static void op(struct pickle *p, enum opcode code)
{
	bytes_u8(&p->text, (uint8_t)code);
}

static void push_binary(struct pickle *p, enum opcode code, const void *data, size_t n)
{
	op(p, code);
	bytes_u32(&p->text, (uint32_t)n);
	bytes_put(&p->text, data, n);
}

static void push_text(struct pickle *p, const char *text)
{
	push_binary(p, OP_UNICODE, text, strlen(text));
}

static void push_int(struct pickle *p, uint32_t v)
{
	op(p, OP_INT);
	bytes_u32(&p->text, v);
}

static void push_memo(struct pickle *p, uint32_t i)
{
	op(p, OP_GET);
	bytes_u32(&p->text, i);
}

static uint32_t values_list(uint32_t column)
{
	return CALLS + 2 * column;
}

static uint32_t absent_list(uint32_t column)
{
	return CALLS + 2 * column + 1;
}

/* numpy.zeros(n, type) */
static void push_zeros(struct pickle *p, uint32_t n, const char *type)
{
	push_memo(p, CALL_ZEROS);
	push_int(p, n);
	push_text(p, type);
	op(p, OP_TUPLE2);
	op(p, OP_REDUCE);
}

/* numpy.concatenate(list) */
static void push_joined(struct pickle *p, uint32_t list)
{
	push_memo(p, CALL_CONCATENATE);
	push_memo(p, list);
	op(p, OP_TUPLE1);
	op(p, OP_REDUCE);
}

/* A list with an array of no rows, in the memo: even an empty table has something to join. */
static void make_list(struct pickle *p, const char *type)
{
	op(p, OP_LIST);
	op(p, OP_MEMOIZE);
	push_zeros(p, 0, type);
	op(p, OP_APPEND);
	op(p, OP_POP);
}

static int flush(struct pickle *p, struct err *e)
{
	return text_flush(&p->text, p->out, 0, e);
}

/* numpy.frombuffer(data, type), and the data go to the file from where they are. */
static int push_array(struct pickle *p, const void *data, size_t n, const char *type, struct err *e)
{
	int rc;

	push_memo(p, CALL_FROMBUFFER);
	op(p, OP_BYTES);
	bytes_u32(&p->text, (uint32_t)n);
	rc = flush(p, e);
	if (!rc)
		rc = text_write(data, n, p->out, e);
	push_text(p, type);
	op(p, OP_TUPLE2);
	op(p, OP_REDUCE);
	return rc;
}

static void fill_gap(const struct column_page *c, uint32_t row)
{
	if (c->type == COLUMN_TEXT)
		c->code[row] = UINT32_MAX; /* the last: None */
	else if (c->type == COLUMN_REAL)
		c->d[row] = NAN;
	else if (c->type == COLUMN_TIME)
		c->i[row] = INT64_MIN; /* NaT */
}

/* Put into the gaps what pandas takes for absent; integers have none and keep a list of gaps. */
static void fill_gaps(struct pickle *p, const struct column_page *c, uint32_t n)
{
	if (!c->nulls)
		return;
	memset(p->absent, 0, n);
	for (uint32_t row = 0; row < n; row++) {
		if (row % 8 == 0 && c->valid[row / 8] == UINT8_MAX) {
			row += 7;
		} else if (!(c->valid[row / 8] >> row % 8 & 1)) {
			p->absent[row] = 1;
			fill_gap(c, row);
		}
	}
}

/* The bits that any of n has beside its sign. */
static uint64_t bits_of(const struct column_page *c, uint32_t n)
{
	uint64_t wide = 0;
	uint32_t narrow = 0;

	if (c->type == COLUMN_TEXT)
		for (uint32_t row = 0; row < n; row++)
			narrow |= c->code[row] ^ (0 - (c->code[row] >> 31));
	else
		for (uint32_t row = 0; row < n; row++)
			wide |= (uint64_t)(c->i[row] ^ (c->i[row] >> 63));
	return wide | narrow;
}

/* Bytes that each of n needs, and the type that has these. */
static size_t width_of(const struct column_page *c, uint32_t n, const char **type)
{
	static const char *const narrower[] = { "|i1", "<i2", NULL, "<i4" };
	uint64_t bits = bits_of(c, n);

	for (size_t width = 1; width < WIDEST; width *= 2) {
		*type = narrower[width - 1];
		if (!(bits >> (8 * width - 1)))
			return width;
	}
	*type = types[COLUMN_INT];
	return WIDEST;
}

/* n of them, the lowest `width` bytes of each, little-endian. */
#define NARROW(from, width)                                                                        \
	for (uint32_t row = 0; row < n; row++, at += (width)) {                                    \
		uint64_t v = htole64((uint64_t)(from)[row]);                                       \
                                                                                                   \
		memcpy(at, &v, (width));                                                           \
	}

static void narrow(uint8_t *at, const struct column_page *c, uint32_t n, size_t width)
{
	const bool text = c->type == COLUMN_TEXT;

	if (text && width == 1)
		NARROW(c->code, 1)
	else if (text && width == 2)
		NARROW(c->code, 2)
	else if (text)
		NARROW(c->code, 4)
	else if (width == 1)
		NARROW(c->i, 1)
	else if (width == 2)
		NARROW(c->i, 2)
	else if (width == 4)
		NARROW(c->i, 4)
	else
		NARROW(c->i, 8)
}

static int push_wholes(struct pickle *p, const struct column_page *c, uint32_t n, struct err *e)
{
	const char *type;
	size_t width = width_of(c, n, &type);

	narrow(p->narrow, c, n, width);
	return push_array(p, p->narrow, n * width, type, e);
}

static int push_values(struct pickle *p, const struct column_page *c, uint32_t n, struct err *e)
{
	if (c->type == COLUMN_TEXT || c->type == COLUMN_INT)
		return push_wholes(p, c, n, e);
	return push_array(p, c->i, n * sizeof(*c->i), types[c->type], e);
}

/* Which of whole numbers are absent. */
static int push_absent(struct pickle *p, const struct column_page *c, uint32_t i, uint32_t n,
		       struct err *e)
{
	int rc = 0;

	push_memo(p, absent_list(i));
	if (c->nulls)
		rc = push_array(p, p->absent, n, bool_type, e);
	else
		push_zeros(p, n, bool_type);
	op(p, OP_APPEND);
	op(p, OP_POP);
	return rc;
}

static int write_page(void *state, const struct column_page *page, uint32_t n, struct err *e)
{
	struct pickle *p = state;
	int rc = 0;

	for (uint32_t i = 0; i < p->schema->ncolumns && !rc; i++) {
		const struct column_page *c = &page[i];

		fill_gaps(p, c, n);
		push_memo(p, values_list(i));
		rc = push_values(p, c, n, e);
		op(p, OP_APPEND);
		op(p, OP_POP);
		if (c->type == COLUMN_INT && !rc)
			rc = push_absent(p, c, i, n, e);
		p->gaps[i] |= c->nulls > 0;
		rc = rc ? rc : flush(p, e);
	}
	return rc;
}

static int end_page(void *state, struct err *e)
{
	struct pickle *p = state;

	return columns_write_behind(&p->behind, &p->columns, e);
}

static int pickle_begin(void *state, const struct frame_schema *schema, FILE *out, struct err *e)
{
	struct pickle *p = state;
	int rc = columns_open(&p->columns, schema, e);

	p->schema = schema;
	p->out = out;
	if (rc)
		return rc;
	p->absent = calloc(COLUMN_PAGE_ROWS, 1);
	p->narrow = calloc(COLUMN_PAGE_ROWS + 1, WIDEST);
	p->gaps = calloc(schema->ncolumns + 1u, sizeof(*p->gaps));
	p->behind.write = write_page;
	p->behind.state = p;
	if (!p->absent || !p->narrow || !p->gaps || columns_behind_open(&p->behind, &p->columns))
		return err_set(e, -ENOMEM, "out of memory for a table");
	op(p, OP_PROTO);
	bytes_u8(&p->text, 4);
	for (uint32_t i = 0; i < CALLS; i++) {
		push_text(p, calls[i].module);
		push_text(p, calls[i].name);
		op(p, OP_STACK_GLOBAL);
		op(p, OP_MEMOIZE);
		op(p, OP_POP);
	}
	for (uint32_t i = 0; i < schema->ncolumns; i++) {
		make_list(p, types[schema->columns[i].type]);
		make_list(p, bool_type);
	}
	return flush(p, e);
}

static int pickle_batch(void *state, const struct batch *b, struct err *e)
{
	struct pickle *p = state;

	return columns_batch(&p->columns, b, end_page, p, e);
}

/* numpy.take(numpy.array([..., None], "O"), codes) */
static void push_texts(struct pickle *p, uint32_t column)
{
	const struct dictionary *d = &p->columns.column[column].texts;

	push_memo(p, CALL_TAKE);
	push_memo(p, CALL_ARRAY);
	op(p, OP_LIST);
	op(p, OP_MARK);
	for (uint32_t i = 0; i < d->n; i++) {
		uint32_t length;
		const char *text = dictionary_get(d, i, &length);

		push_binary(p, OP_UNICODE, text, length);
	}
	op(p, OP_NONE);
	op(p, OP_APPENDS);
	push_text(p, "O");
	op(p, OP_TUPLE2);
	op(p, OP_REDUCE);
	push_joined(p, values_list(column));
	op(p, OP_TUPLE2);
	op(p, OP_REDUCE);
}

/* pandas.to_datetime(values, errors, dayfirst, yearfirst, utc) */
static void push_times(struct pickle *p, uint32_t column)
{
	push_memo(p, CALL_TO_DATETIME);
	op(p, OP_MARK);
	push_joined(p, values_list(column));
	push_text(p, "raise");
	op(p, OP_FALSE);
	op(p, OP_FALSE);
	op(p, OP_TRUE);
	op(p, OP_TUPLE);
	op(p, OP_REDUCE);
}

/* pandas.arrays.IntegerArray(values, mask) where there is a gap */
static void push_integers(struct pickle *p, uint32_t column)
{
	if (!p->gaps[column]) {
		push_joined(p, values_list(column));
		return;
	}
	push_memo(p, CALL_INTEGERS);
	push_joined(p, values_list(column));
	push_joined(p, absent_list(column));
	op(p, OP_TUPLE2);
	op(p, OP_REDUCE);
}

static void push_column(struct pickle *p, uint32_t i)
{
	switch (p->schema->columns[i].type) {
	case COLUMN_TEXT:
		push_texts(p, i);
		break;
	case COLUMN_INT:
		push_integers(p, i);
		break;
	case COLUMN_REAL:
		push_joined(p, values_list(i));
		break;
	case COLUMN_TIME:
		push_times(p, i);
		break;
	}
}

/* getattr(frame, "attrs")["sonde"] = what the columns are, and the frame is what stays. */
static void push_description(struct pickle *p)
{
	uint32_t frame = CALLS + 2 * p->schema->ncolumns;

	op(p, OP_MEMOIZE);
	push_memo(p, CALL_GETATTR);
	push_memo(p, frame);
	push_text(p, "attrs");
	op(p, OP_TUPLE2);
	op(p, OP_REDUCE);
	push_text(p, "sonde");
	bytes_reset(&p->name);
	columns_describe(&p->name, p->schema);
	push_binary(p, OP_UNICODE, p->name.data, p->name.len);
	p->text.failed |= p->name.failed;
	op(p, OP_SETITEM);
	op(p, OP_POP);
}

static int pickle_end(void *state, struct err *e)
{
	struct pickle *p = state;
	int rc = p->columns.nrows ? end_page(p, e) : 0;

	if (!rc)
		rc = columns_behind_finish(&p->behind, e);
	if (rc)
		return rc;
	push_memo(p, CALL_FRAME);
	op(p, OP_DICT);
	op(p, OP_MARK);
	for (uint32_t i = 0; i < p->schema->ncolumns && !rc; i++) {
		column_name(&p->name, &p->schema->columns[i]);
		p->text.failed |= p->name.failed;
		if (!p->name.failed)
			push_text(p, (const char *)p->name.data);
		push_column(p, i);
		rc = flush(p, e);
	}
	op(p, OP_SETITEMS);
	op(p, OP_TUPLE1);
	op(p, OP_REDUCE);
	push_description(p);
	op(p, OP_STOP);
	return rc ? rc : flush(p, e);
}

static void pickle_free(void *state)
{
	struct pickle *p = state;

	columns_behind_close(&p->behind, &p->columns);
	columns_close(&p->columns);
	bytes_free(&p->text);
	bytes_free(&p->name);
	free(p->absent);
	free(p->narrow);
	free(p->gaps);
}

const struct sink sink_pickle = {
	.name = "pickle",
	.extension = "pkl",
	.what = "a pickled DataFrame for pandas 1.5 to 3; open only your own",
	.size = sizeof(struct pickle),
	.begin = pickle_begin,
	.batch = pickle_batch,
	.end = pickle_end,
	.free = pickle_free,
};
