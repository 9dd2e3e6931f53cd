/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/json.h"

#include "base/clock.h"
#include "base/text/decimal.h"
#include "base/text/escape.h"

#include <math.h>

static void line(struct json *j)
{
	static const char text[] = "\n                                ";
	enum { DEPTH_AT_ONCE = (sizeof text - 2) / 2 };
	unsigned at_once = j->depth < DEPTH_AT_ONCE ? j->depth : DEPTH_AT_ONCE;

	if (!j->indent)
		return;
	bytes_put(j->out, text, 1 + 2 * (size_t)at_once);
	for (unsigned i = at_once; i < j->depth; i++)
		bytes_put(j->out, text + 1, 2);
}

/* What stands between the previous token and the value or key that comes now. */
static void separate(struct json *j)
{
	if (j->after_key) {
		j->after_key = false;
		return;
	}
	if (!j->depth)
		return;
	if (j->comma)
		bytes_u8(j->out, ',');
	line(j);
}

static void begin(struct json *j, char bracket)
{
	separate(j);
	bytes_u8(j->out, (uint8_t)bracket);
	j->depth++;
	j->comma = false;
}

static void end(struct json *j, char bracket)
{
	j->depth--;
	if (j->comma)
		line(j);
	bytes_u8(j->out, (uint8_t)bracket);
	j->comma = true;
}

void json_object(struct json *j)
{
	begin(j, '{');
}

void json_object_end(struct json *j)
{
	end(j, '}');
}

void json_array(struct json *j)
{
	begin(j, '[');
}

void json_array_end(struct json *j)
{
	end(j, ']');
}

static void quoted(struct json *j, const char *text)
{
	bytes_u8(j->out, '"');
	escape_json(j->out, text);
	bytes_u8(j->out, '"');
}

void json_key(struct json *j, const char *key)
{
	separate(j);
	quoted(j, key);
	bytes_puts(j->out, j->indent ? ": " : ":");
	j->after_key = true;
}

/* A value that is written as it stands. */
static void plain(struct json *j, const char *text)
{
	separate(j);
	bytes_puts(j->out, text);
	j->comma = true;
}

void json_text(struct json *j, const char *text)
{
	if (!text) {
		json_null(j);
		return;
	}
	separate(j);
	quoted(j, text);
	j->comma = true;
}

void json_int(struct json *j, int64_t v)
{
	char text[DECIMAL_ROOM];

	plain(j, decimal_whole(text, v));
}

void json_real(struct json *j, double v)
{
	char text[DECIMAL_ROOM];

	if (!isfinite(v))
		json_null(j);
	else
		plain(j, decimal_shortest(text, v));
}

void json_bool(struct json *j, bool v)
{
	plain(j, v ? "true" : "false");
}

void json_null(struct json *j)
{
	plain(j, "null");
}

void json_time(struct json *j, int64_t utc_ns)
{
	char text[40];

	json_text(j, clock_iso(utc_ns, text, sizeof text));
}

void json_put_text(struct json *j, const char *key, const char *text)
{
	json_key(j, key);
	json_text(j, text);
}

void json_put_int(struct json *j, const char *key, int64_t v)
{
	json_key(j, key);
	json_int(j, v);
}

void json_put_bool(struct json *j, const char *key, bool v)
{
	json_key(j, key);
	json_bool(j, v);
}

void json_put_real(struct json *j, const char *key, double v)
{
	json_key(j, key);
	json_real(j, v);
}
