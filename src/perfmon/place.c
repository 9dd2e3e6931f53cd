/* SPDX-License-Identifier: Apache-2.0 */
#include "perfmon/place.h"

#include "base/bytes.h"
#include "base/text/escape.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The variable at *p, "$NAME" or "${NAME}"; *p moves behind it. As a shell, but that one that is
 * not set is left as it is written, so that the sentence about the directory shows it. */
static void put_variable(struct bytes *b, const char **p)
{
	const char *start = *p, *name = start + 1 + (start[1] == '{'), *end = name;
	char key[256];
	const char *value = NULL;

	while (isalnum((unsigned char)*end) || *end == '_')
		end++;
	snprintf(key, sizeof key, "%.*s", (int)(end - name), name);
	if (end > name && (start[1] != '{' || *end == '}'))
		value = getenv(key);
	*p = !value ? start + 1 : end + (start[1] == '{');
	if (value)
		bytes_puts(b, value);
	else
		bytes_u8(b, '$');
}

static void put_expanded(struct bytes *b, const char *text)
{
	const char *home = getenv("HOME");

	if (text[0] == '~' && (!text[1] || text[1] == '/') && home) {
		bytes_puts(b, home);
		text++;
	}
	while (*text)
		if (*text == '$')
			put_variable(b, &text);
		else
			bytes_u8(b, (uint8_t)*text++);
}

static void put_here(struct bytes *b)
{
	char here[PATH_MAX];

	if (getcwd(here, sizeof here))
		bytes_puts(b, here);
	else
		b->failed = true;
}

static bool given(const char *text)
{
	return text && text[0];
}

static bool is_name(const char *text)
{
	return given(text) && !strchr(text, '/') && strcmp(text, ".") != 0 &&
	       strcmp(text, "..") != 0;
}

/* All four, none, or a fault. */
static int check_names(const struct perfmon_names *n, bool *benchmark, struct err *e)
{
	const struct {
		const char *option, *text;
	} all[] = { { "system", n->system },
		    { "partition", n->partition },
		    { "env", n->env },
		    { "name", n->name } };
	size_t some = 0, count = sizeof all / sizeof all[0];

	for (size_t i = 0; i < count; i++)
		some += given(all[i].text);
	*benchmark = some == count;
	for (size_t i = 0; some && i < count; i++) {
		if (!given(all[i].text))
			return err_set(e, -EINVAL,
				       "--system, --partition, --env and --name must be used "
				       "together: add --%s, or remove all of them",
				       all[i].option);
		if (!is_name(all[i].text))
			return err_set(e, -EINVAL,
				       "--%s names a directory of its own, without '/', not '%s'",
				       all[i].option, all[i].text);
	}
	return 0;
}

static int take(char out[PATH_MAX], struct bytes *b, struct err *e)
{
	bytes_u8(b, '\0');
	if (b->failed || b->len > PATH_MAX)
		return err_set(e, -ENAMETOOLONG,
			       "the directory's name is too long; name another "
			       "with -d");
	memcpy(out, b->data, b->len);
	b->len--;
	return 0;
}

int perfmon_place_find(struct perfmon_place *p, const struct perfmon_names *n, struct err *e)
{
	struct bytes b = { 0 }, saved = { 0 };
	int bad = check_names(n, &p->benchmark, e);

	if (bad)
		return bad;
	put_expanded(&saved, given(n->save_dir) ? n->save_dir : "");
	if (!saved.len || saved.data[0] != '/')
		put_here(&b);
	if (saved.len && saved.data[0] != '/')
		bytes_u8(&b, '/');
	bytes_put(&b, saved.data, saved.len);
	bad = take(p->save_dir, &b, e);
	if (given(n->prefix))
		bytes_printf(&b, "/%s", n->prefix);
	if (p->benchmark)
		bytes_printf(&b, "/perfmetrics/%s/%s/%s/%s", n->system, n->partition, n->env,
			     n->name);
	if (!bad)
		bad = take(p->directory, &b, e);
	bytes_free(&b);
	bytes_free(&saved);
	return bad;
}

static int make(const char *path, struct err *e)
{
	char part[PATH_MAX];

	for (size_t n = 1;; n++) {
		n += strcspn(path + n, "/");
		snprintf(part, sizeof part, "%.*s", (int)n, path);
		if (mkdir(part, 0700) && errno != EEXIST)
			return err_set(e, -errno,
				       "cannot make the directory %s: %s; name another with -d",
				       part, strerror(errno));
		if (!path[n])
			return 0;
	}
}

int perfmon_place_make(const struct perfmon_place *p, struct err *e)
{
	int bad = make(p->save_dir, e);

	return bad ? bad : make(p->directory, e);
}

enum { MESSAGE_BYTES = 2048 };

#define LOG_NAME "ska_sdp_monitoring_metrics"

int logfile_open(struct logfile *l, const char *directory, const char *host, bool debug,
		 struct err *e)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof path, "%s/" LOG_NAME "%s%s.log", directory, debug ? "_" : "",
			 debug ? host : "");

	*l = (struct logfile){ .host = host, .debug = debug };
	if (n < 0 || (size_t)n >= sizeof path)
		return err_set(e, -ENAMETOOLONG, "the name of the log in %.200s is too long",
			       directory);
	l->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
	if (l->fd >= 0)
		return 0;
	n = errno;
	l->fd = 0;
	return err_set(e, -n, "cannot write the log %s: %s; name another directory with -d", path,
		       strerror(n));
}

void logfile_close(struct logfile *l)
{
	if (l->fd)
		close(l->fd);
	l->fd = 0;
}

void logfile_write(const struct logfile *l, enum log_level level, const char *function, int line,
		   const char *format, ...)
{
	static const char *const levels[] = { "DEBUG", "INFO", "WARNING", "ERROR" };
	char text[MESSAGE_BYTES], message[MESSAGE_BYTES], stamp[32], whole[MESSAGE_BYTES + 512];
	time_t now = time(NULL);
	struct tm tm;
	va_list ap;
	int n;

	if (!l->fd || (level == LEVEL_DEBUG && !l->debug))
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	if (!localtime_r(&now, &tm) || !strftime(stamp, sizeof stamp, "%Y-%m-%d %H:%M:%S", &tm))
		stamp[0] = '\0';
	n = snprintf(whole, sizeof whole, "%s | %s | %s | sonde.perfmon:%s | %d | %s\n", stamp,
		     levels[level], l->host, function, line,
		     escape_terminal_into(message, sizeof message, text));
	if (n > 0 && (size_t)n < sizeof whole && write(l->fd, whole, (size_t)n) != n)
		return; /* a full disk: it is not the log that matters */
}
