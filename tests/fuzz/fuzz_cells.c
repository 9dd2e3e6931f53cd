/* SPDX-License-Identifier: Apache-2.0 */
/* Hostile names on a screen: nothing but what a terminal may have is painted, and nothing twice. */
#include "base/text/escape.h"
#include "top/cells.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* ESC is followed by [, digits and a letter of those that are used. */
static void check_painted(const struct bytes *b)
{
	for (size_t i = 0; i < b->len; i++) {
		require(b->data[i] >= 0x20 || b->data[i] == 033);
		require(b->data[i] != 0x7f && b->data[i] != 0);
		if (b->data[i] != 033)
			continue;
		require(i + 2 < b->len && b->data[i + 1] == '[');
		for (i += 2; i < b->len && strchr("0123456789;", b->data[i]); i++)
			;
		require(i < b->len && strchr("HJKm", b->data[i]));
	}
}

static void paint(struct cells *c, bool again)
{
	struct bytes b = { 0 };

	cells_paint(c, &b);
	require(!b.failed && (!again || !b.len));
	bytes_u8(&b, '\0');
	b.len--;
	check_painted(&b);
	require(escape_is_utf8((const char *)b.data));
	bytes_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cells c = { .utf8 = size % 3 != 0, .colour = size % 2 };
	struct keys keys = { 0 };
	struct bytes lines = { 0 };
	char *text = malloc(size + 1);

	require(text && !cells_resize(&c, 3, 1 + (size ? data[0] % 40U : 0)));
	memcpy(text, data, size);
	text[size] = '\0';
	for (size_t i = 0; i < size; i++) {
		unsigned at = data[i] % 48U, width = data[size - 1 - i] % 48U;

		keys_take(&keys, text[i]);
		if (i % 8)
			continue;
		cells_put(&c, at % 4, at, width, data[i], text + i);
		cells_put_right(&c, at % 4, width, at, data[i], text + size - 1 - i);
		paint(&c, false);
		paint(&c, true);
	}
	cells_lines(&c, &lines);
	bytes_u8(&lines, '\0');
	require(!lines.failed && escape_is_utf8((const char *)lines.data));
	bytes_free(&lines);
	cells_free(&c);
	free(text);
	return 0;
}
