/* SPDX-License-Identifier: Apache-2.0 */
#include "job/lastlines.h"

#include "base/text/escape.h"
#include "job/secret/secret.h"

#include <stdio.h>
#include <string.h>

enum { ESCAPE = 0x1b, BELL = 7, UTF8_MOST = 3 * ERROR_TEXT_BYTES, MASKED_MOST = 32 * 1024 };

/* Bytes of the escape sequence that begins here (ECMA-48): a control sequence, a string up to its
 * end, or one character behind ESC. */
static size_t escape_length(const char *at, const char *end)
{
	const char *p = at + 1;

	if (p < end && *p == '[') {
		for (p++; p < end && (unsigned char)*p >= 0x20 && (unsigned char)*p < 0x40; p++)
			;
	} else if (p < end && *p && strchr("]PX^_", *p)) {
		while (p < end && *p != BELL && *p != '\n' && !(*p == ESCAPE && p != at))
			p++;
		p += p < end && *p == ESCAPE && p + 1 < end && p[1] == '\\';
	}
	return (size_t)(p - at) + (p < end && *p != '\n');
}

/* C1, as UTF-8 has them, too: terminals take them for escape sequences. */
static bool is_control(const char *at, const char *end)
{
	unsigned char c = (unsigned char)*at;

	return (c < ' ' && c != '\n' && c != '\t') || c == 0x7f ||
	       (c == 0xc2 && at + 1 < end && (unsigned char)at[1] >= 0x80 &&
		(unsigned char)at[1] < 0xa0);
}

/* What a terminal would show: a carriage return begins its line anew. out has room for n + 1. */
static void strip(const char *text, size_t n, char *out)
{
	const char *at = text, *end = text + n;
	size_t to = 0, line = 0;

	while (at < end) {
		size_t skip = 0;

		if (*at == ESCAPE)
			skip = escape_length(at, end);
		else if (is_control(at, end))
			skip = (unsigned char)*at == 0xc2 ? 2 : 1;
		if (*at == '\r' && at + 1 < end && at[1] != '\n' && at[1] != '\r')
			to = line;
		if (!skip)
			out[to++] = *at;
		if (*at == '\n')
			line = to;
		at += skip ? skip : 1;
	}
	out[to] = '\0';
}

/* Of what begins within a line the first whole one. */
static const char *first_whole_line(const struct printed *p)
{
	const char *newline = memchr(p->text, '\n', p->n);

	return !p->is_cut ? p->text : newline ? newline + 1 : NULL;
}

/* The last lines that are not empty at the end, and no more bytes than are kept. */
static char *last_lines(char *text)
{
	size_t n = strlen(text), lines = 1;
	char *at;

	while (n && strchr("\n\t ", text[n - 1]))
		n--;
	text[n] = '\0';
	for (at = text + n; at > text; at--)
		if (at[-1] == '\n' && lines++ == ERROR_TEXT_LINES)
			break;
	if (text + n - at <= ERROR_TEXT_BYTES)
		return at;
	at = strchr(text + n - ERROR_TEXT_BYTES, '\n');
	return at ? at + 1 : text + n;
}

/* A key may have been cut off at its begin. */
static bool is_end_of_key(const char *text)
{
	return strstr(text, "-----END ") && !strstr(text, "-----BEGIN ");
}

/* In `masked`, without secrets; NULL: there is not one whole line. */
static char *clean(const struct printed *p, const struct secret_list *l, struct bytes *masked)
{
	const char *from = first_whole_line(p);
	char plain[ERROR_TEXT_BYTES + 1];
	uint8_t valid[UTF8_MOST + 1];
	struct bytes utf8 = { .data = valid, .cap = sizeof valid, .fixed = true };

	_Static_assert((int)ERROR_TEXT_BYTES == (int)MESSAGE_PRINTED_BYTES, "room for all of it");
	if (!from)
		return NULL;
	strip(from, (size_t)(p->text + p->n - from), plain);
	escape_utf8(&utf8, plain);
	bytes_u8(&utf8, '\0');
	if (utf8.failed)
		return NULL;
	if (is_end_of_key((const char *)valid))
		bytes_puts(masked, SECRET_MASK);
	else
		secret_text(l, masked, (const char *)valid);
	bytes_u8(masked, '\0');
	return masked->failed ? NULL : last_lines((char *)masked->data);
}

static void say(struct sample *s, uint32_t instance, const char *key, const char *text)
{
	if (instance)
		sample_label(s, instance, key + strlen("job."), text);
	else
		sample_meta_text(s, key, text);
}

void error_text_say(struct sample *s, uint32_t instance, const struct secret_list *l,
		    const struct printed *p)
{
	uint8_t room[MASKED_MOST];
	struct bytes masked = { .data = room, .cap = sizeof room, .fixed = true };
	const char *text = *p->absent ? "" : clean(p, l, &masked);
	const char *absent = *p->absent ? p->absent
			     : !text    ? "its last line is longer than 4096 bytes"
			     : !*text   ? "nothing was printed"
					: NULL;

	if (absent) {
		say(s, instance, "job.error_text_absent", absent);
		return;
	}
	say(s, instance, "job.error_text", text);
	if (p->is_output)
		say(s, instance, "job.error_text_from", "standard output");
}
