/* SPDX-License-Identifier: Apache-2.0 */
#include "import/cascade_dump.h"

#include "base/bytes.h"
#include "base/text/jsondoc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *const cascade_names[CASCADE_FIELDS] = {
	[CASCADE_PARTITION] = "PartitionKey",
	[CASCADE_KEY] = "RowKey",
	[CASCADE_EVENT] = "Event",
	[CASCADE_NODE] = "NodeId",
	[CASCADE_MESSAGE] = "Message",
};

enum { COLUMNS_MAX = 64, NO_FIELD = -1 };

/* The fields of one record, in memory of their own. */
struct record {
	struct bytes text;
	size_t at[CASCADE_FIELDS]; /* in text, from 1; 0: it has none */
};

static int find_field(const char *name, size_t n)
{
	for (int i = 0; i < CASCADE_FIELDS; i++)
		if (strlen(cascade_names[i]) == n && !memcmp(cascade_names[i], name, n))
			return i;
	return NO_FIELD;
}

static void record_begin(struct record *r)
{
	bytes_reset(&r->text);
	bytes_u8(&r->text, 0);
	memset(r->at, 0, sizeof r->at);
}

static bool record_has_any(const struct record *r)
{
	return r->at[CASCADE_KEY] || r->at[CASCADE_EVENT] || r->at[CASCADE_NODE];
}

static int record_tell(const struct record *r, uint64_t offset, const struct cascade_visitor *v)
{
	const char *field[CASCADE_FIELDS];

	if (r->text.failed)
		return -ENOMEM;
	for (int i = 0; i < CASCADE_FIELDS; i++)
		field[i] = r->at[i] ? (const char *)r->text.data + r->at[i] : NULL;
	return v->entity(v->ctx, offset, field);
}

/* ---- JSON ---- */

enum found { FOUND_RECORD, FOUND_WRAPPER, FOUND_NOTHING, FOUND_BAD };

static void put_value(struct record *r, int field, enum jsondoc_token t, const struct jsondoc *j)
{
	size_t at = r->text.len;

	if (t == JSONDOC_STRING)
		bytes_put(&r->text, j->text, strlen(j->text));
	else
		bytes_printf(&r->text, "%.17g", j->number);
	bytes_u8(&r->text, 0);
	r->at[field] = at;
}

/* The object at text, of which left bytes are behind in the end: all of a record, or what is read
 * of a bad one; or, of what has none of a record's fields, up to the first array or object in it.
 */
static enum found read_object(struct record *r, const char *text, size_t n, size_t *left)
{
	struct err e;
	struct jsondoc j;
	enum jsondoc_token t;
	size_t inner = 0;

	record_begin(r);
	jsondoc_open_text(&j, text, n);
	jsondoc_next(&j, &e);
	while ((t = jsondoc_next(&j, &e)) == JSONDOC_KEY) {
		int field = find_field(j.text, strlen(j.text));

		t = jsondoc_next(&j, &e);
		if ((t == JSONDOC_STRING || t == JSONDOC_NUMBER) && field != NO_FIELD)
			put_value(r, field, t, &j);
		if (!inner && (t == JSONDOC_OBJECT || t == JSONDOC_ARRAY))
			inner = jsondoc_left(&j) + 1;
		if (t == JSONDOC_BAD || (t == JSONDOC_ARRAY && !record_has_any(r)) ||
		    !jsondoc_skip(&j, t, &e))
			break;
	}
	*left = jsondoc_left(&j);
	jsondoc_close(&j);
	if (inner && !record_has_any(r)) {
		*left = inner;
		return FOUND_WRAPPER;
	}
	if (t != JSONDOC_OBJECT_END)
		return FOUND_BAD;
	return record_has_any(r) ? FOUND_RECORD : FOUND_NOTHING;
}

/* What lies between objects, when it looks like a record that has lost its brace. */
static bool has_names(const char *text, size_t n)
{
	for (int i = 0; i < CASCADE_FIELDS; i++)
		if (memmem(text, n, cascade_names[i], strlen(cascade_names[i])))
			return true;
	return false;
}

static void tell_bad(const struct cascade_visitor *v, const char *text, const char *at)
{
	v->fault(v->ctx, (uint64_t)(at - text), "this is not JSON, and is left out");
}

/* A bad object is followed by others: the next one begins somewhere behind its brace. It is told
 * once, whatever else in it looks like the begin of one. */
static int read_json(struct record *r, const char *text, size_t n, const struct cascade_visitor *v)
{
	const char *at = text, *end = text + n, *told = text; /* bad up to there */
	int rc = 0;

	while (!rc && at < end) {
		const char *brace = memchr(at, '{', (size_t)(end - at));
		const char *next = brace ? brace : end;
		enum found found;
		size_t left;

		if (at >= told && has_names(at, (size_t)(next - at)))
			tell_bad(v, text, at);
		if (!brace)
			break;
		found = read_object(r, brace, (size_t)(end - brace), &left);
		if (found == FOUND_BAD && brace >= told) {
			tell_bad(v, text, brace);
			told = end - left;
		} else if (found == FOUND_RECORD) {
			rc = record_tell(r, (uint64_t)(brace - text), v);
		}
		at = found == FOUND_BAD || end - left <= brace ? brace + 1 : end - left;
	}
	return rc;
}

/* ---- CSV ---- */

struct table {
	char between;
	int field[COLUMNS_MAX]; /* of each column */
	unsigned columns;
};

/* The cell at *p, as it is meant; *p then stands at what follows it. False: it is malformed. */
static bool read_cell(const char **p, const char *end, char between, struct bytes *out)
{
	const char *at = *p;
	bool quoted = at < end && *at == '"';

	for (at += quoted; at < end && (quoted || *at != between); at++) {
		if (quoted && *at == '"' && (at + 1 == end || at[1] != '"'))
			break;
		at += quoted && *at == '"';
		bytes_u8(out, (uint8_t)*at);
	}
	if (quoted && at == end)
		return false;
	at += quoted;
	*p = at;
	return at == end || *at == between;
}

/* What is between the separators; -1: malformed. NUL bytes end a text and nothing else. */
static int read_row(const struct table *t, const char *line, const char *end, struct record *r)
{
	unsigned n = 0;

	record_begin(r);
	for (const char *at = line;; at++, n++) {
		int field = n < t->columns ? t->field[n] : NO_FIELD;
		size_t begin = r->text.len;

		if (!read_cell(&at, end, t->between, &r->text))
			return -1;
		if (field != NO_FIELD && r->text.len > begin)
			r->at[field] = begin;
		bytes_u8(&r->text, 0);
		if (at == end)
			return (int)n + 1;
	}
}

static size_t line_length(const char *line, const char *end)
{
	const char *newline = memchr(line, '\n', (size_t)(end - line));

	return (size_t)((newline ? newline : end) - line);
}

/* Without what Windows puts before it. */
static size_t row_length(const char *line, const char *end)
{
	size_t n = line_length(line, end);

	return n && line[n - 1] == '\r' ? n - 1 : n;
}

/* Whether these are names of columns, and RowKey one of them. */
static bool read_header(struct table *t, const char *line, size_t n, struct bytes *cell)
{
	const char *at = line, *end = line + n;
	bool has_key = false;

	t->columns = 0;
	t->between = memchr(line, ',', n) ? ',' : memchr(line, ';', n) ? ';' : '\t';
	for (; t->columns < COLUMNS_MAX; at++) {
		int field;

		bytes_reset(cell);
		if (!read_cell(&at, end, t->between, cell) || cell->failed)
			return false;
		field = find_field((const char *)cell->data, cell->len);
		t->field[t->columns++] = field;
		has_key |= field == CASCADE_KEY;
		if (at == end)
			return has_key;
	}
	return false;
}

static int read_csv(const struct table *t, struct record *r, const char *text, size_t n,
		    const struct cascade_visitor *v)
{
	const char *end = text + n, *line = text + line_length(text, end);
	int rc = 0;

	while (!rc && line < end && ++line < end) {
		uint64_t offset = (uint64_t)(line - text);
		size_t length = row_length(line, end);
		int columns = length ? read_row(t, line, line + length, r) : 0;

		if (columns == (int)t->columns)
			rc = record_tell(r, offset, v);
		else if (length)
			v->fault(v->ctx, offset,
				 columns < 0 ? "a quote is missing in this line, which is left out"
					     : "this line has not as many columns as the first one "
					       "and is left out");
		line += line_length(line, end);
	}
	return rc;
}

int cascade_dump_read(const char *text, size_t n, const struct cascade_visitor *v)
{
	static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8; many programs write one */
	struct record r = { 0 };
	struct table t;
	const char *from = text;
	int rc;

	if (n >= 3 && !memcmp(text, mark, 3))
		from += 3;
	if (read_header(&t, from, row_length(from, text + n), &r.text))
		rc = read_csv(&t, &r, from, n - (size_t)(from - text), v);
	else
		rc = read_json(&r, text, n, v);
	bytes_free(&r.text);
	return rc;
}
