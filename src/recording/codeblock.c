/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/codeblock.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/reserve.h"
#include "recording/record.h"
#include "recording/varint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	TEXTS_MAX = 1 << 14, /* that are remembered; others are written again */
	SLOTS = 1 << 15,
	MODULES = 256, /* whose last addresses are remembered */
	HEADS = 0,     /* the column of kinds and masks */
	AT_ITEMS = 11, /* the first of an item's columns */
};

enum how { NOT_HERE, NUMBER, SIGNED, TEXT, ITEMS };

/* In the order of their bits; its column. */
static const struct {
	uint8_t how, column;
} fields[FIELD_NUMBER_OF] = {
	[FIELD_NODE] = { NUMBER, 0 },   [FIELD_ID] = { NUMBER, 1 },
	[FIELD_PARENT] = { NUMBER, 2 }, [FIELD_COUNT] = { NUMBER, 3 },
	[FIELD_FLAGS] = { NUMBER, 4 },  [FIELD_T0] = { SIGNED, 5 },
	[FIELD_T1] = { SIGNED, 6 },     [FIELD_VALUE] = { SIGNED, 7 },
	[FIELD_MASK] = { NUMBER, 8 },   [FIELD_NAME] = { TEXT, 9 },
	[FIELD_TEXT] = { TEXT, 10 },    [FIELD_ITEMS] = { ITEMS, AT_ITEMS },
};
_Static_assert(AT_ITEMS + 3 == CODEBLOCK_FIELDS, "a column for each field");

static bool is_kind(uint8_t kind)
{
	return kind >= EVENT_MODULE && kind < EVENT_MODULE + CODEBLOCK_KINDS;
}

static unsigned column_of(uint8_t kind, unsigned field)
{
	return 1 + (unsigned)(kind - EVENT_MODULE) * CODEBLOCK_FIELDS + field;
}

/* ---- what a field is expected to be ---- */

struct expected {
	uint64_t last[CODEBLOCK_COLUMNS]; /* of each column */
	uint64_t address[MODULES];        /* of the last frame of a module */
};

/* The record so far. */
struct entry {
	uint8_t kind;
	uint64_t mask, value[FIELD_NUMBER_OF];
};

/* A frame is near the last one of its module, and mostly inlined into the one before it; ids
 * follow one another. */
static uint64_t *expected_of(struct expected *e, const struct entry *r, unsigned bit,
			     uint64_t *more)
{
	*more = 0;
	if (bit == FIELD_ID)
		*more = 1;
	if (r->kind == EVENT_FRAME && bit == FIELD_MASK)
		*more = r->value[FIELD_ID];
	if (r->kind == EVENT_FRAME && bit == FIELD_VALUE)
		return &e->address[r->value[FIELD_PARENT] % MODULES];
	if (r->kind == EVENT_SAMPLES && bit == FIELD_T1)
		return &e->last[column_of(r->kind, fields[FIELD_T0].column)];
	return &e->last[column_of(r->kind, fields[bit].column)];
}

/* After the record's number is known. */
static void number_note(struct entry *r, unsigned bit, uint64_t *last, uint64_t v)
{
	r->value[bit] = v;
	*last = r->kind == EVENT_FRAME && bit == FIELD_MASK ? 0 : v;
}

/* ---- writing ---- */

struct text {
	const uint8_t *at; /* in the records */
	uint32_t n;
};

struct codeblock_texts {
	struct text text[TEXTS_MAX];
	uint32_t slot[SLOTS]; /* number of a text, by hash; 0: free */
	uint32_t n;
};

/* Columns lie behind one another: it is gone through twice, and their sizes are known the second
 * time. */
struct packing {
	struct codeblock *c;
	struct expected expected;
	uint32_t size[CODEBLOCK_COLUMNS];
	uint8_t *at[CODEBLOCK_COLUMNS]; /* NULL the first time */
};

static void column_put(struct packing *p, unsigned column, uint64_t v)
{
	uint8_t coded[VARINT_MAX];
	size_t n = (size_t)(varint_write(coded, v) - coded);

	if (p->at[column]) {
		memcpy(p->at[column], coded, n);
		p->at[column] += n;
	} else {
		p->size[column] += (uint32_t)n;
	}
}

/* 0: the next of the texts; else its number among those before. */
static void text_put(struct packing *p, unsigned column, const uint8_t *text, uint32_t n)
{
	struct codeblock_texts *k = p->c->known;
	uint32_t at = (uint32_t)hash_bytes(0, text, n) % SLOTS;

	for (; k->slot[at]; at = (at + 1) % SLOTS) {
		const struct text *t = &k->text[k->slot[at] - 1];

		if (t->n == n && !memcmp(t->at, text, n)) {
			column_put(p, column, k->slot[at]);
			return;
		}
	}
	column_put(p, column, 0);
	if (p->at[HEADS]) {
		bytes_varint(&p->c->texts, n);
		bytes_put(&p->c->texts, text, n);
	}
	if (k->n == TEXTS_MAX)
		return;
	k->text[k->n++] = (struct text){ text, n };
	k->slot[at] = k->n;
}

/* Nodes are mostly called from the node before, threads and leaves near those of the item before.
 */
static void items_put(struct packing *p, const struct entry *r, struct scan *in)
{
	unsigned column = column_of(r->kind, AT_ITEMS);
	uint64_t *last = &p->expected.last[column], task = 0, node = 0;

	for (uint64_t i = 0; i < r->value[FIELD_COUNT] && !in->bad; i++) {
		task += (uint64_t)scan_zigzag(in);
		node += (uint64_t)scan_zigzag(in);
		if (r->kind == EVENT_STACKS)
			last[0] = r->value[FIELD_ID] + i;
		column_put(p, column, zigzag_encode((int64_t)(last[0] - task)));
		column_put(p, column + 1, zigzag_encode((int64_t)(node - last[1])));
		column_put(p, column + 2, scan_varint(in));
		last[0] = task;
		last[1] = node;
	}
}

static void field_put(struct packing *p, struct entry *r, unsigned bit, struct scan *in)
{
	unsigned column = column_of(r->kind, fields[bit].column);
	uint64_t v, more, *last;
	const char *text;
	size_t n;

	switch ((enum how)fields[bit].how) {
	case NOT_HERE:
		break;
	case NUMBER:
	case SIGNED:
		v = fields[bit].how == SIGNED ? (uint64_t)scan_zigzag(in) : scan_varint(in);
		last = expected_of(&p->expected, r, bit, &more);
		column_put(p, column, zigzag_encode((int64_t)(v - *last - more)));
		number_note(r, bit, last, v);
		break;
	case TEXT:
		text = scan_text(in, &n);
		if (text)
			text_put(p, column, (const uint8_t *)text, (uint32_t)n);
		break;
	case ITEMS:
		items_put(p, r, in);
		break;
	}
}

static struct scan body_of(struct scan *in)
{
	uint64_t n = scan_varint(in);
	const uint8_t *at = scan_take(in, n <= SIZE_MAX ? (size_t)n : SIZE_MAX);

	return (struct scan){ .at = at, .end = at ? in->at : at };
}

static struct entry entry_of(struct scan *body)
{
	struct entry r = { .kind = scan_u8(body) };

	r.mask = scan_varint(body);
	return r;
}

static void records_put(struct packing *p)
{
	const struct bytes *records = &p->c->records;
	struct scan in = { .at = records->data, .end = records->data + records->len };

	while (in.at < in.end && !in.bad) {
		struct scan body = body_of(&in);
		struct entry r = entry_of(&body);

		column_put(p, HEADS, r.kind);
		column_put(p, HEADS, r.mask);
		for (unsigned bit = 0; bit < FIELD_NUMBER_OF; bit++)
			if (r.mask >> bit & 1)
				field_put(p, &r, bit, &body);
	}
}

static void forget_texts(struct codeblock_texts *k)
{
	memset(k->slot, 0, sizeof k->slot);
	k->n = 0;
}

bool codeblock_takes(const uint8_t *record, size_t n)
{
	struct scan in = { .at = record, .end = record + n }, body = body_of(&in);
	struct entry r = entry_of(&body);

	if (body.bad || !is_kind(r.kind) || r.mask >> FIELD_NUMBER_OF)
		return false;
	for (unsigned bit = 0; bit < FIELD_NUMBER_OF; bit++)
		if (r.mask >> bit & 1 && fields[bit].how == NOT_HERE)
			return false;
	return true;
}

void codeblock_put(struct bytes *out, struct compressor *z, struct codeblock *c,
		   uint32_t generation)
{
	struct packing p = { .c = c };
	struct bytes *columns = &c->columns;

	forget_texts(c->known);
	records_put(&p);
	bytes_reset(columns);
	bytes_reset(&c->texts);
	for (unsigned i = 0; i < CODEBLOCK_COLUMNS; i++)
		bytes_varint(columns, p.size[i]);
	for (unsigned i = 0; i < CODEBLOCK_COLUMNS; i++) {
		p.at[i] = columns->data + columns->len;
		columns->len += p.size[i];
	}
	memset(&p.expected, 0, sizeof p.expected);
	forget_texts(c->known);
	records_put(&p);
	bytes_varint(out, generation);
	section_put_texts(out, z, c->texts.data, c->texts.len);
	section_put_texts(out, z, columns->data, columns->len);
}

/* A byte of a record is at least a column's varint, and at most as long as the longest. */
int codeblock_init(struct codeblock *c, size_t records_max)
{
	*c = (struct codeblock){ .known = reserve(sizeof *c->known) };
	if (!c->known || reserve_bytes(&c->records, records_max) ||
	    reserve_bytes(&c->texts, records_max) ||
	    reserve_bytes(&c->columns, (records_max + CODEBLOCK_COLUMNS) * VARINT_MAX)) {
		codeblock_free(c);
		return -ENOMEM;
	}
	return 0;
}

void codeblock_free(struct codeblock *c)
{
	reserve_free(c->known, sizeof *c->known);
	reserve_bytes_free(&c->records);
	reserve_bytes_free(&c->texts);
	reserve_bytes_free(&c->columns);
	*c = (struct codeblock){ 0 };
}

void codeblock_let_go(struct codeblock *c)
{
	reserve_let_go(c->known, sizeof *c->known);
	reserve_let_go(c->records.data, c->records.len);
	reserve_let_go(c->texts.data, c->texts.len);
	reserve_let_go(c->columns.data, c->columns.len);
}

/* ---- reading ---- */

struct unpacking {
	struct expected expected;
	struct scan column[CODEBLOCK_COLUMNS], texts;
	struct text *text;
	uint32_t ntexts, cap;
	struct bytes *records;
	bool bad, no_memory;
};

static uint64_t column_get(struct unpacking *u, unsigned column)
{
	struct scan *s = &u->column[column];
	uint64_t v = scan_varint(s);

	u->bad |= s->bad;
	return v;
}

/* A new one: borrowed from the section of texts. */
static void text_new(struct unpacking *u)
{
	size_t n;
	const uint8_t *at = (const uint8_t *)scan_text(&u->texts, &n);
	struct text *grown = array_room(u->text, u->ntexts, &u->cap, sizeof *grown);

	u->bad |= u->texts.bad;
	u->no_memory |= !grown;
	if (!grown)
		return;
	u->text = grown;
	grown[u->ntexts++] = (struct text){ at, (uint32_t)n };
}

static void text_get(struct unpacking *u, unsigned column)
{
	uint64_t number = column_get(u, column);

	if (!number) {
		text_new(u);
		number = u->ntexts;
	}
	if (u->bad || u->no_memory || number > u->ntexts) {
		u->bad = true;
		return;
	}
	bytes_varint(u->records, u->text[number - 1].n);
	if (u->text[number - 1].n)
		bytes_put(u->records, u->text[number - 1].at, u->text[number - 1].n);
}

static void items_get(struct unpacking *u, const struct entry *r)
{
	unsigned column = column_of(r->kind, AT_ITEMS);
	uint64_t *last = &u->expected.last[column], task = 0, node = 0;

	for (uint64_t i = 0; i < r->value[FIELD_COUNT] && !u->bad; i++) {
		if (r->kind == EVENT_STACKS)
			last[0] = r->value[FIELD_ID] + i;
		last[0] -= (uint64_t)zigzag_decode(column_get(u, column));
		last[1] += (uint64_t)zigzag_decode(column_get(u, column + 1));
		bytes_zigzag(u->records, (int64_t)(last[0] - task));
		bytes_zigzag(u->records, (int64_t)(last[1] - node));
		bytes_varint(u->records, column_get(u, column + 2));
		task = last[0];
		node = last[1];
	}
}

static void field_get(struct unpacking *u, struct entry *r, unsigned bit)
{
	unsigned column = column_of(r->kind, fields[bit].column);
	uint64_t more, *last, v;

	switch ((enum how)fields[bit].how) {
	case NOT_HERE:
		u->bad = true;
		break;
	case NUMBER:
	case SIGNED:
		last = expected_of(&u->expected, r, bit, &more);
		v = *last + more + (uint64_t)zigzag_decode(column_get(u, column));
		number_note(r, bit, last, v);
		if (fields[bit].how == SIGNED)
			bytes_zigzag(u->records, (int64_t)v);
		else
			bytes_varint(u->records, v);
		break;
	case TEXT:
		text_get(u, column);
		break;
	case ITEMS:
		items_get(u, r);
		break;
	}
}

static void record_unpack(struct unpacking *u)
{
	struct entry r = { .kind = (uint8_t)column_get(u, HEADS) };
	struct bytes *to = u->records;
	size_t body = record_begin(to);

	r.mask = column_get(u, HEADS);
	u->bad |= !is_kind(r.kind) || r.mask >> FIELD_NUMBER_OF;
	bytes_u8(to, r.kind);
	bytes_varint(to, r.mask);
	for (unsigned bit = 0; bit < FIELD_NUMBER_OF && !u->bad && !u->no_memory; bit++)
		if (r.mask >> bit & 1)
			field_get(u, &r, bit);
	record_end(to, body);
}

static bool columns_find(struct unpacking *u, const struct bytes *columns)
{
	struct scan in = { .at = columns->data, .end = columns->data + columns->len };
	uint64_t size[CODEBLOCK_COLUMNS];

	for (unsigned i = 0; i < CODEBLOCK_COLUMNS; i++)
		size[i] = scan_varint(&in);
	for (unsigned i = 0; i < CODEBLOCK_COLUMNS && !in.bad; i++) {
		const uint8_t *at =
			size[i] <= columns->len ? scan_take(&in, (size_t)size[i]) : NULL;

		if (!at && size[i])
			return false;
		u->column[i] = (struct scan){ .at = at, .end = at ? at + size[i] : at };
	}
	return !in.bad;
}

int codeblock_get(const struct block *b, struct expander *x, uint64_t *generation, size_t max,
		  struct bytes *records)
{
	struct scan in = { .at = b->payload, .end = b->payload + b->length };
	struct unpacking u = { .records = records };
	struct bytes texts = { 0 }, columns = { 0 };
	int rc;

	*generation = scan_varint(&in);
	bytes_reset(records);
	rc = section_get(&in, x, max, &texts);
	if (!rc)
		rc = section_get(&in, x, max, &columns);
	if (!rc && !columns_find(&u, &columns))
		rc = -EBADMSG;
	u.texts =
		(struct scan){ .at = texts.data, .end = texts.len ? texts.data + texts.len : NULL };
	while (!rc && u.column[HEADS].at < u.column[HEADS].end) {
		record_unpack(&u);
		if (u.no_memory || records->failed)
			rc = -ENOMEM;
		else if (u.bad || records->len > max)
			rc = -EBADMSG;
	}
	free(u.text);
	bytes_free(&texts);
	bytes_free(&columns);
	return rc;
}
