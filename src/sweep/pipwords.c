/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/pipwords.h"

#include "base/text/number.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool begins(const char *line, const char *with)
{
	return !strncmp(line, with, strlen(with));
}

static int length_of(const char *line)
{
	return (int)strcspn(line, "\r\n");
}

/* The lines below it, which are set in: "thing<2; part 0.2 depends on thing>=2". */
static bool take_conflict(const char *text, char *out, size_t size)
{
	static const char head[] = "The conflict is caused by:";
	size_t n = 0;

	while (*text && !begins(text, head))
		text = number_next_line(text);
	if (!*text)
		return false;
	for (text = number_next_line(text); *text == ' ' && n < size;
	     text = number_next_line(text)) {
		const char *words = text + strspn(text, " ");

		n += (size_t)snprintf(out + n, size - n, "%s%.*s",
				      n ? "; " : "conflict: ", length_of(words), words);
	}
	return n > 0;
}

/* Is it an error only by its first word? */
static bool says_nothing(const char *line)
{
	return begins(line, "ERROR: Ignored the following") ||
	       begins(line, "ERROR: ResolutionImpossible");
}

void pipwords_reason(const char *text, char *out, size_t size)
{
	const char *line = text, *last = "";

	*out = '\0';
	if (take_conflict(text, out, size))
		return;
	for (; *line; line = number_next_line(line)) {
		if (begins(line, "ERROR: ") && !says_nothing(line))
			break;
		if (length_of(line))
			last = line;
	}
	if (!*line)
		line = last;
	snprintf(out, size, "%.*s", length_of(line), line);
}
