/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include "base/text/decimal.h"

#include <stdarg.h>

int err_set(struct err *e, int code, const char *format, ...)
{
	va_list ap;

	if (!e)
		return code;
	va_start(ap, format);
	decimal_vprint(e->text, sizeof e->text, format, ap);
	va_end(ap);
	return code;
}
