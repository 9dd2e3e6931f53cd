/* SPDX-License-Identifier: Apache-2.0 */
/* otlp_protobuf.c - OTLP's protobuf (TracesData): one message, or several, each behind its length
 * in four bytes, as the Collector's file exporter writes them. */
#include "base/text/decimal.h"
#include "import/otlp.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VARINT, FIXED64, BYTES, FIXED32 = 5, MESSAGE_MOST = 4 << 20, AHEAD = 65536 };

/* A message in memory. */
struct message {
	const uint8_t *at, *end;
};

struct field {
	uint32_t number, wire;
	uint64_t value; /* of a number; of bytes: how many */
	struct message bytes;
};

/* ---- in memory ---- */

static bool varint(struct message *m, uint64_t *out)
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

/* 1, 0: it is over, -1: it is malformed. */
static int next(struct message *m, struct field *f)
{
	uint64_t tag;

	if (m->at == m->end)
		return 0;
	if (!varint(m, &tag))
		return -1;
	f->number = (uint32_t)(tag >> 3);
	f->wire = tag & 7;
	switch (f->wire) {
	case VARINT:
		return varint(m, &f->value) ? 1 : -1;
	case FIXED64:
		return fixed(m, 8, &f->value) ? 1 : -1;
	case FIXED32:
		return fixed(m, 4, &f->value) ? 1 : -1;
	case BYTES:
		if (!varint(m, &f->value) || f->value > (uint64_t)(m->end - m->at))
			return -1;
		f->bytes = (struct message){ m->at, m->at + f->value };
		m->at += f->value;
		return 1;
	default:
		return -1;
	}
}

static bool copy(char *out, size_t size, const struct field *f)
{
	return f->wire == BYTES && otlp_copy(out, size, (const char *)f->bytes.at, f->value);
}

/* A time of the span's; 0 and what is beyond 1970 to 2116 is none. */
static void time_of(const struct field *f, bool *has, int64_t *ns)
{
	*has = f->wire == FIXED64 && f->value && f->value < INT64_MAX / 2;
	*ns = *has ? (int64_t)f->value : 0;
}

/* AnyValue, as text. */
static void any_value(struct message m, char *out, size_t size)
{
	struct field f;
	double real;

	snprintf(out, size, "...");
	while (next(&m, &f) > 0) {
		if (f.number == 1)
			copy(out, size, &f);
		else if (f.number == 2 && f.wire == VARINT)
			snprintf(out, size, "%s", f.value ? "true" : "false");
		else if (f.number == 3 && f.wire == VARINT)
			snprintf(out, size, "%" PRId64, (int64_t)f.value);
		if (f.number == 4 && f.wire == FIXED64) {
			memcpy(&real, &f.value, sizeof real);
			decimal_print(out, size, "%.17g", real);
		}
	}
}

/* KeyValue */
static void attribute(const struct field *f, char key[OTLP_KEY], char *value, size_t size)
{
	struct message m = f->bytes;
	struct field part;

	*key = *value = '\0';
	while (next(&m, &part) > 0) {
		if (part.number == 1)
			copy(key, OTLP_KEY, &part);
		else if (part.number == 2 && part.wire == BYTES)
			any_value(part.bytes, value, size);
	}
}

static void take_event(struct otlp_span *s, struct message m)
{
	struct otlp_event *ev = otlp_event(s);
	char key[OTLP_KEY], value[TIMELINE_TEXT_MAX + 1];
	struct field f;

	while (ev && next(&m, &f) > 0) {
		if (f.number == 1)
			time_of(&f, &ev->has_time, &ev->at_ns);
		else if (f.number == 2)
			copy(ev->name, sizeof ev->name, &f);
		else if (f.number == 3 && f.wire == BYTES) {
			attribute(&f, key, value, sizeof value);
			otlp_detail(ev->detail, key, value);
		}
	}
}

static void take_status(struct otlp_span *s, struct message m)
{
	char message[TIMELINE_TEXT_MAX + 1] = "";
	int64_t code = 0;
	struct field f;

	while (next(&m, &f) > 0) {
		if (f.number == 2)
			copy(message, sizeof message, &f);
		else if (f.number == 3 && f.wire == VARINT)
			code = (int64_t)f.value;
	}
	otlp_status(s, code, message);
}

static void take_span_field(struct otlp_span *s, const struct field *f)
{
	char key[OTLP_KEY], value[TIMELINE_TEXT_MAX + 1];

	switch (f->number) {
	case 5:
		s->shortened |= !copy(s->name, sizeof s->name, f);
		break;
	case 6:
		otlp_kind(s, f->wire == VARINT ? (int64_t)f->value : 0);
		break;
	case 7:
		time_of(f, &s->has_begin, &s->begin_ns);
		break;
	case 8:
		time_of(f, &s->has_end, &s->end_ns);
		break;
	default:
		break;
	}
	if (f->wire != BYTES)
		return;
	if (f->number == 9) {
		attribute(f, key, value, sizeof value);
		otlp_attribute(s, key, value);
	} else if (f->number == 11) {
		take_event(s, f->bytes);
	} else if (f->number == 13) {
		s->links++;
	} else if (f->number == 15) {
		take_status(s, f->bytes);
	}
}

static int take_span(struct otlp *o, struct message m)
{
	struct field f;
	int more;

	otlp_span_begin(o);
	while ((more = next(&m, &f)) > 0)
		take_span_field(&o->span, &f);
	if (more < 0) {
		o->count.malformed++;
		return 0;
	}
	return otlp_span_end(o);
}

static void take_resource(struct otlp *o, struct message m)
{
	char key[OTLP_KEY], value[TIMELINE_TEXT_MAX + 1];
	struct field f;

	while (next(&m, &f) > 0)
		if (f.number == 1 && f.wire == BYTES) {
			attribute(&f, key, value, sizeof value);
			otlp_resource_attribute(o, key, value);
		}
}

/* ---- in the file ---- */

struct stream {
	struct otlp *o;
	uint8_t ahead[AHEAD];
	size_t at, end;
	uint64_t pos; /* of the next byte */
	uint8_t *message;
};

static bool fault(struct stream *s, const char *why)
{
	s->o->bad = true;
	if (!*s->o->fault.text)
		err_set(&s->o->fault, -EINVAL, "byte %" PRIu64 ": %s", s->pos, why);
	return false;
}

/* n bytes; out NULL: they are skipped. False: the file is over. */
static bool take(struct stream *s, uint8_t *out, uint64_t n)
{
	while (n) {
		size_t have = s->end - s->at;

		if (!have) {
			ssize_t got = packed_read(&s->o->file, s->ahead, sizeof s->ahead);

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

static bool stream_varint(struct stream *s, uint64_t *out)
{
	uint8_t c;

	*out = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		if (!take(s, &c, 1))
			return fault(s, "it ends too early");
		*out |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80))
			return true;
	}
	return fault(s, "it is not protobuf");
}

/* The next field of a message that ends there; of others than bytes nothing is left to read. False:
 * it is over, or bad. */
static bool stream_next(struct stream *s, uint64_t end, struct field *f)
{
	uint64_t tag;

	if (s->pos >= end || !stream_varint(s, &tag))
		return false;
	f->number = (uint32_t)(tag >> 3);
	f->wire = tag & 7;
	f->value = f->wire == FIXED64 ? 8 : 4;
	switch (f->wire) {
	case VARINT:
		return stream_varint(s, &f->value);
	case FIXED64:
	case FIXED32:
		return take(s, NULL, f->value) || fault(s, "it ends too early");
	case BYTES:
		if (!stream_varint(s, &f->value))
			return false;
		return (end >= s->pos && f->value <= end - s->pos) ||
		       fault(s, "a message is longer than what it is in");
	default:
		return fault(s, "it is not protobuf");
	}
}

/* The bytes of a field. False: they are skipped since they are too many, or bad. */
static bool whole(struct stream *s, const struct field *f, struct message *m)
{
	if (f->value > MESSAGE_MOST) {
		s->o->count.malformed++;
		if (!take(s, NULL, f->value))
			fault(s, "it ends too early");
		return false;
	}
	if (!take(s, s->message, f->value))
		return fault(s, "it ends too early");
	*m = (struct message){ s->message, s->message + f->value };
	return true;
}

static bool pass(struct stream *s, const struct field *f)
{
	return f->wire != BYTES || take(s, NULL, f->value) || fault(s, "it ends too early");
}

/* ScopeSpans */
static int read_scope(struct stream *s, uint64_t end)
{
	struct message m;
	struct field f;
	int rc = 0;

	while (!rc && !s->o->bad && stream_next(s, end, &f)) {
		if (f.number == 2 && f.wire == BYTES)
			rc = whole(s, &f, &m) ? take_span(s->o, m) : 0;
		else
			pass(s, &f);
	}
	return rc;
}

/* ResourceSpans */
static int read_part(struct stream *s, uint64_t end)
{
	struct otlp *o = s->o;
	struct message m;
	struct field f;
	int rc = otlp_part_begin(o), ended;

	while (!rc && !o->bad && stream_next(s, end, &f)) {
		if (f.number == 1 && f.wire == BYTES) {
			if (whole(s, &f, &m))
				take_resource(o, m);
		} else if ((f.number == 2 || f.number == 1000) && f.wire == BYTES) {
			rc = read_scope(s, s->pos + f.value);
		} else {
			pass(s, &f);
		}
	}
	ended = otlp_part_end(o);
	return rc ? rc : ended;
}

/* TracesData */
static int read_message(struct stream *s, uint64_t end)
{
	struct field f;
	int rc = 0;

	while (!rc && !s->o->bad && stream_next(s, end, &f)) {
		if (f.number == 1 && f.wire == BYTES)
			rc = read_part(s, s->pos + f.value);
		else
			pass(s, &f);
	}
	return rc;
}

static bool is_over(struct stream *s)
{
	if (s->at < s->end)
		return false;
	ssize_t got = packed_read(&s->o->file, s->ahead, sizeof s->ahead);

	s->at = 0;
	s->end = got > 0 ? (size_t)got : 0;
	return got <= 0;
}

/* A message that does not say how long it is ends with the file: between two of its fields. */
static int read_alone(struct stream *s)
{
	struct field f;
	int rc = 0;

	while (!rc && !s->o->bad && !is_over(s) && stream_next(s, UINT64_MAX, &f)) {
		if (f.number == 1 && f.wire == BYTES)
			rc = read_part(s, s->pos + f.value);
		else
			pass(s, &f);
	}
	return rc;
}

static int read_each(struct stream *s)
{
	uint8_t n[4];
	int rc = 0;

	while (!rc && !s->o->bad && !is_over(s)) {
		if (!take(s, n, sizeof n)) {
			fault(s, "it ends too early");
			break;
		}
		rc = read_message(s, s->pos + ((uint64_t)n[0] << 24 | (uint64_t)n[1] << 16 |
					       (uint64_t)n[2] << 8 | n[3]));
	}
	return rc;
}

int otlp_protobuf_read(struct otlp *o)
{
	struct stream *s = calloc(1, sizeof *s);
	int rc;

	if (s)
		s->message = malloc(MESSAGE_MOST);
	if (!s || !s->message) {
		free(s);
		return err_set(o->e, -ENOMEM, "out of memory for %.300s", o->x->path);
	}
	s->o = o;
	/* A field's number is never 0; a message behind its length is below 16 MiB. */
	rc = !is_over(s) && s->ahead[0] == 0 ? read_each(s) : read_alone(s);
	o->bad |= *o->file.e.text != '\0';
	free(s->message);
	free(s);
	return rc;
}
