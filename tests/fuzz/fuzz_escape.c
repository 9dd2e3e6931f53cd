/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/escape.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* jansson's own judgement: only valid UTF-8 becomes a JSON string. */
static bool is_utf8(const char *text)
{
	json_t *value = json_string(text);

	json_decref(value);
	return value != NULL;
}

static const char *made(struct bytes *b, void (*escape)(struct bytes *, const char *),
			const char *text)
{
	bytes_reset(b);
	escape(b, text);
	bytes_u8(b, '\0');
	require(!b->failed && strlen((const char *)b->data) + 1 == b->len);
	return (const char *)b->data;
}

/* No C0 (but those in `allowed`), no DEL, no C1, no override of direction. */
static void check_quiet(const char *text, const char *allowed)
{
	for (const char *p = text; *p; p++) {
		unsigned char c = (unsigned char)*p, next = (unsigned char)p[1];

		require(c >= 0x20 || strchr(allowed, c));
		require(c != 0x7f);
		require(c != 0xc2 || next >= 0xa0);
		require(strncmp(p, "\xe2\x80\xae", 3) && strncmp(p, "\xe2\x81\xa6", 3));
	}
	require(is_utf8(text));
}

static void check_terminal(const char *text, size_t size)
{
	struct bytes b = { 0 };
	const char *whole = made(&b, escape_terminal, text);
	size_t room = size % 32 + 1;
	char *cut = malloc(room);

	require(cut != NULL);
	check_quiet(whole, "");
	check_quiet(escape_terminal_into(cut, room, text), "");
	require(strlen(cut) < room);
	if (strlen(whole) < room)
		require(!strcmp(cut, whole));
	free(cut);
	bytes_free(&b);
}

/* What jansson reads back from escape_json is the text, when the text was UTF-8. */
static void check_json(const char *text)
{
	struct bytes b = { 0 }, quoted = { 0 };
	const char *inside = made(&b, escape_json, text);
	json_t *value;

	check_quiet(inside, "");
	require(!strpbrk(inside, "<>&"));
	bytes_printf(&quoted, "\"%s\"", inside);
	value = json_loadb((const char *)quoted.data, quoted.len, JSON_DECODE_ANY, NULL);
	require(value != NULL);
	if (is_utf8(text))
		require(!strcmp(json_string_value(value), text));
	json_decref(value);
	bytes_free(&quoted);
	bytes_free(&b);
}

static void check_csv(const char *text)
{
	struct bytes b = { 0 };
	const char *field = made(&b, escape_csv, text);
	bool quoted = *field == '"';
	size_t len = strlen(field);

	check_quiet(field, "\t\r\n");
	require(!strchr("=+-@\t\r\n", *(field + quoted)) || !*field);
	if (!quoted) {
		require(!strpbrk(field, "\",\r\n"));
	} else {
		require(len > 1 && field[len - 1] == '"');
		for (size_t i = 1; i + 1 < len; i++)
			if (field[i] == '"')
				require(i + 2 < len && field[++i] == '"');
	}
	bytes_free(&b);
}

static void check_html(const char *text)
{
	struct bytes b = { 0 };
	const char *page = made(&b, escape_html, text);

	check_quiet(page, "\t\r\n");
	require(!strpbrk(page, "<>\"'"));
	bytes_free(&b);
}

static void check_markdown(const char *text)
{
	struct bytes b = { 0 };
	const char *page = made(&b, escape_markdown, text);

	check_quiet(page, "");
	require(!strpbrk(page, "<>\"'\\`*[]|~@$"));
	require(!strstr(page, "://"));
	bytes_free(&b);
}

/* Read as a shell reads it: the word is the text again. */
static void check_shell(const char *text)
{
	struct bytes b = { 0 };
	const char *word = made(&b, escape_shell, text);
	bool inside = false;
	size_t at = 0, len = strlen(text);

	for (; *word; word++) {
		if (*word == '\'') {
			inside = !inside;
			continue;
		}
		if (!inside && *word == '\\')
			word++;
		else
			require(inside || !strchr(" \t\n$`\"\\;&|<>()*?[]#~=!{}", *word));
		require(at < len && text[at++] == *word);
	}
	require(!inside && at == len);
	bytes_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	require(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	check_terminal(text, size);
	check_json(text);
	check_csv(text);
	check_html(text);
	check_markdown(text);
	check_shell(text);
	free(text);
	return 0;
}
