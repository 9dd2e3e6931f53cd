/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/chunk.h"

#include "recording/format.h"
#include "recording/rows.h"
#include "recording/varint.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double as_real(int64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof v);
	return v;
}

static double number(bool real, int64_t stored)
{
	return real ? as_real(stored) : (double)stored;
}

/* The upper 48 bits of a double, rounded: what a sum of many needs, and bytes that nothing can
 * compress. */
static void sum_put(struct bytes *out, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof bits);
	bits += 0x8000;
	bytes_u32(out, (uint32_t)(bits >> 16));
	bytes_u8(out, (uint8_t)(bits >> 48));
	bytes_u8(out, (uint8_t)(bits >> 56));
}

static double sum_get(struct scan *in)
{
	const uint8_t *at = scan_take(in, 6);
	uint64_t bits = 0;
	double v;

	if (at)
		memcpy(&bits, at, 6);
	bits = le64toh(bits) << 16;
	memcpy(&v, &bits, sizeof v);
	return v;
}

static void step_put(struct bytes *out, int64_t value, int64_t from)
{
	bytes_zigzag(out, (int64_t)((uint64_t)value - (uint64_t)from));
}

static inline int64_t step_get(struct scan *in, int64_t from)
{
	return (int64_t)((uint64_t)from + (uint64_t)zigzag_scan(in));
}

void column_put(struct bytes *out, const struct column *c, uint32_t behind)
{
	const struct range *r = &c->range;

	bytes_varint(out, r->series - behind);
	bytes_u8(out, c->flags);
	if (!(c->flags & COLUMN_FULL)) {
		bytes_varint(out, r->count);
		bytes_varint(out, c->first_row);
		bytes_varint(out, c->last_row - c->first_row);
		bytes_varint(out, (uint64_t)c->weight_ns);
	}
	bytes_zigzag(out, r->first);
	if (!(c->flags & COLUMN_CONSTANT)) {
		step_put(out, r->last, r->first);
		sum_put(out, r->weighted_sum);
		if (!(c->flags & COLUMN_GROWING)) {
			step_put(out, r->min, r->first);
			step_put(out, r->max, r->first);
		}
	}
	if ((c->flags & (COLUMN_FULL | COLUMN_CONSTANT)) != (COLUMN_FULL | COLUMN_CONSTANT))
		bytes_varint(out, c->body);
}

static void span_get(struct scan *in, struct column *c, uint32_t nrows, const int64_t *mono)
{
	uint64_t count = nrows, first = 0, span = nrows - 1;

	if (!(c->flags & COLUMN_FULL)) {
		count = varint_scan(in);
		first = varint_scan(in);
		span = varint_scan(in);
		c->weight_ns = (int64_t)varint_scan(in);
	} else {
		c->weight_ns = mono[nrows - 1] - mono[0];
	}
	if (first >= nrows || span >= nrows - first || !count || count > span + 1 ||
	    c->weight_ns < 0) {
		in->bad = true;
		return;
	}
	c->range.count = (uint32_t)count;
	c->first_row = (uint32_t)first;
	c->last_row = (uint32_t)(first + span);
	c->range.first_ns = mono[first];
	c->range.last_ns = mono[first + span];
	c->range.weight = (double)c->weight_ns * 1e-9;
}

static void values_get(struct scan *in, struct column *c)
{
	struct range *r = &c->range;

	r->first = r->last = r->min = r->max = zigzag_scan(in);
	if (c->flags & COLUMN_CONSTANT) {
		double v = number(c->flags & COLUMN_REAL, r->first);

		r->weighted_sum = isnan(v) ? 0 : v * r->weight;
		return;
	}
	r->last = r->max = step_get(in, r->first);
	r->weighted_sum = sum_get(in);
	if (!(c->flags & COLUMN_GROWING)) {
		r->min = step_get(in, r->first);
		r->max = step_get(in, r->first);
	}
}

bool column_get(struct scan *in, struct column *c, uint32_t behind, uint32_t nrows,
		const int64_t *mono)
{
	uint64_t gap = varint_scan(in), body = 0;

	*c = (struct column){ .flags = scan_u8(in) };
	if (in->bad || !gap || gap > UINT32_MAX - behind || c->flags & ~COLUMN_FLAGS)
		return false;
	c->range.series = behind + (uint32_t)gap;
	span_get(in, c, nrows, mono);
	if (in->bad)
		return false;
	values_get(in, c);
	if ((c->flags & (COLUMN_FULL | COLUMN_CONSTANT)) != (COLUMN_FULL | COLUMN_CONSTANT))
		body = varint_scan(in);
	c->body = (uint32_t)body;
	return !in->bad && body <= UINT32_MAX;
}

/* Where values are: present[] from the run lengths. */
static bool runs_decode(const struct column *c, struct scan *body, uint32_t nrows, uint8_t *present)
{
	uint64_t row = 0, left = c->range.count;

	memset(present, c->flags & COLUMN_FULL, nrows);
	if (c->flags & COLUMN_FULL)
		return true;
	while (left) {
		uint64_t absent = varint_scan(body), run = varint_scan(body);

		if (body->bad || absent > nrows - row || run > nrows - row - absent || !run ||
		    run > left)
			return false;
		memset(present + row + absent, 1, run);
		row += absent + run;
		left -= run;
	}
	return present[c->first_row] && row == c->last_row + 1u;
}

/* Integer steps are decoded from eight bytes at a time: to find where the next one begins is what
 * takes long, and their lengths cannot be guessed. */
struct octet {
	uint64_t groups; /* seven bits of each byte, the next step's lowest */
	uint64_t ends;   /* the high bits of the bytes that are a step's last */
	unsigned taken;  /* bits of the bytes taken */
};

#define OCTET_HIGH UINT64_C(0x8080808080808080)

static inline struct octet octet_load(const uint8_t *at)
{
	uint64_t eight;

	memcpy(&eight, at, sizeof eight);
	eight = le64toh(eight);
	return (struct octet){ .groups = eight & ~OCTET_HIGH, .ends = ~eight & OCTET_HIGH };
}

static inline uint64_t octet_step(struct octet *o)
{
	unsigned behind = (unsigned)__builtin_ctzll(o->ends) + 1;
	unsigned width = (behind - o->taken) / 8 * 7;
	uint64_t step = o->groups & ((UINT64_C(1) << width) - 1);

	o->groups >>= width;
	o->ends &= o->ends - 1;
	o->taken = behind;
	return (uint64_t)zigzag_decode(step);
}

/* Eight steps of a byte each, their zigzags undone side by side. Returns the last value. */
static inline uint64_t octet_bytes(uint64_t eight, uint64_t last, int64_t *value)
{
	uint64_t odd = eight & UINT64_C(0x0101010101010101);
	uint64_t step = (eight >> 1 & UINT64_C(0x3f3f3f3f3f3f3f3f)) ^ ((odd << 8) - odd);

	for (unsigned k = 0; k < 8; k++, step >>= 8) {
		last += (uint64_t)(int8_t)step;
		value[k] = (int64_t)last;
	}
	return last;
}

/* Up to four of its steps and no more than room, at least one; how many. */
static inline uint32_t octet_steps(struct octet *o, uint64_t *last, int64_t *value, uint32_t room)
{
	unsigned steps = (unsigned)((o->ends >> 7) * UINT64_C(0x0101010101010101) >> 56);
	uint32_t n = 0;

	steps = steps < room ? steps : room;
	o->groups = varint_gather8(o->groups);
	if (steps >= 4)
		value[n++] = (int64_t)(*last += octet_step(o));
	if (steps >= 3)
		value[n++] = (int64_t)(*last += octet_step(o));
	if (steps >= 2)
		value[n++] = (int64_t)(*last += octet_step(o));
	value[n++] = (int64_t)(*last += octet_step(o));
	return n;
}

/* n values by steps from the first, one behind the other. Returns the place behind, or NULL. */
static const uint8_t *steps_decode(const uint8_t *at, const uint8_t *end, int64_t *value,
				   uint32_t n)
{
	uint64_t last = (uint64_t)value[0], coded;
	uint32_t i = 1;

	while (i < n && at < end) {
		struct octet o = octet_load(at);

		if (o.ends == OCTET_HIGH && n - i >= 8) {
			last = octet_bytes(o.groups, last, value + i);
			i += 8;
			at += 8;
		} else if (o.ends) {
			i += octet_steps(&o, &last, value + i, n - i);
			at += o.taken / 8;
		} else {
			at = varint_read(at, end, &coded);
			if (!at)
				return NULL;
			last += (uint64_t)zigzag_decode(coded);
			value[i++] = (int64_t)last;
		}
	}
	return i == n ? at : NULL;
}

static const uint8_t *reals_decode(const uint8_t *at, const uint8_t *end, int64_t *value,
				   uint32_t n)
{
	uint64_t coded;

	for (uint32_t i = 1; i < n && at; i++) {
		at = varint_read(at, end, &coded);
		value[i] = (int64_t)((uint64_t)value[i - 1] ^ coded);
	}
	return at;
}

/* From one behind the other to their rows. */
static void spread(uint32_t nrows, uint32_t count, int64_t *value, const uint8_t *present)
{
	for (uint32_t row = nrows; row-- > 0;)
		value[row] = present[row] ? value[--count] : 0;
}

bool column_decode(const struct column *c, struct scan body, uint32_t nrows, int64_t *value,
		   uint8_t *present)
{
	const uint8_t *at;
	uint32_t count = c->range.count;

	if (!runs_decode(c, &body, nrows, present))
		return false;
	at = body.at;
	value[0] = c->range.first;
	if (c->flags & COLUMN_CONSTANT)
		for (uint32_t i = 1; i < count; i++)
			value[i] = value[0];
	else if (c->flags & COLUMN_REAL)
		at = reals_decode(at, body.end, value, count);
	else
		at = steps_decode(at, body.end, value, count);
	if (at != body.end || value[count - 1] != c->range.last)
		return false;
	if (count < nrows)
		spread(nrows, count, value, present);
	return true;
}

/* Stably by the byte at shift, the greatest first. */
static void pass(const struct body *from, struct body *to, uint32_t n, unsigned shift)
{
	uint32_t at[256] = { 0 }, sum = 0;

	for (uint32_t i = 0; i < n; i++)
		at[from[i].size >> shift & 0xff]++;
	for (unsigned byte = 256; byte-- > 0;) {
		uint32_t count = at[byte];

		at[byte] = sum;
		sum += count;
	}
	for (uint32_t i = 0; i < n; i++)
		to[at[from[i].size >> shift & 0xff]++] = from[i];
}

/* By digits, since qsort allocates. */
void bodies_sort(struct body *body, uint32_t n)
{
	uint32_t all = 0;

	for (uint32_t i = 0; i < n; i++)
		all |= body[i].size;
	for (unsigned shift = 0; shift < 32 && all >> shift; shift += 8) {
		pass(body, body + n, n, shift);
		memcpy(body, body + n, n * sizeof *body);
	}
}

_Static_assert((int)SECTION_BEHIND >= (int)COLUMN_BEHIND, "a column is decoded in its section");

enum { FOOTER_MAX = 64 << 20, BODY_MAX = 10 * VALUES_MAX + 2 * VALUES_MAX };

int chunk_reader_init(struct chunk_reader *r)
{
	*r = (struct chunk_reader){ 0 };
	return expander_init(&r->expander);
}

void chunk_reader_free(struct chunk_reader *r)
{
	expander_free(&r->expander);
	bytes_free(&r->footer);
	bytes_free(&r->body);
	free(r->utc);
	free(r->mono);
	free(r->column);
	free(r->bodies);
	*r = (struct chunk_reader){ 0 };
}

/* Room for what this chunk has, kept for the next. */
static int room(struct chunk_reader *r)
{
	if (r->nrows > r->rows_cap) {
		free(r->utc);
		free(r->mono);
		r->utc = calloc(r->nrows, sizeof *r->utc);
		r->mono = calloc(r->nrows, sizeof *r->mono);
		r->rows_cap = r->utc && r->mono ? r->nrows : 0;
	}
	if (r->ncolumns > r->columns_cap) {
		free(r->column);
		free(r->bodies);
		r->column = calloc(r->ncolumns, sizeof *r->column);
		r->bodies = calloc(r->ncolumns, 2 * sizeof *r->bodies);
		r->columns_cap = r->column && r->bodies ? r->ncolumns : 0;
	}
	return r->nrows > r->rows_cap || r->ncolumns > r->columns_cap ? -ENOMEM : 0;
}

static bool times_get(struct scan *in, struct chunk_reader *r)
{
	struct row_times t = { 0 };

	for (uint32_t row = 0; row < r->nrows; row++) {
		row_times_get(in, &t);
		r->mono[row] = t.mono;
		r->utc[row] = row_times_utc(&t);
		if (in->bad || t.mono < (row ? r->mono[row - 1] : 0) || t.mono > MONO_MAX ||
		    r->utc[row] < 0 || r->utc[row] > UTC_MAX)
			return false;
	}
	return true;
}

static int footer_get(struct chunk_reader *r)
{
	struct scan in = { .at = r->footer.data, .end = r->footer.data + r->footer.len };
	uint32_t behind = 0, body = 0;

	/* Every row and column takes two bytes at least: no room is taken for what cannot be there.
	 */
	if (r->footer.len / 2 < (size_t)r->nrows + r->ncolumns)
		return -EBADMSG;
	if (room(r))
		return -ENOMEM;
	if (!times_get(&in, r))
		return -EBADMSG;
	for (uint32_t i = 0; i < r->ncolumns; i++) {
		struct column *c = &r->column[i];

		if (!column_get(&in, c, behind, r->nrows, r->mono) ||
		    __builtin_add_overflow(body, c->body, &body))
			return -EBADMSG;
		behind = c->range.series;
		r->bodies[i] = (struct body){ .size = c->body, .column = i };
	}
	return in.at == in.end ? 0 : -EBADMSG;
}

int chunk_read(struct chunk_reader *r, const uint8_t *payload, size_t n)
{
	struct scan in = { .at = payload, .end = payload + n };
	uint64_t node = scan_varint(&in), generation = scan_varint(&in);
	uint64_t nrows = scan_varint(&in), ncolumns = scan_varint(&in);
	int rc;

	r->nrows = r->ncolumns = 0;
	if (in.bad || !node || node > UINT32_MAX || generation > UINT32_MAX || !nrows ||
	    nrows > ROWS_MAX || ncolumns > COLUMNS_MAX || nrows * ncolumns > VALUES_MAX)
		return -EBADMSG;
	rc = section_get(&in, &r->expander, FOOTER_MAX, &r->footer);
	if (rc)
		return rc;
	r->node = (uint32_t)node;
	r->generation = (uint32_t)generation;
	r->nrows = (uint32_t)nrows;
	r->ncolumns = (uint32_t)ncolumns;
	r->columns = in;
	rc = footer_get(r);
	if (rc)
		r->nrows = r->ncolumns = 0;
	return rc;
}

/* A walk over the bodies as they stand in their section. */
struct walk {
	const struct chunk_reader *r;
	uint32_t at;   /* of r->bodies */
	size_t offset; /* where that one begins */
};

static bool is_needed(void *walk, size_t from, size_t to)
{
	struct walk *w = walk;
	const struct body *b = w->r->bodies;
	bool any = false;

	for (; w->at < w->r->ncolumns && w->offset < to; w->offset += b[w->at++].size) {
		size_t end = w->offset + b[w->at].size;

		any |= end > from && b[w->at].size && !w->r->column[b[w->at].column].unwanted;
		if (end > to)
			break; /* it goes on in the next */
	}
	return any;
}

int chunk_read_bodies(struct chunk_reader *r)
{
	const struct section_wish wish = { is_needed, &(struct walk){ .r = r } };
	struct scan in = r->columns;
	size_t size = 0;
	int rc;

	bodies_sort(r->bodies, r->ncolumns);
	rc = section_get_some(&in, &r->expander, BODY_MAX, &r->body, &wish);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < r->ncolumns; i++) {
		r->column[r->bodies[i].column].at = r->body.data + size;
		size += r->bodies[i].size;
		if (size > r->body.len)
			return -EBADMSG;
	}
	return size == r->body.len && in.at == in.end ? 0 : -EBADMSG;
}

bool chunk_read_column(const struct chunk_reader *r, uint32_t i, int64_t *value, uint8_t *present)
{
	const struct column *c = &r->column[i];
	struct scan body = { .at = c->at, .end = c->body ? c->at + c->body : c->at };

	return column_decode(c, body, r->nrows, value, present);
}
