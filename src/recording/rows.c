/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/rows.h"

#include "base/reserve.h"
#include "core/metric.h"

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

enum {
	WORD = 64, /* series whose changes are looked at together */
	TOKEN_OTHER = 0,
	OTHER_ABSENT = 0,
	OTHER_VALUE = 1,
	TOKEN_MAX = VARINT_MAX + 2,
};

int rows_init(struct rows *r, uint32_t cap)
{
	size_t whole = ((size_t)cap + WORD - 1) / WORD * WORD;
	size_t size = whole * (sizeof *r->last + sizeof *r->series + sizeof *r->place +
			       sizeof *r->present + sizeof *r->real) +
		      whole / 8 + whole / WORD;
	uint8_t *memory = reserve(size);

	*r = (struct rows){ .cap = cap, .memory = memory, .memory_size = size };
	if (!memory)
		return -ENOMEM;
	r->last = (int64_t *)memory;
	r->series = (uint32_t *)(r->last + whole);
	r->place = r->series + whole;
	r->changed = (uint8_t *)(r->place + whole);
	r->present = r->changed + whole / 8;
	r->real = r->present + whole;
	r->straight = r->real + whole;
	return 0;
}

void rows_free(struct rows *r)
{
	reserve_free(r->memory, r->memory_size);
	*r = (struct rows){ 0 };
}

bool rows_open(struct rows *r, uint32_t id, uint32_t count, uint64_t real, uint32_t place)
{
	if (count > r->cap - r->n || !id || (r->n && r->series[r->n - 1] >= id))
		return false;
	for (uint32_t i = 0; i < count; i++, r->n++) {
		r->series[r->n] = id + i;
		r->place[r->n] = place + i;
		r->last[r->n] = 0;
		r->present[r->n] = 0;
		r->real[r->n] = real >> (i & 63) & 1;
	}
	r->straight_known = false;
	return true;
}

uint32_t rows_find(const struct rows *r, uint32_t id)
{
	uint32_t low = 0, high = r->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (r->series[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void rows_close(struct rows *r, uint32_t id, uint32_t count)
{
	uint32_t first = rows_find(r, id), behind = rows_find(r, id + count);
	uint32_t rest = r->n - behind;

	memmove(r->series + first, r->series + behind, rest * sizeof *r->series);
	memmove(r->place + first, r->place + behind, rest * sizeof *r->place);
	memmove(r->last + first, r->last + behind, rest * sizeof *r->last);
	memmove(r->present + first, r->present + behind, rest);
	memmove(r->real + first, r->real + behind, rest);
	r->n -= behind - first;
	r->straight_known = false;
}

void rows_restart(struct rows *r)
{
	memset(r->last, 0, r->n * sizeof *r->last);
	memset(r->present, 0, r->n);
	r->times = (struct row_times){ 0 };
}

/* How many series from the i-th on have ids in a row and are stored alike. */
static uint32_t run_length(const struct rows *r, uint32_t i)
{
	uint32_t n = 1;

	while (i + n < r->n && r->series[i + n] == r->series[i] + n && r->real[i + n] == r->real[i])
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
		bytes_varint(out, r->series[i] - behind);
		bytes_varint(out, (uint64_t)n << 1 | r->real[i]);
		behind = r->series[i] + n;
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

const uint8_t *row_token_other(const uint8_t *at, const uint8_t *end, bool *present, int64_t *value)
{
	uint64_t coded;

	at = varint_read(at, end, &coded);
	if (!at || coded > OTHER_VALUE)
		return NULL;
	*present = coded == OTHER_VALUE;
	if (!*present)
		return at;
	at = varint_read(at, end, &coded);
	*value = zigzag_decode(coded);
	return at;
}

static uint32_t word_size(const struct rows *r, uint32_t first)
{
	return r->n - first < WORD ? r->n - first : WORD;
}

static void straight_find(struct rows *r)
{
	for (uint32_t first = 0; first < r->n; first += WORD) {
		uint32_t n = word_size(r, first), k = 1;

		while (k < n && r->place[first + k] == r->place[first] + k)
			k++;
		r->straight[first / WORD] = k == n;
	}
	r->straight_known = true;
}

/* Eight bytes of 0 or 1 as eight bits. */
static uint64_t bits_of(const uint8_t *bytes)
{
	uint64_t eight;

	memcpy(&eight, bytes, sizeof eight);
	return le64toh(eight) * UINT64_C(0x0102040810204080) >> 56;
}

static inline uint64_t differ(const int64_t *a, const int64_t *b, uint32_t k)
{
	return (uint64_t)(a[k] != b[k]) << k;
}

/* Which of eight values differ, as eight bits: none waits for the one before it. */
static inline uint64_t eight_differ(const int64_t *a, const int64_t *b)
{
	return differ(a, b, 0) | differ(a, b, 1) | differ(a, b, 2) | differ(a, b, 3) |
	       differ(a, b, 4) | differ(a, b, 5) | differ(a, b, 6) | differ(a, b, 7);
}

/* Which of n series with places in a row changed; without a branch a value, since which of them do
 * is not to be guessed. */
static uint64_t changes_straight(const uint8_t *state, const uint8_t *before, const int64_t *value,
				 const int64_t *last, uint32_t n)
{
	uint64_t present = 0, was = 0, moved = 0;
	uint32_t k = 0;

	_Static_assert(STATE_ABSENT == 0 && STATE_PRESENT == 1, "a sample's states are bits");
	for (; k + 8 <= n; k += 8) {
		present |= bits_of(state + k) << k;
		was |= bits_of(before + k) << k;
		moved |= eight_differ(value + k, last + k) << k;
	}
	for (; k < n; k++) {
		present |= (uint64_t)state[k] << k;
		was |= (uint64_t)before[k] << k;
		moved |= differ(value, last, k);
	}
	return (present ^ was) | (present & moved);
}

static uint64_t changes(const struct rows *r, uint32_t first, const int64_t *value,
			const uint8_t *state)
{
	uint32_t n = word_size(r, first);
	const uint32_t *place = r->place + first;
	const uint8_t *before = r->present + first;
	const int64_t *last = r->last + first;
	uint64_t word = 0;

	if (r->straight[first / WORD])
		return changes_straight(state + place[0], before, value + place[0], last, n);
	for (uint32_t k = 0; k < n; k++) {
		bool present = state[place[k]] == STATE_PRESENT;

		word |= (uint64_t)(present != before[k] || (present && value[place[k]] != last[k]))
			<< k;
	}
	return word;
}

static void changed_set(struct rows *r, uint32_t first, uint64_t word)
{
	word = htole64(word);
	memcpy(r->changed + first / 8, &word, sizeof word);
}

size_t rows_size_max(uint32_t series)
{
	return 2 * VARINT_MAX + (series + 7) / 8 + (size_t)series * TOKEN_MAX;
}

static inline uint8_t *token_put(uint8_t *at, const struct rows *r, uint32_t i, int64_t value,
				 uint8_t state)
{
	uint64_t zigzag = zigzag_encode(difference(value, r->last[i]));

	if (state == STATE_PRESENT && zigzag)
		return varint_write(at, zigzag);
	*at++ = TOKEN_OTHER;
	*at++ = state == STATE_PRESENT ? OTHER_VALUE : OTHER_ABSENT;
	return state == STATE_PRESENT ? varint_write(at, zigzag_encode(value)) : at;
}

static size_t row_size(const struct rows *r, const struct row_times *now, const int64_t *value,
		       const uint8_t *state)
{
	uint8_t times[2 * VARINT_MAX], token[TOKEN_MAX];
	struct bytes out = { .data = times, .cap = sizeof times, .fixed = true };
	size_t size = (r->n + 7) / 8;

	row_times_put(&out, &r->times, now);
	for (uint32_t first = 0; first < r->n; first += WORD) {
		for (uint64_t word = rows_changed(r, first); word; word &= word - 1) {
			uint32_t i = first + (uint32_t)__builtin_ctzll(word), place = r->place[i];

			size += (size_t)(token_put(token, r, i, value[place], state[place]) -
					 token);
		}
	}
	return size + out.len;
}

bool rows_fit(struct rows *r, const struct row_times *now, const int64_t *value,
	      const uint8_t *state, size_t room)
{
	if (!r->straight_known)
		straight_find(r);
	for (uint32_t first = 0; first < r->n; first += WORD)
		changed_set(r, first, changes(r, first, value, state));
	return rows_size_max(r->n) <= room || row_size(r, now, value, state) <= room;
}

void rows_put(struct bytes *out, struct rows *r, const struct row_times *now, const int64_t *value,
	      const uint8_t *state)
{
	size_t bitmap = (r->n + 7) / 8;
	uint8_t *at;

	row_times_put(out, &r->times, now);
	if (!bytes_room(out, bitmap + (size_t)r->n * TOKEN_MAX))
		return;
	memcpy(out->data + out->len, r->changed, bitmap);
	at = out->data + out->len + bitmap;
	for (uint32_t first = 0; first < r->n; first += WORD) {
		for (uint64_t word = rows_changed(r, first); word; word &= word - 1) {
			uint32_t i = first + (uint32_t)__builtin_ctzll(word), place = r->place[i];

			at = token_put(at, r, i, value[place], state[place]);
			r->present[i] = state[place];
			if (state[place])
				r->last[i] = value[place];
		}
	}
	out->len = (size_t)(at - out->data);
	r->times = *now;
}

bool rows_get(struct scan *in, struct rows *r)
{
	size_t bitmap = (r->n + 7) / 8;
	const uint8_t *bits;

	row_times_get(in, &r->times);
	bits = scan_take(in, bitmap);
	if (in->bad || (r->n % 8 && bits[bitmap - 1] >> r->n % 8))
		return false; /* cut, or of more series than there are */
	if (r->n)
		changed_set(r, (r->n - 1) / WORD * WORD, 0);
	memcpy(r->changed, bits, bitmap);
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
	t->step = sum(t->step, zigzag_scan(in));
	t->mono = sum(t->mono, t->step);
	t->offset = sum(t->offset, zigzag_scan(in));
}

int64_t row_times_utc(const struct row_times *t)
{
	return sum(t->mono, t->offset);
}
