/* SPDX-License-Identifier: Apache-2.0 */
#include "base/entries.h"

#include "base/bytes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { PIECES = 64 };

/* Where a line of the entry that is being read came from. */
struct piece {
	size_t at; /* in the entry */
	unsigned line, column;
};

struct entries {
	const char *file;
	entry_taker *take;
	void *ctx;
	struct bytes text; /* the "key: value" being read, its lines joined */
	struct piece piece[PIECES];
	size_t npieces;
};

int entries_fault(const char *file, unsigned line, unsigned column, struct err *e,
		  const char *format, ...)
{
	char why[400];
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, sizeof why, format, ap);
	va_end(ap);
	return err_set(e, -EINVAL, "%.100s:%u:%u: %s", file, line, column, why);
}

int entry_fault(const struct entry *entry, size_t at, const char *why, struct err *e)
{
	const struct entries *r = entry->of;
	const struct piece *piece = r->piece;

	at += (size_t)(entry->value - entry->key);
	for (size_t i = 1; i < r->npieces && r->piece[i].at <= at; i++)
		piece = &r->piece[i];
	return entries_fault(r->file, piece->line, piece->column + (unsigned)(at - piece->at), e,
			     "%s: %.300s", entry->key, why);
}

int entry_of_block(const struct entry *entry, int key, bool begun, unsigned *seen,
		   const char *manual, struct err *e)
{
	const char *file = entry->of->file;

	if (key < 0)
		return entries_fault(file, entry->line, 1, e, "'%.60s' is not a key; see %s",
				     entry->key, manual);
	if (!*entry->value)
		return entries_fault(file, entry->line, 1, e, "'%s:' is empty", entry->key);
	if (!begun)
		return entries_fault(file, entry->line, 1, e,
				     "'%s:' stands before the first 'rule:'", entry->key);
	if (*seen & 1u << key)
		return entries_fault(file, entry->line, 1, e, "'%s:' is given twice", entry->key);
	*seen |= 1u << key;
	return 0;
}

int entry_choice(void *to, const char *const *words, const char *value, struct err *e)
{
	char list[120] = "";

	for (unsigned i = 0; words[i]; i++) {
		size_t n = strlen(list);

		if (strcmp(value, words[i]) == 0) {
			memcpy(to, &i, sizeof i);
			return 0;
		}
		snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", words[i]);
	}
	return err_set(e, -EINVAL, "it is one of %s, not '%.60s'", list, value);
}

/* The entry read so far is whole. */
static int finish(struct entries *r, struct err *e)
{
	struct entry entry = { .line = r->piece[0].line, .of = r };
	int rc;

	if (!r->text.len)
		return 0;
	bytes_u8(&r->text, 0);
	if (r->text.failed)
		return -ENOMEM;
	entry.key = (char *)r->text.data;
	entry.value = strchr(entry.key, ':');
	if (!entry.value)
		return entries_fault(r->file, entry.line, 1, e, "'%.60s' is not 'key: value'",
				     entry.key);
	*entry.value++ = '\0';
	entry.value += strspn(entry.value, " \t");
	rc = r->take(r->ctx, &entry, e);
	bytes_reset(&r->text);
	r->npieces = 0;
	return rc;
}

/* A line that is neither empty nor a comment. */
static int take_line(struct entries *r, unsigned line, const char *from, const char *stop,
		     struct err *e)
{
	const char *begin = from;
	int rc;

	if (*from == ' ' || *from == '\t') {
		if (!r->text.len)
			return entries_fault(r->file, line, 1, e,
					     "an indented line continues nothing");
		while (*from == ' ' || *from == '\t')
			from++;
		bytes_u8(&r->text, ' ');
	} else {
		rc = finish(r, e);
		if (rc)
			return rc;
	}
	if (r->npieces == PIECES)
		return entries_fault(r->file, line, 1, e, "a value has at most %d lines", PIECES);
	r->piece[r->npieces++] = (struct piece){ r->text.len, line, (unsigned)(from - begin) + 1 };
	bytes_put(&r->text, from, (size_t)(stop - from));
	return 0;
}

int entries_read(const char *file, const char *text, size_t len, entry_taker *take, void *ctx,
		 struct err *e)
{
	static const char mark[] = "\xef\xbb\xbf"; /* that some editors put before UTF-8 */
	struct entries r = { .file = file, .take = take, .ctx = ctx };
	const char *at = text, *end = text + len;
	int rc = 0;

	if (len >= sizeof mark - 1 && !memcmp(text, mark, sizeof mark - 1))
		at += sizeof mark - 1;
	for (unsigned line = 1; len && at < end && !rc; line++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *from = at, *stop = newline ? newline : end;

		at = newline ? newline + 1 : end;
		while (stop > from && strchr(" \t\r", stop[-1]))
			stop--;
		if (from < stop && *from != '#')
			rc = take_line(&r, line, from, stop, e);
	}
	if (!rc)
		rc = finish(&r, e);
	bytes_free(&r.text);
	return rc;
}
