/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/textfile.h"

#include "base/bytes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 16384 };

/* Until the end; a file may grow meanwhile, and those of /proc have no size. */
static int read_all(int fd, size_t most, struct bytes *out)
{
	size_t begin = out->len;
	ssize_t got = 1;

	while (got && out->len - begin <= most) {
		if (!bytes_room(out, CHUNK))
			return -ENOMEM;
		got = read(fd, out->data + out->len, CHUNK);
		if (got < 0 && errno != EINTR)
			return -errno;
		out->len += got > 0 ? (size_t)got : 0;
	}
	return out->len - begin > most ? -EFBIG : 0;
}

int textfile_read(const char *path, const char *what, size_t most, struct bytes *out, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), bad;
	struct stat st;

	if (fd < 0)
		return err_set(e, -errno, "cannot open the %s %.300s: %s", what, path,
			       strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return err_set(e, -EINVAL, "the %s %.300s is not a regular file", what, path);
	}
	bad = read_all(fd, most, out);
	close(fd);
	if (bad == -EFBIG)
		return err_set(e, bad, "the %s %.300s has more than %zu bytes", what, path, most);
	return bad ? err_set(e, bad, "cannot read the %s %.300s: %s", what, path, strerror(-bad))
		   : 0;
}

/* ---- all of a directory ---- */

static int read_file(const struct textfiles *t, const char *path, struct err *e)
{
	struct bytes text = { 0 };
	char what[64];
	int rc;

	snprintf(what, sizeof what, "%s file", t->what);
	rc = textfile_read(path, what, t->most, &text, e);
	if (!rc)
		rc = t->take(t->ctx, path, (const char *)text.data, text.len, e);
	bytes_free(&text);
	return rc;
}

static bool is_named(const struct textfiles *t, const char *name)
{
	size_t n = strlen(name), ending = strlen(t->ending);

	return name[0] != '.' && n > ending && !strcmp(name + n - ending, t->ending);
}

static int read_entry(const struct textfiles *t, const char *directory, const char *name,
		      struct err *e)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path)
		return err_set(e, -ENAMETOOLONG, "%.300s: this path is too long", directory);
	return read_file(t, path, e);
}

/* Whatever the locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int read_directory(const struct textfiles *t, const char *path, struct err *e)
{
	struct dirent **entry;
	int n = scandir(path, &entry, NULL, by_name), rc = 0;
	bool any = false;

	if (n < 0)
		return err_set(e, -errno, "cannot read the %s directory %.300s: %s", t->what, path,
			       strerror(errno));
	for (int i = 0; i < n; i++) {
		if (!rc && is_named(t, entry[i]->d_name)) {
			any = true;
			rc = read_entry(t, path, entry[i]->d_name, e);
		}
		free(entry[i]);
	}
	free(entry);
	if (!rc && !any)
		rc = err_set(e, -ENOENT,
			     "the directory %.300s holds no file named *%s; name the one that "
			     "does, or a file",
			     path, t->ending);
	return rc;
}

int textfiles_read(const struct textfiles *t, const char *path, struct err *e)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? read_directory(t, path, e)
							   : read_file(t, path, e);
}

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

	if (len > ENTRIES_BYTES_MAX || (len && memchr(text, '\0', len)))
		return err_set(e, -EINVAL, "%.200s: this is not text of at most %d bytes", file,
			       ENTRIES_BYTES_MAX);
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
