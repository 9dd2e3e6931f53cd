/* SPDX-License-Identifier: Apache-2.0 */
/* A file of marks: what is a line of it is read, in bounds, and written again as it was. */
#include "core/phase/mark.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check_again(const struct mark_line *l)
{
	struct bytes again = { 0 };
	struct mark_line m;

	mark_line_write(&again, l);
	require(!again.failed && again.len > 1 && again.data[again.len - 1] == '\n');
	again.data[again.len - 1] = '\0';
	if (again.len - 1 <= MARK_LINE_MAX) {
		require(mark_line_parse(&m, (const char *)again.data, again.len - 1));
		require(m.kind == l->kind && m.timed == l->timed && m.mono_ns == l->mono_ns);
		require(!strcmp(m.name, l->name) && !strcmp(m.text, l->text));
	}
	bytes_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *at = text, *end;
	char word[64];

	require(text != NULL);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	for (; at <= text + size; at = end + 1) {
		struct mark_line l;

		end = memchr(at, '\n', (size_t)(text + size - at));
		if (!end)
			end = text + size;
		*end = '\0';
		if (mark_line_parse(&l, at, (size_t)(end - at))) {
			require(*l.name && strlen(l.name) < MARK_NAME_MAX);
			check_again(&l);
			if (mark_text_find(l.text, "track", word, sizeof word))
				require(strlen(word) < sizeof word);
		}
	}
	free(text);
	return 0;
}
