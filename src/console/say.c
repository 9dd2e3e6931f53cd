/* SPDX-License-Identifier: Apache-2.0 */
#include "console/say.h"

#include "base/clock.h"
#include "base/text/escape.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 4096 };

/* Of this process's one conversation; for the document that says why there is no other. */
static char last[LINE_MAX_BYTES];

const char *say_last(void)
{
	return last;
}

bool say_reader_is_gone(void)
{
	struct pollfd p = { .fd = STDOUT_FILENO };
	struct stat st;

	return ferror(stdout) && !fstat(STDOUT_FILENO, &st) &&
	       (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) && poll(&p, 1, 0) > 0 &&
	       p.revents & (POLLERR | POLLHUP);
}

void say(const char *format, ...)
{
	char text[LINE_MAX_BYTES], line[LINE_MAX_BYTES];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	memcpy(last, text, sizeof last);
	if (say_reader_is_gone())
		return;
	fprintf(stderr, "sonde: %s\n", escape_terminal_into(line, sizeof line, text));
}

enum { EVERY_NS = 200 * 1000 * 1000 };

void progress_begin(struct progress *p)
{
	*p = (struct progress){ .next_ns = INT64_MAX };
	if (isatty(STDERR_FILENO))
		p->next_ns = clock_mono_ns() + NS_PER_S;
}

/* The cursor goes back to the line's begin, so that whatever else is said takes its place. */
void progress_show(void *ctx, uint32_t at, uint32_t of)
{
	struct progress *p = ctx;
	int64_t now;

	if (p->next_ns == INT64_MAX)
		return;
	if (at >= of) {
		if (p->shown)
			fputs("\033[K", stderr);
		p->shown = false;
		return;
	}
	now = clock_mono_ns();
	if (now < p->next_ns)
		return;
	fprintf(stderr, "\033[Ksonde: reading %u of %u\r", at + 1, of);
	p->shown = true;
	p->next_ns = now + EVERY_NS;
}
