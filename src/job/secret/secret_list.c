/* SPDX-License-Identifier: Apache-2.0 */
#include "job/secret/secret_list.h"

#include "base/bytes.h"
#include "base/text/textfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *word;
	enum secret_kind kind;
} kinds[] = {
	{ "name", SECRET_NAME },           { "word", SECRET_WORD },
	{ "maybe", SECRET_MAYBE },         { "variable", SECRET_VARIABLE },
	{ "beginning", SECRET_BEGINNING }, { "ending", SECRET_ENDING },
	{ "whole", SECRET_WHOLE },         { "harmless", SECRET_HARMLESS },
	{ "token", SECRET_TOKEN },         { "about", SECRET_ABOUT },
	{ "plain", SECRET_PLAIN },
};

/* The next word of a line that ends at end; its length, 0: none. */
static size_t next_word(const char **at, const char *end)
{
	const char *p = *at;

	while (p < end && (*p == ' ' || *p == '\t' || *p == '\r'))
		p++;
	*at = p;
	while (p < end && *p != ' ' && *p != '\t' && *p != '\r')
		p++;
	return (size_t)(p - *at);
}

static enum secret_kind kind_of(const char *word, size_t n)
{
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (strlen(kinds[i].word) == n && !memcmp(kinds[i].word, word, n))
			return kinds[i].kind;
	return 0;
}

/* How long a token is at least; 0: this says no number from 8 to 999. */
static uint32_t least_of(const char *word, size_t n)
{
	uint32_t v = 0;

	for (size_t i = 0; i < n; i++) {
		if (word[i] < '0' || word[i] > '9' || i == 3)
			return 0;
		v = v * 10 + (uint32_t)(word[i] - '0');
	}
	return v < 8 ? 0 : v;
}

/* What is wrong with the line, or NULL. */
static const char *take_line(struct secret_list *l, const char *at, const char *end)
{
	struct secret_row row = { 0 };
	size_t n = next_word(&at, end);

	if (!n || *at == '#')
		return NULL;
	row.kind = kind_of(at, n);
	if (!row.kind)
		return "it begins with name, word, maybe, variable, beginning, ending, whole, "
		       "harmless, about, plain or token";
	at += n;
	row.n = next_word(&at, end);
	if (row.n < 2 || row.n >= sizeof row.text)
		return "the text has 2 to 63 characters";
	for (size_t i = 0; i < row.n; i++)
		if (at[i] <= ' ' || at[i] > '~')
			return "the text is of letters, digits and signs";
	memcpy(row.text, at, row.n);
	at += row.n;
	n = next_word(&at, end);
	row.least = row.kind == SECRET_TOKEN ? least_of(at, n) : 0;
	if (row.kind == SECRET_TOKEN && !row.least)
		return "behind a token's beginning is how long it is at least, 8 to 999";
	at += row.kind == SECRET_TOKEN ? n : 0;
	if (next_word(&at, end) && *at != '#')
		return "there is more than a kind and a text";
	if (l->n == SECRET_LIST_ROWS)
		return "there are more than 256";
	l->row[l->n++] = row;
	return NULL;
}

int secret_list_parse(struct secret_list *l, const char *file, const char *text, size_t n,
		      struct err *e)
{
	const char *at = text, *end = text + n;

	for (unsigned line = 1; at < end; line++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *wrong = take_line(l, at, newline ? newline : end);

		if (wrong) {
			l->all = true;
			return err_set(e, -EINVAL, "%.300s: line %u: %s", file, line, wrong);
		}
		at = newline ? newline + 1 : end;
	}
	return 0;
}

int secret_list_read(struct secret_list *l, const char *file, struct err *e)
{
	struct bytes text = { 0 };
	int rc = textfile_read(file, "list of secrets", SECRET_LIST_BYTES, &text, e);

	if (!rc)
		rc = secret_list_parse(l, file, (const char *)text.data, text.len, e);
	l->all |= rc != 0;
	bytes_free(&text);
	return rc;
}
