/* SPDX-License-Identifier: Apache-2.0 */
#include "job/logtail.h"

#include "core/phase/markline.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LAST_MAX = 160, PATH_MAX_TOLD = 200 };

/* The bytes at the end, from the begin of a line on where one begins there. */
static size_t read_end(char *out, int fd, off_t from)
{
	struct stat st;
	off_t at;
	ssize_t n;
	char *begin;

	if (fstat(fd, &st))
		return 0;
	at = st.st_size > LOG_TAIL_BYTES ? st.st_size - LOG_TAIL_BYTES : 0;
	if (at < from && from <= st.st_size)
		at = from;
	n = pread(fd, out, LOG_TAIL_BYTES, at);
	if (n <= 0)
		return 0;
	begin = at > from ? memchr(out, '\n', (size_t)n - 1) : NULL;
	if (begin)
		memmove(out, begin + 1, (size_t)(n -= begin + 1 - out));
	return (size_t)n;
}

static void clean(char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (((unsigned char)text[i] < ' ' && text[i] != '\n' && text[i] != '\t') ||
		    text[i] == 0x7f)
			text[i] = '?';
	while (n && strchr("\n\t ", text[n - 1]))
		n--;
	text[n] = '\0';
}

/* The last LOG_TAIL_LINES of them. */
static const char *last_lines(const char *text, unsigned *lines)
{
	const char *at = text + strlen(text);

	*lines = 1;
	while (at > text && (at[-1] != '\n' || (*lines)++ < LOG_TAIL_LINES))
		at--;
	return at;
}

static void put_word(struct bytes *out, const char *key, const char *value)
{
	char word[LOG_TAIL_BYTES + 16];

	snprintf(word, sizeof word, "%s=%s", key, value);
	bytes_u8(out, ' ');
	mark_word_write(out, word);
}

void log_tail_mark(struct bytes *out, const char *path, int fd, off_t from)
{
	char text[LOG_TAIL_BYTES + 1], name[PATH_MAX_TOLD + 1], last[LAST_MAX + 1];
	const char *lines, *end;
	unsigned n;

	clean(text, read_end(text, fd, from));
	if (!*text)
		return;
	lines = last_lines(text, &n);
	end = strrchr(lines, '\n');
	snprintf(name, sizeof name, "%s", path);
	snprintf(last, sizeof last, "%s", end ? end + 1 : lines);
	clean(name, strlen(name));
	bytes_puts(out, "M sonde.log_end");
	put_word(out, "log", name);
	put_word(out, "last", last);
	put_word(out, "text", lines);
	bytes_u8(out, '\n');
}
