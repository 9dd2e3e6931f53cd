/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - writes JSON, a token at a time, to bytes; streaming, so memory need not grow.
 *
 * Commas and nesting are kept for the caller. Numbers: %.17g shortest round trip; NaN and
 * infinities become null. Integers beyond 2^53 are written as they are (exact). Keys come in the
 * order written.
 */
#ifndef SONDE_BASE_TEXT_JSON_H
#define SONDE_BASE_TEXT_JSON_H

#include "base/bytes.h"

#include <stdbool.h>

struct json {
	struct bytes *out; /* borrowed */
	bool indent;       /* two spaces a level, for people */
	unsigned depth;
	bool comma, after_key;
};

void json_object(struct json *j);
void json_object_end(struct json *j);
void json_array(struct json *j);
void json_array_end(struct json *j);
void json_key(struct json *j, const char *key);
void json_text(struct json *j, const char *text); /* NULL: null */
void json_int(struct json *j, int64_t v);
void json_real(struct json *j, double v);
void json_bool(struct json *j, bool v);
void json_null(struct json *j);
/* UTC ns as "2026-11-20T13:05:33.123Z" (ms; more digits when there are any). */
void json_time(struct json *j, int64_t utc_ns);
/* A member: its key and its value. */
void json_put_text(struct json *j, const char *key, const char *text); /* NULL: null */
void json_put_int(struct json *j, const char *key, int64_t v);
void json_put_bool(struct json *j, const char *key, bool v);
void json_put_real(struct json *j, const char *key, double v); /* NAN: null, it is not known */

#endif
