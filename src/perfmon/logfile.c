/* SPDX-License-Identifier: Apache-2.0 */
#include "perfmon/logfile.h"

#include "base/text/escape.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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
