/* SPDX-License-Identifier: Apache-2.0 */
/* spans_names.c - the names in a process's file, by their numbers. */
#include "source/program/spans_part.h"

#include <stddef.h>

static bool chunk_at(const struct span_reader *r, uint32_t chunk, uint32_t *first)
{
	return chunk < RING_TEXTS_CHUNKS &&
	       span_file_get(r, ring_texts_at(chunk), first, sizeof *first);
}

/* Where texts lie, up to the last that is there: on from where this stopped before. */
static void texts_find(struct span_reader *r, struct span_intake *in)
{
	uint32_t first, next = RING_NAMES_MAX + 1 + r->ntexts;

	while (r->ntexts < RING_TEXTS_MAX && r->text_chunk < RING_TEXTS_CHUNKS) {
		size_t at = ring_texts_at(r->text_chunk), have = r->text_used, n = 0;

		if (!have && (!chunk_at(r, r->text_chunk, &first) || first != next))
			return;
		have = have ? have : sizeof first;
		if (have + 2 < RING_TEXTS_CHUNK)
			n = RING_TEXTS_CHUNK - have < sizeof in->text ? RING_TEXTS_CHUNK - have
								      : sizeof in->text;
		if (n && !span_file_get(r, at + have, in->text, n))
			return;
		for (size_t i = 0; i + 2 <= n && r->ntexts < RING_TEXTS_MAX;) {
			size_t length = (uint8_t)in->text[i] | (size_t)(uint8_t)in->text[i + 1]
								       << 8;

			if (!length || length > RING_TEXT_MAX || i + 2 + length > n)
				break;
			r->text_at[++r->ntexts] =
				(uint32_t)(r->text_chunk * RING_TEXTS_CHUNK + have);
			have += 2 + length;
			i += 2 + length;
		}
		if (RING_NAMES_MAX + 1 + r->ntexts == next) { /* none was found here */
			if (!chunk_at(r, r->text_chunk + 1, &first) || first != next)
				return;
			r->text_chunk++;
			have = 0;
		}
		r->text_used = (uint32_t)have;
		next = RING_NAMES_MAX + 1 + r->ntexts;
	}
}

static bool text_get(struct span_reader *r, struct span_intake *in, uint32_t name, char *out)
{
	uint32_t i = name - RING_NAMES_MAX;
	uint8_t length[2];
	size_t at, n;

	if (i > r->ntexts)
		texts_find(r, in);
	if (i > r->ntexts)
		return false;
	at = ring_texts_at(0) + r->text_at[i];
	if (!span_file_get(r, at, length, sizeof length))
		return false;
	n = length[0] | (size_t)length[1] << 8;
	if (n > RING_TEXT_MAX || !span_file_get(r, at + sizeof length, out, n))
		return false;
	out[n] = '\0';
	return *out;
}

bool span_name_get(struct span_reader *r, struct span_intake *in, uint32_t name,
		   char out[RING_TEXT_MAX + 1])
{
	size_t at = offsetof(struct ring_head, name) + (size_t)name * RING_NAME_SIZE;

	if (!name || name > SPAN_NUMBERS_MAX)
		return false;
	if (name > RING_NAMES_MAX)
		return text_get(r, in, name, out);
	if (!span_file_get(r, at, out, RING_NAME_SIZE))
		return false;
	out[RING_NAME_SIZE - 1] = '\0';
	return *out;
}
