/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/text.h"

#include "base/clock.h"

#include <errno.h>
#include <string.h>

int text_flush(struct bytes *b, FILE *out, size_t most, struct err *e)
{
	if (b->failed)
		return err_set(e, -ENOMEM, "out of memory");
	if (b->len < most || !b->len)
		return 0;
	if (fwrite(b->data, 1, b->len, out) != b->len) {
		int code = errno ? errno : EIO;

		return err_set(e, -code, "%s", strerror(code));
	}
	bytes_reset(b);
	return 0;
}

const char *text_time(struct text_time *t, int64_t ns)
{
	if (t->ns != ns || !t->text[0]) {
		t->ns = ns;
		clock_iso(ns, t->text, sizeof t->text);
	}
	return t->text;
}
