/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/escape.h"

#include "base/text/width.h"

#include <stdio.h>
#include <string.h>

/* The character at s and its length, or 0 when the bytes there are not UTF-8 (overlong forms,
 * surrogates and numbers beyond U+10FFFF are not). */
static size_t decode(const char *text, uint32_t *out)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const uint8_t *s = (const uint8_t *)text;
	size_t n = s[0] < 0x80   ? 1
		   : s[0] < 0xc0 ? 0
		   : s[0] < 0xe0 ? 2
		   : s[0] < 0xf0 ? 3
		   : s[0] < 0xf8 ? 4
				 : 0;
	uint32_t c = n > 1 ? s[0] & (0x7fU >> n) : s[0];

	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80) /* the end of the text, too */
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (n > 1 && (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)))
		return 0;
	*out = c;
	return n;
}

/* C0, DEL, C1, line separators, and what turns the direction of the text around it. */
static bool is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

/* One character of n bytes (0: no UTF-8) as the terminal may have it. */
static void terminal_escaped(const char *text, size_t n, uint32_t c, char piece[ESCAPE_PIECE])
{
	if (c == '\n' || c == '\t' || c == '\r')
		snprintf(piece, ESCAPE_PIECE, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
	else if (n > 1)
		snprintf(piece, ESCAPE_PIECE, c > 0xffff ? "\\U%08x" : "\\u%04x", c);
	else
		snprintf(piece, ESCAPE_PIECE, "\\x%02x", (unsigned)(uint8_t)*text);
}

/* One character for the terminal into piece; returns the bytes read. */
static size_t terminal_piece(const char *text, char piece[ESCAPE_PIECE])
{
	uint32_t c = 0;
	size_t n = decode(text, &c);

	if (n && !is_control(c))
		snprintf(piece, ESCAPE_PIECE, "%.*s", (int)n, text);
	else
		terminal_escaped(text, n, c, piece);
	return n ? n : 1;
}

size_t escape_terminal_cell(const char *text, char piece[ESCAPE_PIECE], unsigned *columns)
{
	uint32_t c = 0;
	size_t n = decode(text, &c);

	*columns = n && !is_control(c) ? width_of(c) : 0;
	if (*columns)
		return terminal_piece(text, piece);
	terminal_escaped(text, n, c, piece);
	*columns = (unsigned)strlen(piece);
	return n ? n : 1;
}

void escape_terminal(struct bytes *b, const char *text)
{
	char piece[ESCAPE_PIECE];

	while (*text) {
		text += terminal_piece(text, piece);
		bytes_puts(b, piece);
	}
}

const char *escape_terminal_into(char *out, size_t size, const char *text)
{
	char piece[ESCAPE_PIECE];
	size_t len = 0, cut = 0;

	if (!size)
		return out;
	while (*text) {
		size_t n;

		text += terminal_piece(text, piece);
		n = strlen(piece);
		if (len + n >= size) {
			snprintf(out + cut, size - cut, "...");
			return out;
		}
		memcpy(out + len, piece, n);
		len += n;
		if (len + 3 < size)
			cut = len;
	}
	out[len] = '\0';
	return out;
}

static void json_character(struct bytes *b, const char *text, size_t n, uint32_t c)
{
	static const char names[] = "\b\f\n\r\t\"\\", letters[] = "bfnrt\"\\";
	const char *named = c < 0x80 ? strchr(names, (int)c) : NULL;

	if (named)
		bytes_put(b, (const char[]){ '\\', letters[named - names] }, 2);
	else if (is_control(c) || c == '<' || c == '>' || c == '&')
		bytes_printf(b, "\\u%04x", c);
	else
		bytes_put(b, text, n);
}

/* How many characters stand for themselves: most texts are nothing else. */
static size_t plain_in_json(const char *text)
{
	size_t n = 0;

	while (text[n] >= ' ' && text[n] < 0x7f && text[n] != '"' && text[n] != '\\' &&
	       text[n] != '<' && text[n] != '>' && text[n] != '&')
		n++;
	return n;
}

void escape_json(struct bytes *b, const char *text)
{
	while (*text) {
		size_t n = plain_in_json(text);
		uint32_t c;

		bytes_put(b, text, n);
		text += n;
		if (!*text)
			break;
		n = decode(text, &c);
		if (n)
			json_character(b, text, n, c);
		else
			bytes_puts(b, replacement);
		text += n ? n : 1;
	}
}

static const char *html_entity(uint32_t c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

static bool is_blank(uint32_t c)
{
	return c == '\t' || c == '\n' || c == '\r';
}

void escape_html(struct bytes *b, const char *text)
{
	while (*text) {
		uint32_t c;
		size_t n = decode(text, &c);
		const char *entity = n ? html_entity(c) : NULL;

		if (entity)
			bytes_puts(b, entity);
		else if (!n || (is_control(c) && !is_blank(c)))
			bytes_puts(b, replacement);
		else
			bytes_put(b, text, n);
		text += n ? n : 1;
	}
}

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Of a mark in the middle of a word, and of a point, only what makes emphasis or a link. */
static bool is_markdown(const char *text, const char *at)
{
	switch (*at) {
	case '_':
		return at == text || !is_word(at[-1]) || !is_word(at[1]);
	case ':':
		return at[1] == '/';
	case '.':
		return at > text && (at[-1] == 'w' || at[-1] == 'W');
	default:
		return strchr("\\`*[]|~#@$", *at) != NULL;
	}
}

void escape_markdown(struct bytes *b, const char *text)
{
	for (const char *at = text; *at;) {
		uint32_t c;
		size_t n = decode(at, &c);
		const char *entity = n ? html_entity(c) : NULL;

		if (entity)
			bytes_puts(b, entity);
		else if (!n || is_control(c))
			bytes_puts(b, replacement);
		else if (c < 0x80 && is_markdown(text, at))
			bytes_printf(b, "&#%u;", c);
		else
			bytes_put(b, at, n);
		at += n ? n : 1;
	}
}

/* Full-width = + - @ are formulas to some spreadsheets. */
static bool starts_formula(const char *text)
{
	return (*text && strchr("=+-@\t\r\n", *text)) || !strncmp(text, "\xef\xbc\x9d", 3) ||
	       !strncmp(text, "\xef\xbc\x8b", 3) || !strncmp(text, "\xef\xbc\x8d", 3) ||
	       !strncmp(text, "\xef\xbc\xa0", 3);
}

/* As plain_in_json. */
static size_t plain_in_csv(const char *text)
{
	size_t n = 0;

	while (text[n] >= ' ' && text[n] < 0x7f && text[n] != '"' && text[n] != ',')
		n++;
	return n;
}

void escape_csv(struct bytes *b, const char *text)
{
	size_t plain = plain_in_csv(text);
	bool quoted;

	if (!text[plain] && !starts_formula(text)) {
		bytes_put(b, text, plain);
		return;
	}
	quoted = text[plain + strcspn(text + plain, "\",\r\n")] != '\0';
	if (quoted)
		bytes_u8(b, '"');
	if (starts_formula(text))
		bytes_u8(b, '\'');
	while (*text) {
		uint32_t c;
		size_t n = decode(text, &c);

		if (!n || (is_control(c) && !is_blank(c)))
			bytes_puts(b, replacement);
		else if (c == '"')
			bytes_puts(b, "\"\"");
		else
			bytes_put(b, text, n);
		text += n ? n : 1;
	}
	if (quoted)
		bytes_u8(b, '"');
}

void escape_openmetrics(struct bytes *b, const char *text)
{
	while (*text) {
		uint32_t c = 0;
		size_t n = decode(text, &c);

		if (c == '\n')
			bytes_puts(b, "\\n");
		else if (!n || is_control(c))
			bytes_puts(b, replacement);
		else if (c == '"' || c == '\\')
			bytes_put(b, (const char[]){ '\\', (char)c }, 2);
		else
			bytes_put(b, text, n);
		text += n ? n : 1;
	}
}

void escape_utf8(struct bytes *b, const char *text)
{
	while (*text) {
		uint32_t c;
		size_t n = decode(text, &c);

		if (n)
			bytes_put(b, text, n);
		else
			bytes_puts(b, replacement);
		text += n ? n : 1;
	}
}

bool escape_is_utf8(const char *text)
{
	while (*text) {
		uint32_t c;
		size_t n = decode(text, &c);

		if (!n)
			return false;
		text += n;
	}
	return true;
}

void escape_shell(struct bytes *b, const char *text)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+:,./-";

	if (*text && !text[strspn(text, plain)]) {
		bytes_puts(b, text);
		return;
	}
	bytes_u8(b, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			bytes_puts(b, "'\\''");
		else
			bytes_u8(b, (uint8_t)*text);
	}
	bytes_u8(b, '\'');
}
