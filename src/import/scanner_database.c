/* SPDX-License-Identifier: Apache-2.0 */
#include "import/scanner_database.h"

#include <stdio.h>

/* Protobuf's wire types. */
enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };
enum { DATABASE_JOB = 3 };
enum { JOB_ID = 1, JOB_NAME = 2, JOB_NODES = 5 };

struct field {
	uint64_t number;
	unsigned wire;
	uint64_t value;    /* of a varint */
	struct scan bytes; /* of WIRE_BYTES */
};

/* The next field. False at the end, or where it is malformed. */
static bool next_field(struct scan *in, struct field *f)
{
	uint64_t key;

	if (in->bad || in->at == in->end)
		return false;
	key = scan_varint(in);
	*f = (struct field){ .number = key >> 3, .wire = key & 7 };
	switch (f->wire) {
	case WIRE_VARINT:
		f->value = scan_varint(in);
		break;
	case WIRE_BYTES:
		f->value = scan_varint(in);
		in->bad |= f->value > (uint64_t)(in->end - in->at);
		f->bytes.at = scan_take(in, in->bad ? 0 : (size_t)f->value);
		f->bytes.end = in->at;
		break;
	case WIRE_64:
		scan_u64(in);
		break;
	case WIRE_32:
		scan_u32(in);
		break;
	default:
		in->bad = true;
		break;
	}
	return !in->bad;
}

/* Both kinds of descriptors have a job's id and name in the same fields. */
static bool take_job(struct scan *in, struct scanner_job *j)
{
	struct field f;

	*j = (struct scanner_job){ .nodes = -1 };
	while (next_field(in, &f)) {
		if (f.number == JOB_ID && f.wire == WIRE_VARINT)
			j->id = f.value;
		if (f.number == JOB_NODES && f.wire == WIRE_VARINT)
			j->nodes = f.value <= INT32_MAX ? (int64_t)f.value : -1;
		if (f.number == JOB_NAME && f.wire == WIRE_BYTES)
			snprintf(j->name, sizeof j->name, "%.*s", (int)(f.bytes.end - f.bytes.at),
				 (const char *)f.bytes.at);
	}
	return !in->bad;
}

void scanner_database_jobs(struct scan in, void (*job)(void *ctx, const struct scanner_job *j),
			   void *ctx, int64_t *bad)
{
	const uint8_t *from = in.at, *here;
	struct scanner_job j;
	struct field f;

	*bad = -1;
	while (here = in.at, next_field(&in, &f)) {
		if (f.number != DATABASE_JOB || f.wire != WIRE_BYTES)
			continue;
		if (take_job(&f.bytes, &j))
			job(ctx, &j);
		else if (*bad < 0)
			*bad = here - from;
	}
	if (in.bad && *bad < 0)
		*bad = here - from;
}

void scanner_database_job(struct scan in, struct scanner_job *j, int64_t *bad)
{
	const uint8_t *from = in.at;

	*bad = take_job(&in, j) ? -1 : in.at - from;
}
