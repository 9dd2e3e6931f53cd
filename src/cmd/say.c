/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/say.h"

#include "base/escape.h"

#include <stdarg.h>
#include <stdio.h>

enum { LINE_MAX_BYTES = 4096 };

void say(const char *format, ...)
{
	char text[LINE_MAX_BYTES], line[LINE_MAX_BYTES];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	fprintf(stderr, "sonde: %s\n", escape_terminal_into(line, sizeof line, text));
}
