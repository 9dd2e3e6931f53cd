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

	*m = (struct streams){ 0 };
	if (max > INT32_MAX / sizeof *m->segment)
		return -ENOMEM;
	m->max = (uint32_t)max;
	m->segment = reserve(max * sizeof *m->segment);
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

void streams_let_go(struct streams *m)
{
	reserve_let_go(m->segment, m->n * sizeof *m->segment);
	streams_reset(m);
}

/* Bytes in the last segment. */
static uint32_t last_used(const struct stream *s)
{
	return s->first ? SEGMENT_ROOM - (s->end - s->at) : 0;
}

void stream_extend(struct streams *m, struct stream *s)
{
	uint32_t fresh = m->n;

	if (m->n + 1 < m->max)
		m->n++;
	else
		m->full = true;
	m->segment[fresh].next = 0;
	if (s->first) {
		struct segment *last = &m->segment[s->end / sizeof *last - 1];

		last->used = last_used(s);
		last->next = fresh + 1;
		s->before += last->used;
	} else {
		s->first = fresh + 1;
	}
	s->end = (fresh + 1) * (uint32_t)sizeof *m->segment;
	s->at = s->end - SEGMENT_ROOM;
}

void stream_fill(struct streams *m, struct stream *s, uint32_t zeros)
{
	while (zeros) {
		uint32_t room = s->end - s->at;

		if (!room) {
			stream_extend(m, s);
			continue;
		}
		room = room < zeros ? room : zeros;
		memset(stream_at(m, s), 0, room);
		s->at += room;
		zeros -= room;
	}
}

uint32_t stream_size(const struct stream *s)
{
	return s->before + last_used(s);
}

uint8_t *stream_copy(const struct streams *m, const struct stream *s, uint8_t *out)
{
	uint32_t left = stream_size(s);

	for (uint32_t i = s->first; left; i = m->segment[i - 1].next) {
		const struct segment *part = &m->segment[i - 1];
		uint32_t n = part->next ? part->used : left;

		memcpy(out, part->data, n);
		out += n;
		left -= n;
	}
	return out;
}
