/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/jsondoc.h"

#include "base/text/escape.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NUMBER_SIZE = JSONDOC_NUMBER_SIZE, REPLACEMENT = 0xfffd };
enum { AT_END = -1 };

/* What may come next. */
enum expect { VALUE = 0, FIRST_VALUE, FIRST_KEY, NEXT_KEY, COMMA, DONE };

int jsondoc_open(struct jsondoc *j, int fd)
{
	*j = (struct jsondoc){ .fd = fd, .line = 1, .block = malloc(JSONDOC_BLOCK) };
	j->at = j->end = j->block;
	return j->block ? 0 : -ENOMEM;
}

int jsondoc_open_from(struct jsondoc *j, ssize_t (*from)(void *ctx, void *data, size_t n),
		      void *ctx)
{
	int rc = jsondoc_open(j, -1);

	j->read = from;
	j->ctx = ctx;
	return rc;
}

void jsondoc_open_text(struct jsondoc *j, const void *text, size_t n)
{
	*j = (struct jsondoc){ .fd = -1, .line = 1, .at = text, .end = (const uint8_t *)text + n };
}

void jsondoc_close(struct jsondoc *j)
{
	free(j->block);
	bytes_free(&j->string);
	*j = (struct jsondoc){ .bad = true };
}

static bool refill(struct jsondoc *j)
{
	ssize_t n;

	if (!j->block)
		return false;
	do
		n = j->read ? j->read(j->ctx, j->block, JSONDOC_BLOCK)
			    : read(j->fd, j->block, JSONDOC_BLOCK);
	while (n < 0 && errno == EINTR);
	j->read_failed |= n < 0;
	j->at = j->block;
	j->end = j->block + (n > 0 ? n : 0);
	return n > 0;
}

static int peek(struct jsondoc *j)
{
	return j->at < j->end || refill(j) ? *j->at : AT_END;
}

static int take(struct jsondoc *j)
{
	int c = peek(j);

	if (c != AT_END)
		j->at++;
	j->line += c == '\n';
	return c;
}

static enum jsondoc_token bad(struct jsondoc *j, struct err *e, const char *what)
{
	j->bad = true;
	if (j->read_failed)
		err_set(e, -EIO, "it cannot be read further than line %llu",
			(unsigned long long)j->line);
	else
		err_set(e, -EINVAL, "it is not JSON: %s in line %llu", what,
			(unsigned long long)j->line);
	return JSONDOC_BAD;
}

static int skip_space(struct jsondoc *j)
{
	int c;

	while ((c = peek(j)) == ' ' || c == '\t' || c == '\n' || c == '\r')
		take(j);
	return c;
}

static void put_code(struct bytes *b, uint32_t c)
{
	if (c < 0x80) {
		bytes_u8(b, (uint8_t)c);
		return;
	}
	if (c < 0x800) {
		bytes_u8(b, (uint8_t)(0xc0 | c >> 6));
	} else {
		if (c < 0x10000) {
			bytes_u8(b, (uint8_t)(0xe0 | c >> 12));
		} else {
			bytes_u8(b, (uint8_t)(0xf0 | c >> 18));
			bytes_u8(b, (uint8_t)(0x80 | (c >> 12 & 0x3f)));
		}
		bytes_u8(b, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
	}
	bytes_u8(b, (uint8_t)(0x80 | (c & 0x3f)));
}

/* The four digits of \uXXXX; false: they are none. */
static bool take_hex(struct jsondoc *j, uint32_t *out)
{
	*out = 0;
	for (int i = 0; i < 4; i++) {
		int c = take(j);
		uint32_t digit;

		if (c >= '0' && c <= '9')
			digit = (uint32_t)(c - '0');
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			digit = (uint32_t)((c | 32) - 'a' + 10);
		else
			return false;
		*out = *out << 4 | digit;
	}
	return true;
}

static bool is_high(uint32_t c)
{
	return c >= 0xd800 && c < 0xdc00;
}

static bool is_low(uint32_t c)
{
	return c >= 0xdc00 && c < 0xe000;
}

static bool take_escape(struct jsondoc *j);

/* Behind "\u". Two halves make one character; a half by itself is none. */
static bool take_unicode(struct jsondoc *j)
{
	uint32_t c, low = 0;

	if (!take_hex(j, &c))
		return false;
	while (is_high(c)) {
		if (peek(j) != '\\')
			break;
		take(j);
		if (peek(j) != 'u') {
			put_code(&j->string, REPLACEMENT);
			return take_escape(j);
		}
		take(j);
		if (!take_hex(j, &low))
			return false;
		if (is_low(low)) {
			put_code(&j->string, 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00));
			return true;
		}
		put_code(&j->string, REPLACEMENT);
		c = low;
	}
	put_code(&j->string, c && !is_high(c) && !is_low(c) ? c : REPLACEMENT);
	return true;
}

static bool take_escape(struct jsondoc *j)
{
	static const char escapes[] = "\"\\/bfnrt", stands[] = "\"\\/\b\f\n\r\t";
	int c = take(j);
	const char *at = c > 0 ? strchr(escapes, c) : NULL;

	if (c == 'u')
		return take_unicode(j);
	if (at)
		bytes_u8(&j->string, (uint8_t)stands[at - escapes]);
	return at;
}

/* As many bytes as are in memory and stand for themselves. */
static void take_plain(struct jsondoc *j)
{
	const uint8_t *at = j->at;

	while (at < j->end && *at != '"' && *at != '\\' && *at >= ' ')
		at++;
	bytes_put(&j->string, j->at, (size_t)(at - j->at));
	j->at = at;
}

/* Behind the opening quote. NULL: it is whole; else what is wrong. */
static const char *take_string(struct jsondoc *j)
{
	size_t most = j->text_most ? j->text_most : JSONDOC_TEXT;
	int c;

	bytes_reset(&j->string);
	j->shortened = false;
	do {
		take_plain(j);
		if (j->string.len > most && !j->shortens)
			return j->text_most ? "too long a text" : "a text of more than 64 KiB";
		if (j->string.len > most) {
			j->shortened = true;
			j->string.len = most;
		}
		c = take(j);
		if (c == AT_END)
			return "a text without end";
		if (c < ' ')
			return "a control character in a text";
		if (c != '\\' && c != '"')
			bytes_u8(&j->string, (uint8_t)c);
		else if (c == '\\' && !take_escape(j))
			return "an unknown escape in a text";
	} while (c != '"');
	bytes_u8(&j->string, '\0');
	j->text = (const char *)j->string.data;
	return j->string.failed ? "a text there is no memory for" : NULL;
}

/* The digits that follow; false: there are none. */
static bool take_digits(struct jsondoc *j, char *text, size_t *n)
{
	size_t before = *n;

	while (peek(j) >= '0' && peek(j) <= '9') {
		char c = (char)take(j);

		if (*n < NUMBER_SIZE - 8)
			text[(*n)++] = c;
		else
			text[0] = '\0';
	}
	return *n > before;
}

static void take_if(struct jsondoc *j, const char *any, char *text, size_t *n)
{
	int c = peek(j);

	if (c > 0 && strchr(any, c) && *n < NUMBER_SIZE - 1)
		text[(*n)++] = (char)take(j);
}

static bool take_word(struct jsondoc *j, const char *word)
{
	for (; *word; word++)
		if (take(j) != *word)
			return false;
	return true;
}

static bool number_value(struct jsondoc *j, const char *text, bool whole)
{
	char *end;

	if (!*text)
		return false; /* it was cut */
	errno = 0;
	j->number = strtod(text, &end);
	if (*end)
		return false;
	errno = 0;
	j->integer = whole ? strtoll(text, NULL, 10) : 0;
	j->whole = whole && !errno;
	return true;
}

static enum jsondoc_token take_number(struct jsondoc *j, struct err *e)
{
	char *text = j->digits;
	bool whole = true;
	size_t n = 0, first;

	take_if(j, "-", text, &n);
	j->no_number = peek(j) == 'I';
	if (j->no_number)
		return take_word(j, "Infinity") ? JSONDOC_NULL : bad(j, e, "an unknown word");
	first = n;
	if (!take_digits(j, text, &n) || (text[first] == '0' && n > first + 1))
		return bad(j, e, "a malformed number");
	if (peek(j) == '.') {
		whole = false;
		take_if(j, ".", text, &n);
		if (!take_digits(j, text, &n))
			return bad(j, e, "a malformed number");
	}
	if (peek(j) == 'e' || peek(j) == 'E') {
		whole = false;
		take_if(j, "eE", text, &n);
		take_if(j, "+-", text, &n);
		if (!take_digits(j, text, &n))
			return bad(j, e, "a malformed number");
	}
	text[n] = '\0';
	j->text = text;
	return number_value(j, text, whole) ? JSONDOC_NUMBER
					    : bad(j, e, "a number of more than 500 digits");
}

static enum jsondoc_token begin(struct jsondoc *j, bool object, struct err *e)
{
	take(j);
	if (j->depth == JSONDOC_DEPTH)
		return bad(j, e, "more than 64 levels");
	j->is_object[j->depth++] = object;
	j->expect = object ? FIRST_KEY : FIRST_VALUE;
	return object ? JSONDOC_OBJECT : JSONDOC_ARRAY;
}

static enum jsondoc_token end(struct jsondoc *j)
{
	take(j);
	j->depth--;
	j->expect = j->depth ? COMMA : DONE;
	return j->is_object[j->depth] ? JSONDOC_OBJECT_END : JSONDOC_ARRAY_END;
}

static enum jsondoc_token word(struct jsondoc *j, int c, struct err *e)
{
	static const struct {
		const char *text;
		enum jsondoc_token token;
	} words[] = { { "true", JSONDOC_TRUE },
		      { "false", JSONDOC_FALSE },
		      { "null", JSONDOC_NULL },
		      { "NaN", JSONDOC_NULL },
		      { "Infinity", JSONDOC_NULL } };

	j->no_number = c == 'N' || c == 'I';
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (words[i].text[0] == c)
			return take_word(j, words[i].text) ? words[i].token
							   : bad(j, e, "an unknown word");
	return bad(j, e, c == AT_END ? "its end comes too soon" : "an unexpected character");
}

static enum jsondoc_token value(struct jsondoc *j, int c, struct err *e)
{
	const char *fault;

	if (c == '{' || c == '[')
		return begin(j, c == '{', e);
	j->expect = j->depth ? COMMA : DONE;
	if (c == '-' || (c >= '0' && c <= '9'))
		return take_number(j, e);
	if (c != '"')
		return word(j, c, e);
	take(j);
	fault = take_string(j);
	return fault ? bad(j, e, fault) : JSONDOC_STRING;
}

static enum jsondoc_token key(struct jsondoc *j, int c, struct err *e)
{
	const char *fault;

	if (c != '"')
		return bad(j, e, "a key is missing");
	take(j);
	fault = take_string(j);
	if (fault)
		return bad(j, e, fault);
	if (skip_space(j) != ':')
		return bad(j, e, "a colon is missing");
	take(j);
	j->expect = VALUE;
	return JSONDOC_KEY;
}

enum jsondoc_token jsondoc_next(struct jsondoc *j, struct err *e)
{
	int c = j->bad ? AT_END : skip_space(j);
	bool object = j->depth && j->is_object[j->depth - 1];

	if (j->bad)
		return JSONDOC_BAD;
	if (j->expect == DONE)
		return c == AT_END && !j->read_failed ? JSONDOC_END
						      : bad(j, e, "something behind its end");
	if (j->expect != VALUE && j->expect != NEXT_KEY && c == (object ? '}' : ']'))
		return end(j);
	if (j->expect == COMMA) {
		if (c != ',') {
			j->only_end_missing = c == AT_END && j->depth == 1 && !object;
			return bad(j, e, "a comma is missing");
		}
		take(j);
		j->expect = object ? NEXT_KEY : VALUE;
		c = skip_space(j);
	}
	if (j->expect == FIRST_KEY || j->expect == NEXT_KEY)
		return key(j, c, e);
	j->only_end_missing = c == AT_END && j->depth == 1 && !object;
	return value(j, c, e);
}

bool jsondoc_skip(struct jsondoc *j, enum jsondoc_token begun, struct err *e)
{
	unsigned depth = j->depth - (begun == JSONDOC_OBJECT || begun == JSONDOC_ARRAY);

	if (begun == JSONDOC_KEY)
		begun = jsondoc_next(j, e);
	while (begun != JSONDOC_BAD && begun != JSONDOC_END && j->depth > depth)
		begun = jsondoc_next(j, e);
	return begun != JSONDOC_BAD;
}

size_t jsondoc_left(const struct jsondoc *j)
{
	return (size_t)(j->end - j->at);
}

bool jsondoc_only_end_missing(const struct jsondoc *j)
{
	return j->bad && !j->read_failed && j->only_end_missing;
}

/* ---- one text of a document ---- */

/* Go to the value of a key of the object that begins here, or of the first one of an array. What
 * the value begins with; JSONDOC_BAD when there is none. */
static enum jsondoc_token find_key(struct jsondoc *j, enum jsondoc_token begun, const char *key,
				   size_t n)
{
	enum jsondoc_token t = begun;
	struct err e;

	while (t == JSONDOC_ARRAY)
		t = jsondoc_next(j, &e);
	if (t != JSONDOC_OBJECT)
		return JSONDOC_BAD;
	while (jsondoc_next(j, &e) == JSONDOC_KEY) {
		bool found = strlen(j->text) == n && !memcmp(j->text, key, n);

		t = jsondoc_next(j, &e);
		if (found)
			return t;
		if (!jsondoc_skip(j, t, &e))
			break;
	}
	return JSONDOC_BAD;
}

bool json_read_text(const char *document, size_t length, const char *path, char *out, size_t size)
{
	struct jsondoc j;
	enum jsondoc_token t;
	struct err e;
	bool good;

	jsondoc_open_text(&j, document, length);
	t = jsondoc_next(&j, &e);
	for (size_t n; *path && t != JSONDOC_BAD; path += n + (path[n] == '.')) {
		n = strcspn(path, ".");
		t = find_key(&j, t, path, n);
	}
	good = t == JSONDOC_STRING && strlen(j.text) < size && escape_is_utf8(j.text);
	if (good)
		memcpy(out, j.text, strlen(j.text) + 1);
	jsondoc_close(&j);
	return good;
}
