/* SPDX-License-Identifier: Apache-2.0 */
/* pieces.h - bytes that are read a piece at a time, as from a slow file. */
#ifndef TESTS_PIECES_H
#define TESTS_PIECES_H

#include <stdint.h>
#include <string.h>
#include <sys/types.h>

struct source {
	const uint8_t *at, *end;
	size_t piece;
};

static inline ssize_t read_piece(void *ctx, void *data, size_t n)
{
	struct source *s = ctx;
	size_t left = (size_t)(s->end - s->at);

	n = n < s->piece ? n : s->piece;
	n = n < left ? n : left;
	memcpy(data, s->at, n);
	s->at += n;
	return (ssize_t)n;
}

#endif
