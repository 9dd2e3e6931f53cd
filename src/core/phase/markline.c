/* SPDX-License-Identifier: Apache-2.0 */
#include "core/phase/markline.h"

#include "base/text/number.h"

#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static char escaped(char c)
{
	return c == 'n' ? '\n' : c == 't' ? '\t' : c;
}

bool mark_word_read(const char **p, char *out, size_t size)
{
	const char *at = number_skip_blanks(*p);
	bool quoted = false, any = *at != '\0';
	size_t n = 0;

	for (; *at && (quoted || !is_blank(*at)); at++) {
		char c = *at;

		if (c == '"') {
			quoted = !quoted;
			continue;
		}
		if (quoted && c == '\\' && at[1])
			c = escaped(*++at);
		if (n + 1 < size)
			out[n] = c;
		n++;
	}
	*p = at;
	if (n < size)
		out[n] = '\0';
	return any && n < size;
}

void mark_word_write(struct bytes *b, const char *word)
{
	if (*word && !word[strcspn(word, " \t\n\"\\")]) {
		bytes_puts(b, word);
		return;
	}
	bytes_u8(b, '"');
	for (; *word; word++) {
		if (strchr("\"\\\n\t", *word))
			bytes_u8(b, '\\');
		bytes_u8(b, (uint8_t)(*word == '\n' ? 'n' : *word == '\t' ? 't' : *word));
	}
	bytes_u8(b, '"');
}

bool mark_text_find(const char *text, const char *key, char *out, size_t size)
{
	size_t n = strlen(key);
	char word[MARK_LINE_MAX];

	while (*number_skip_blanks(text))
		if (mark_word_read(&text, word, sizeof word) && !strncmp(word, key, n) &&
		    word[n] == '=' && strlen(word + n + 1) < size) {
			memcpy(out, word + n + 1, strlen(word + n + 1) + 1);
			return true;
		}
	return false;
}

static bool take(const char **p, char c)
{
	bool there = **p == c;

	*p += there;
	return there;
}

/* "@MONOTONIC,UTC,BYTES " */
static bool read_times(struct mark_line *out, const char **p, const char *end)
{
	uint64_t mono, utc, rest;

	out->timed = take(p, '@');
	if (!out->timed)
		return true;
	if (!number_u64(p, &mono) || !take(p, ',') || !number_u64(p, &utc) || !take(p, ',') ||
	    !number_u64(p, &rest) || mono > INT64_MAX || utc > INT64_MAX || **p != ' ')
		return false;
	out->mono_ns = (int64_t)mono;
	out->utc_ns = (int64_t)utc;
	return rest == (uint64_t)(end - *p - 1);
}

bool mark_line_parse(struct mark_line *out, const char *line, size_t n)
{
	const char *p = line;

	*out = (struct mark_line){ .kind = (enum mark_kind) * line, .text = "" };
	if (!n || n > MARK_LINE_MAX || strlen(line) != n || !strchr("MBE", *p))
		return false;
	p++;
	if (!read_times(out, &p, line + n) || !is_blank(*p) ||
	    !mark_word_read(&p, out->name, sizeof out->name) || !*out->name)
		return false;
	out->text = number_skip_blanks(p);
	return true;
}

void mark_line_write(struct bytes *b, const struct mark_line *m)
{
	struct bytes rest = { 0 };

	mark_word_write(&rest, m->name);
	if (*m->text)
		bytes_printf(&rest, " %s", m->text);
	bytes_u8(b, (uint8_t)m->kind);
	if (m->timed)
		bytes_printf(b, "@%lld,%lld,%zu", (long long)m->mono_ns, (long long)m->utc_ns,
			     rest.len);
	bytes_u8(b, ' ');
	bytes_put(b, rest.data, rest.len);
	bytes_u8(b, '\n');
	b->failed |= rest.failed;
	bytes_free(&rest);
}
