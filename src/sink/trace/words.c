/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.c - the text of a span or a mark, KEY=VALUE ..., as notes of a slice. "category" is its
 * category, and "flow_out" and "flow_in" are the ends of arrows, with their numbers in hexadecimal.
 */
#include "core/phase/markline.h"
#include "sink/trace/trace_part.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A number as programs write it: "0x10", "nan" and " 5" are texts. */
static bool number_read(const char *text, double *v)
{
	char *end;

	if (!isdigit((unsigned char)text[*text == '-']) || strpbrk(text, "xXpP"))
		return false;
	*v = strtod(text, &end);
	return !*end && isfinite(*v);
}

static bool flow_read(struct words *w, const char *key, const char *value)
{
	bool in = !strcmp(key, "flow_in");
	char *end;
	uint64_t id;

	if ((!in && strcmp(key, "flow_out") != 0) || w->nflows == FLOWS_MAX || !*value ||
	    !isxdigit((unsigned char)*value))
		return false;
	errno = 0;
	id = strtoull(value, &end, 16);
	if (*end || errno)
		return false;
	w->flow[w->nflows++] = (struct trace_flow){ id, in };
	return true;
}

/* False: it is no KEY=VALUE. */
static bool word_note(struct notes *x, struct words *w, struct trace_slice *s, char *word)
{
	char *value = strchr(word, '=');
	double v;

	if (!value || value == word)
		return false;
	*value++ = '\0';
	if (!strcmp(word, "category") && *value)
		s->category = value;
	else if (flow_read(w, word, value))
		return true;
	else if (number_read(value, &v))
		notes_number(x, word, v);
	else
		notes_text(x, word, value);
	return true;
}

void notes_words(struct notes *x, struct words *w, struct trace_slice *s, const char *key,
		 const char *text)
{
	const char *at = text;
	bool all = true;

	w->used = 0;
	w->nflows = 0;
	while (at && w->used < sizeof w->text) {
		char *word = w->text + w->used;

		if (!mark_word_read(&at, word, sizeof w->text - w->used)) {
			all &= !*at;
			break;
		}
		w->used += strlen(word) + 1;
		all &= word_note(x, w, s, word);
	}
	if (!all)
		notes_text(x, key, text);
	s->flow = w->flow;
	s->nflows = w->nflows;
}
