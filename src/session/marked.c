/* SPDX-License-Identifier: Apache-2.0 */
#include "session/marked.h"

#include "base/clock.h"
#include "console/command.h"
#include "job/marklog.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void marked_word(struct bytes *text, const char *key, const char *value)
{
	struct bytes word = { 0 };

	bytes_printf(&word, "%s=%s", key, value);
	bytes_u8(&word, '\0');
	if (text->len)
		bytes_u8(text, ' ');
	if (!word.failed)
		mark_word_write(text, (const char *)word.data);
	text->failed |= word.failed;
	bytes_free(&word);
}

bool marked_words(struct bytes *text, const char *verb, int n, char **words)
{
	if (!n || !*words[0]) {
		say("%s: a name is missing: sonde %s NAME [KEY=VALUE ...]", verb, verb);
		return false;
	}
	if (strlen(words[0]) >= MARK_NAME_MAX) {
		say("%s: a name has at most %d bytes", verb, MARK_NAME_MAX - 1);
		return false;
	}
	for (int i = 1; i < n; i++) {
		const char *is = strchr(words[i], '=');

		if (!is || is == words[i]) {
			say("%s: '%s' is not KEY=VALUE; a name with blanks is one word in quotes",
			    verb, words[i]);
			return false;
		}
		if (text->len)
			bytes_u8(text, ' ');
		mark_word_write(text, words[i]);
	}
	return true;
}

/* Where the lines go; -1: nobody wants them. Never waits for who might read. */
static int open_file(const char *verb)
{
	const char *path = getenv(MARK_FILE_VARIABLE);
	struct stat st;
	int fd;

	if (!path || !*path)
		return -1;
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
	if (fd < 0 && errno != ENOENT)
		say("%s: cannot write into %s: %s; nothing is recorded", verb, path,
		    strerror(errno));
	if (fd < 0 || (!fstat(fd, &st) && S_ISREG(st.st_mode)))
		return fd;
	close(fd);
	return -1;
}

/* At once, so that lines of several writers stay whole. A limit on the size of files, which may be
 * that of standard error, too, is no reason to die. */
static void append(int fd, const char *verb, const struct bytes *line)
{
	void (*old)(int) = signal(SIGXFSZ, SIG_IGN);

	if (write(fd, line->data, line->len) != (ssize_t)line->len)
		say("%s: cannot write the whole mark: %s; it is not recorded", verb,
		    strerror(errno));
	signal(SIGXFSZ, old);
}

static int write_line(enum mark_kind kind, const char *verb, const char *name, struct bytes *text,
		      int64_t mono_ns, int64_t utc_ns)
{
	struct mark_line l = {
		.kind = kind, .timed = true, .mono_ns = mono_ns, .utc_ns = utc_ns, .text = ""
	};
	struct bytes line = { 0 };
	int code = EXIT_OK, fd = -1;

	bytes_u8(text, '\0');
	memcpy(l.name, name, strlen(name) + 1);
	if (!text->failed)
		l.text = (const char *)text->data;
	mark_line_write(&line, &l);
	if (text->failed || line.failed) {
		say("%s: out of memory; nothing is recorded", verb);
	} else if (line.len > MARK_LINE_MAX) {
		say("%s: that is %zu bytes long, and a mark has at most %d", verb, line.len,
		    MARK_LINE_MAX);
		code = EXIT_USAGE;
	} else {
		fd = open_file(verb);
	}
	if (fd >= 0) {
		append(fd, verb, &line);
		close(fd);
	}
	bytes_free(&line);
	bytes_free(text);
	return code;
}

int marked_write(enum mark_kind kind, const char *verb, const char *name, struct bytes *text)
{
	return write_line(kind, verb, name, text, clock_mono_ns(), clock_utc_ns());
}

int marked_write_at(enum mark_kind kind, const char *verb, const char *name, struct bytes *text,
		    int64_t utc_ns)
{
	int64_t mono_ns = clock_mono_ns() - (clock_utc_ns() - utc_ns);

	if (mono_ns >= 0)
		return write_line(kind, verb, name, text, mono_ns, utc_ns);
	say("%s: that was before this machine was started; it is not recorded", verb);
	bytes_free(text);
	return EXIT_OK;
}
