/* SPDX-License-Identifier: Apache-2.0 */
/* join_text.c - each text of a run once: the nodes of a job say much the same. */
#include "base/hash.h"
#include "recording/join_part.h"

#include <stdlib.h>
#include <string.h>

static const char **find(const struct join_texts *t, const char *text)
{
	uint32_t i = (uint32_t)hash_text(0, text) & (t->cap - 1);

	while (t->text[i] && strcmp(t->text[i], text) != 0)
		i = (i + 1) & (t->cap - 1);
	return &t->text[i];
}

static bool grow(struct join_texts *t)
{
	struct join_texts bigger = { .n = t->n, .cap = t->cap ? t->cap * 2 : 256 };

	bigger.text = bigger.cap ? calloc(bigger.cap, sizeof *bigger.text) : NULL;
	if (!bigger.text)
		return false;
	for (uint32_t i = 0; i < t->cap; i++)
		if (t->text[i])
			*find(&bigger, t->text[i]) = t->text[i];
	free(t->text);
	*t = bigger;
	return true;
}

const char *join_text(struct join *j, const char *text)
{
	struct join_texts *t = &j->texts;
	const char **at;

	if (t->n >= t->cap / 2 && !grow(t))
		return NULL;
	at = find(t, text);
	if (!*at) {
		*at = pool_text(&j->pool, text, strlen(text));
		t->n += *at != NULL;
	}
	return *at;
}
