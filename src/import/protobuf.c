/* SPDX-License-Identifier: Apache-2.0 */
#include "import/protobuf.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- in memory ---- */

bool message_varint(struct message *m, uint64_t *out)
{
	*out = 0;
	for (unsigned shift = 0; shift < 64 && m->at < m->end; shift += 7) {
		uint8_t c = *m->at++;

		*out |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80))
			return true;
	}
	return false;
}

static bool fixed(struct message *m, unsigned n, uint64_t *out)
{
	if ((size_t)(m->end - m->at) < n)
		return false;
	*out = 0;
	for (unsigned i = n; i--;)
		*out = *out << 8 | m->at[i];
	m->at += n;
	return true;
}

int message_next(struct message *m, struct field *f)
{
	uint64_t tag;

	if (m->at == m->end)
		return 0;
	if (!message_varint(m, &tag))
		return -1;
	f->number = (uint32_t)(tag >> 3);
	f->wire = tag & 7;
	switch (f->wire) {
	case PROTOBUF_VARINT:
		return message_varint(m, &f->value) ? 1 : -1;
	case PROTOBUF_FIXED64:
		return fixed(m, 8, &f->value) ? 1 : -1;
	case PROTOBUF_FIXED32:
		return fixed(m, 4, &f->value) ? 1 : -1;
	case PROTOBUF_BYTES:
		if (!message_varint(m, &f->value) || f->value > (uint64_t)(m->end - m->at))
			return -1;
		f->bytes = (struct message){ m->at, m->at + f->value };
		m->at += f->value;
		return 1;
	default:
		return -1;
	}
}

bool protobuf_fault(struct protobuf *s, const char *why)
{
	s->bad = true;
	if (!*s->fault->text)
		err_set(s->fault, -EINVAL, "byte %" PRIu64 ": %s", s->pos, why);
	return false;
}

bool protobuf_take(struct protobuf *s, uint8_t *out, uint64_t n)
{
	while (n) {
		size_t have = s->end - s->at;

		if (!have) {
			ssize_t got = packed_read(s->file, s->ahead, sizeof s->ahead);

			s->at = 0;
			s->end = got > 0 ? (size_t)got : 0;
			if (got <= 0)
				return false;
			continue;
		}
		have = have < n ? have : (size_t)n;
		if (out) {
			memcpy(out, s->ahead + s->at, have);
			out += have;
		}
		s->at += have;
		s->pos += have;
		n -= have;
	}
	return true;
}

static bool stream_varint(struct protobuf *s, uint64_t *out)
{
	uint8_t c;

	*out = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		if (!protobuf_take(s, &c, 1))
			return protobuf_fault(s, "it ends too early");
		*out |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80))
			return true;
	}
	return protobuf_fault(s, "it is not protobuf");
}

bool protobuf_next(struct protobuf *s, uint64_t end, struct field *f)
{
	uint64_t tag;

	if (s->pos >= end || !stream_varint(s, &tag))
		return false;
	f->number = (uint32_t)(tag >> 3);
	f->wire = tag & 7;
	f->value = f->wire == PROTOBUF_FIXED64 ? 8 : 4;
	switch (f->wire) {
	case PROTOBUF_VARINT:
		return stream_varint(s, &f->value);
	case PROTOBUF_FIXED64:
	case PROTOBUF_FIXED32:
		return protobuf_take(s, NULL, f->value) || protobuf_fault(s, "it ends too early");
	case PROTOBUF_BYTES:
		if (!stream_varint(s, &f->value))
			return false;
		return (end >= s->pos && f->value <= end - s->pos) ||
		       protobuf_fault(s, "a message is longer than what it is in");
	default:
		return protobuf_fault(s, "it is not protobuf");
	}
}

bool protobuf_whole(struct protobuf *s, const struct field *f, struct message *m)
{
	if (f->value > PROTOBUF_MESSAGE_MOST) {
		s->too_long++;
		if (!protobuf_take(s, NULL, f->value))
			protobuf_fault(s, "it ends too early");
		return false;
	}
	if (!protobuf_take(s, s->message, f->value))
		return protobuf_fault(s, "it ends too early");
	*m = (struct message){ s->message, s->message + f->value };
	return true;
}

bool protobuf_pass(struct protobuf *s, const struct field *f)
{
	return f->wire != PROTOBUF_BYTES || protobuf_take(s, NULL, f->value) ||
	       protobuf_fault(s, "it ends too early");
}

bool protobuf_is_over(struct protobuf *s)
{
	if (s->at < s->end)
		return false;
	ssize_t got = packed_read(s->file, s->ahead, sizeof s->ahead);

	s->at = 0;
	s->end = got > 0 ? (size_t)got : 0;
	return got <= 0;
}

int protobuf_begin(struct protobuf *s, struct packed *file, struct err *fault)
{
	*s = (struct protobuf){ .file = file, .fault = fault };
	s->message = malloc(PROTOBUF_MESSAGE_MOST);
	return s->message ? 0 : -ENOMEM;
}

void protobuf_end(struct protobuf *s)
{
	free(s->message);
	s->message = NULL;
}
