/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/streams.h"

#include "base/reserve.h"

#include <errno.h>

_Static_assert(sizeof(struct segment) == offsetof(struct segment, data) + SEGMENT_ROOM,
	       "the end of a segment's data is the end of the segment");

int streams_init(struct streams *m, size_t bytes, size_t streams)
{
	/* A segment is left when it has no room for another varint. */
	size_t max = bytes / (SEGMENT_ROOM - VARINT_MAX) + streams + 2;

	*m = (struct streams){ .segment = reserve(max * sizeof *m->segment), .max = max };
	return m->segment ? 0 : -ENOMEM;
}

void streams_free(struct streams *m)
{
	reserve_free(m->segment, m->max * sizeof *m->segment);
	*m = (struct streams){ 0 };
}

void streams_reset(struct streams *m)
{
	m->n = 0;
	m->full = false;
}

static struct segment *last_of(const struct stream *s)
{
	return s->first ? (struct segment *)s->end - 1 : NULL;
}

void stream_extend(struct streams *m, struct stream *s)
{
	struct segment *fresh = &m->segment[m->n], *last = last_of(s);

	if (m->n + 1 < m->max)
		m->n++;
	else
		m->full = true;
	fresh->next = NULL;
	if (last) {
		last->used = (uint32_t)(s->at - last->data);
		last->next = fresh;
		s->before += last->used;
	} else {
		s->first = fresh;
	}
	s->at = fresh->data;
	s->end = fresh->data + SEGMENT_ROOM;
}

void stream_fill(struct streams *m, struct stream *s, uint32_t zeros)
{
	while (zeros) {
		uint32_t room = (uint32_t)(s->end - s->at);

		if (!room) {
			stream_extend(m, s);
			continue;
		}
		room = room < zeros ? room : zeros;
		memset(s->at, 0, room);
		s->at += room;
		zeros -= room;
	}
}

uint32_t stream_size(const struct stream *s)
{
	const struct segment *last = last_of(s);

	return last ? s->before + (uint32_t)(s->at - last->data) : 0;
}

uint8_t *stream_copy(const struct stream *s, uint8_t *out)
{
	const struct segment *last = last_of(s);

	for (const struct segment *part = s->first; part; part = part->next) {
		size_t n = part == last ? (size_t)(s->at - part->data) : part->used;

		memcpy(out, part->data, n);
		out += n;
	}
	return out;
}
