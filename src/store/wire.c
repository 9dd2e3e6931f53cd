/* SPDX-License-Identifier: Apache-2.0 */
#include "store/wire.h"

#include "base/text/escape.h"

#include <math.h>
#include <string.h>

struct field field_int(int64_t v)
{
	return (struct field){ .type = FIELD_INT, .i = v };
}

struct field field_real(double v)
{
	return (struct field){ .type = isnan(v) ? FIELD_NULL : FIELD_REAL, .d = v };
}

struct field field_text(const char *s)
{
	return (struct field){ .type = s ? FIELD_TEXT : FIELD_NULL, .s = s };
}

double field_number(const struct field *f)
{
	return f->type == FIELD_INT ? (double)f->i : f->type == FIELD_REAL ? f->d : NAN;
}

static void put_text(struct bytes *out, const char *text)
{
	struct bytes clean = { 0 };
	bool whole = escape_is_utf8(text);

	if (!whole) {
		escape_utf8(&clean, text);
		bytes_u8(&clean, 0);
		out->failed |= clean.failed;
		text = clean.failed ? "" : (const char *)clean.data;
	}
	bytes_varint(out, strlen(text) + 1);
	bytes_put(out, text, strlen(text) + 1);
	bytes_free(&clean);
}

void field_put(struct bytes *out, const struct field *f)
{
	uint64_t bits;

	bytes_u8(out, (uint8_t)f->type);
	switch (f->type) {
	case FIELD_INT:
		bytes_zigzag(out, f->i);
		break;
	case FIELD_REAL:
		memcpy(&bits, &f->d, sizeof bits);
		bytes_u64(out, bits);
		break;
	case FIELD_TEXT:
		put_text(out, f->s);
		break;
	case FIELD_NULL:
	case FIELD_TYPES:
		break;
	}
}

static bool get_text(struct scan *s, const char **text)
{
	uint64_t n = scan_varint(s);
	const uint8_t *at = s->bad || !n || n > SIZE_MAX ? NULL : scan_take(s, (size_t)n);

	*text = (const char *)at;
	return at && !at[n - 1] && !memchr(at, 0, (size_t)n - 1);
}

bool field_get(struct scan *s, struct field *f)
{
	uint8_t type = scan_u8(s);
	uint64_t bits;

	*f = (struct field){ 0 };
	if (s->bad || type >= FIELD_TYPES)
		return false;
	f->type = (enum field_type)type;
	switch (f->type) {
	case FIELD_INT:
		f->i = scan_zigzag(s);
		break;
	case FIELD_REAL:
		bits = scan_u64(s);
		memcpy(&f->d, &bits, sizeof bits);
		break;
	case FIELD_TEXT:
		return get_text(s, &f->s);
	case FIELD_NULL:
	case FIELD_TYPES:
		break;
	}
	return !s->bad;
}

size_t store_message_begin(struct bytes *out, enum store_message kind)
{
	bytes_u32(out, kind);
	bytes_u32(out, 0);
	return out->len;
}

void store_message_end(struct bytes *out, size_t begun)
{
	size_t n = out->len - begun;

	out->failed |= n > STORE_MESSAGE_MAX;
	for (size_t i = 0; i < 4 && !out->failed; i++)
		out->data[begun - 4 + i] = (uint8_t)(n >> 8 * i);
}

bool store_message_head(const uint8_t head[STORE_HEAD], uint32_t *kind, uint32_t *length)
{
	struct scan s = { .at = head, .end = head + STORE_HEAD };

	*kind = scan_u32(&s);
	*length = scan_u32(&s);
	return *kind >= STORE_OPEN && *kind <= STORE_FAILED && *length <= STORE_MESSAGE_MAX;
}
