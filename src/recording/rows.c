/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/rows.h"

#include "base/reserve.h"
#include "core/value.h"
#include "recording/varint.h"

#include <errno.h>
#include <string.h>

/* Differences wrap around as unsigned numbers do: any two values have one, and adding it leads
 * back. */
static int64_t difference(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t sum(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

int rows_init(struct rows *r, uint32_t cap)
{
	*r = (struct rows){ .open = reserve(cap * sizeof *r->open), .cap = cap };
	return r->open ? 0 : -ENOMEM;
}

void rows_free(struct rows *r)
{
	reserve_free(r->open, r->cap * sizeof *r->open);
	*r = (struct rows){ 0 };
}

bool rows_open(struct rows *r, uint32_t id, uint32_t count, uint64_t real, uint32_t place)
{
	if (count > r->cap - r->n || !id || (r->n && r->open[r->n - 1].series >= id))
		return false;
	for (uint32_t i = 0; i < count; i++)
		r->open[r->n++] = (struct row_series){ .series = id + i,
						       .place = place + i,
						       .real = real >> (i & 63) & 1 };
	return true;
}

/* Index of the first open series that is at least id. */
static uint32_t lower_bound(const struct rows *r, uint32_t id)
{
	uint32_t low = 0, high = r->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (r->open[middle].series < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void rows_close(struct rows *r, uint32_t id, uint32_t count)
{
	uint32_t first = lower_bound(r, id), behind = lower_bound(r, id + count);

	memmove(r->open + first, r->open + behind, (r->n - behind) * sizeof *r->open);
	r->n -= behind - first;
}

void rows_restart(struct rows *r)
{
	for (uint32_t i = 0; i < r->n; i++) {
		r->open[i].last = 0;
		r->open[i].present = false;
	}
	r->times = (struct row_times){ 0 };
}

/* How many series from the i-th on have ids in a row and are stored alike. */
static uint32_t run_length(const struct rows *r, uint32_t i)
{
	uint32_t n = 1;

	while (i + n < r->n && r->open[i + n].series == r->open[i].series + n &&
	       r->open[i + n].real == r->open[i].real)
		n++;
	return n;
}

void rows_list_put(struct bytes *out, const struct rows *r)
{
	uint32_t runs = 0, behind = 0, n;

	for (uint32_t i = 0; i < r->n; i += run_length(r, i))
		runs++;
	bytes_varint(out, runs);
	for (uint32_t i = 0; i < r->n; i += n) {
		n = run_length(r, i);
		bytes_varint(out, r->open[i].series - behind);
		bytes_varint(out, (uint64_t)n << 1 | r->open[i].real);
		behind = r->open[i].series + n;
	}
}

bool rows_list_get(struct scan *in, struct rows *r)
{
	uint64_t runs = scan_varint(in), behind = 0;

	r->n = 0;
	for (; runs && !in->bad; runs--) {
		uint64_t gap = scan_varint(in), run = scan_varint(in), n = run >> 1;
		uint64_t real = run & 1 ? UINT64_MAX : 0;

		if (gap > UINT32_MAX - behind || n > UINT32_MAX - behind - gap ||
		    !rows_open(r, (uint32_t)(behind + gap), (uint32_t)n, real, r->n))
			return false;
		behind += gap + n;
	}
	return !in->bad;
}

static uint8_t *token_put(uint8_t *at, int64_t value, int64_t last)
{
	uint64_t zigzag = zigzag_encode(difference(value, last));

	if (zigzag && zigzag != UINT64_MAX)
		return varint_write(at, zigzag + 1);
	*at++ = 1;
	return varint_write(at, zigzag_encode(value));
}

void rows_put(struct bytes *out, const struct rows *r, const struct row_times *now,
	      const int64_t *value, const uint8_t *state)
{
	size_t bitmap = (r->n + 7) / 8;
	uint8_t *bits, *at;

	row_times_put(out, &r->times, now);
	if (!bytes_room(out, bitmap + (size_t)r->n * (VARINT_MAX + 1)))
		return;
	bits = out->data + out->len;
	at = bits + bitmap;
	memset(bits, 0, bitmap);
	for (uint32_t i = 0; i < r->n; i++) {
		const struct row_series *s = &r->open[i];
		bool present = state[s->place] == STATE_PRESENT;

		if (present == s->present && (!present || value[s->place] == s->last))
			continue;
		bits[i / 8] |= (uint8_t)(1u << i % 8);
		if (present)
			at = token_put(at, value[s->place], s->last);
		else
			*at++ = 0;
	}
	out->len = (size_t)(at - out->data);
}

void rows_keep(struct rows *r, const struct row_times *now, const int64_t *value,
	       const uint8_t *state)
{
	for (uint32_t i = 0; i < r->n; i++) {
		struct row_series *s = &r->open[i];

		s->present = state[s->place] == STATE_PRESENT;
		if (s->present)
			s->last = value[s->place];
	}
	r->times = *now;
}

/* Behind the token, or NULL. */
static const uint8_t *token_get(const uint8_t *at, const uint8_t *end, struct row_series *s)
{
	uint64_t token;

	at = varint_read(at, end, &token);
	if (!at)
		return NULL;
	s->present = token != 0;
	if (token > 1) {
		s->last = sum(s->last, zigzag_decode(token - 1));
	} else if (token == 1) {
		at = varint_read(at, end, &token);
		s->last = zigzag_decode(token);
	}
	return at;
}

bool rows_get(struct scan *in, struct rows *r)
{
	const uint8_t *bits, *at;

	row_times_get(in, &r->times);
	bits = scan_take(in, (r->n + 7) / 8);
	at = in->at;
	if (in->bad)
		return false;
	for (uint32_t byte = 0; byte < (r->n + 7) / 8; byte++) {
		for (uint32_t left = bits[byte]; left; left &= left - 1) {
			uint32_t i = byte * 8 + (uint32_t)__builtin_ctz(left);

			at = i < r->n ? token_get(at, in->end, &r->open[i]) : NULL;
			if (!at)
				return false;
		}
	}
	in->at = at;
	return true;
}

struct row_times row_times_at(const struct row_times *t, int64_t utc, int64_t mono)
{
	return (struct row_times){ mono, difference(mono, t->mono), difference(utc, mono) };
}

void row_times_put(struct bytes *out, const struct row_times *t, const struct row_times *now)
{
	bytes_zigzag(out, difference(now->step, t->step));
	bytes_zigzag(out, difference(now->offset, t->offset));
}

void row_times_get(struct scan *in, struct row_times *t)
{
	t->step = sum(t->step, scan_zigzag(in));
	t->mono = sum(t->mono, t->step);
	t->offset = sum(t->offset, scan_zigzag(in));
}

int64_t row_times_utc(const struct row_times *t)
{
	return sum(t->mono, t->offset);
}
