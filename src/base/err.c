/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

int err_set(struct err *e, int code, const char *format, ...)
{
	va_list ap;

	if (!e)
		return code;
	va_start(ap, format);
	vsnprintf(e->text, sizeof e->text, format, ap);
	va_end(ap);
	return code;
}
