/* SPDX-License-Identifier: Apache-2.0 */
/* A rule, then lines of a log: any rule is read or refused with a sentence; a mark that it makes is
 * a line that is read again. */
#include "core/phase/mark.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check(const struct mark_rule *r, const char *line, struct bytes *text)
{
	struct mark_line m, again;
	struct bytes out = { 0 };

	if (!mark_rule_apply(r, line, &m, text))
		return;
	require(*m.name && strlen(m.name) < MARK_NAME_MAX);
	mark_line_write(&out, &m);
	require(!out.failed && out.len > 1 && out.data[out.len - 1] == '\n');
	out.data[out.len - 1] = '\0';
	require(mark_line_parse(&again, (const char *)out.data, out.len - 1));
	require(again.kind == m.kind && !strcmp(again.name, m.name) && !strcmp(again.text, m.text));
	bytes_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size + 1), *at = copy, *end;
	struct bytes text = { 0 };
	struct mark_rule r;
	struct err e = { "" };

	require(copy != NULL);
	if (size)
		memcpy(copy, data, size);
	copy[size] = '\0';
	end = strchr(at, '\n');
	if (end)
		*end = '\0';
	if (mark_rule_parse(&r, at, &e)) {
		require(*e.text);
	} else {
		while (end) {
			at = end + 1;
			end = strchr(at, '\n');
			if (end)
				*end = '\0';
			if (strlen(at) <= MARK_LOG_LINE_MAX)
				check(&r, at, &text);
		}
		mark_rule_free(&r);
	}
	bytes_free(&text);
	free(copy);
	return 0;
}
