/* SPDX-License-Identifier: Apache-2.0 */
/*
 * streams.h - many runs of bytes that grow side by side in one piece of reserved memory.
 *
 * A stream is a chain of small segments, so that none needs to know how long it will become.
 * Streams are forgotten all at once. When the memory is used up `full` is set, and what is written
 * then goes nowhere: one check at the end is enough.
 */
#ifndef SONDE_RECORDING_STREAMS_H
#define SONDE_RECORDING_STREAMS_H

#include "recording/varint.h"

#include <stdbool.h>

enum { SEGMENT_ROOM = 248 /* makes a segment 256 bytes */ };

struct segment {
	uint32_t next; /* index + 1; 0: none */
	uint32_t used;
	uint8_t data[SEGMENT_ROOM];
};

struct streams {
	struct segment *segment;
	uint32_t n, max; /* the last is where bytes go that have no place */
	bool full;
};

/* {0} is empty. at and end are bytes from the start of the memory: a stream is small. */
struct stream {
	uint32_t at, end;
	uint32_t first;  /* index + 1 of its segment; 0: none */
	uint32_t before; /* bytes in the segments but the last */
};

/* For so many bytes in so many streams at most, together less than 2 GiB; 0 or -ENOMEM. */
int streams_init(struct streams *m, size_t bytes, size_t streams);
void streams_free(struct streams *m);
void streams_reset(struct streams *m);
void streams_let_go(struct streams *m); /* reset, and give the memory back until it is needed */

static inline uint8_t *stream_at(const struct streams *m, const struct stream *s)
{
	return (uint8_t *)m->segment + s->at;
}

void stream_extend(struct streams *m, struct stream *s);
void stream_fill(struct streams *m, struct stream *s, uint32_t zeros);
uint32_t stream_size(const struct stream *s);
/* Copy it whole to where there is room; returns the place behind. */
uint8_t *stream_copy(const struct streams *m, const struct stream *s, uint8_t *out);

static inline void stream_varint(struct streams *m, struct stream *s, uint64_t v)
{
	if (s->end - s->at < VARINT_MAX)
		stream_extend(m, s);
	s->at += (uint32_t)(varint_write(stream_at(m, s), v) - stream_at(m, s));
}

static inline void stream_zeros(struct streams *m, struct stream *s, uint32_t n)
{
	if (n > 8 || s->end - s->at < 8) {
		stream_fill(m, s, n);
		return;
	}
	memset(stream_at(m, s), 0, 8);
	s->at += n;
}

#endif
