/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scanner_window.h - so much of a file as is looked at, from a place that only moves forward.
 */
#ifndef SONDE_IMPORT_SCANNER_WINDOW_H
#define SONDE_IMPORT_SCANNER_WINDOW_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WINDOW_AHEAD = 64 << 10 }; /* bytes that are read together, where fewer are wanted */

struct window {
	int fd;
	uint8_t *data;
	size_t at, len;  /* what is not yet taken: data[at..len) */
	uint64_t offset; /* of data[0] in the file */
	bool ended;      /* the file has no more behind len */
	int failed;      /* errno of reading */
};

/* cap: at least WINDOW_AHEAD. */
static inline int window_open(struct window *w, int fd, size_t cap)
{
	*w = (struct window){ .fd = fd, .data = malloc(cap) };
	return w->data ? 0 : -ENOMEM;
}

static inline void window_close(struct window *w)
{
	free(w->data);
}

/* How many bytes are there from here on, n wanted; n is at most the window's size. Of what is large
 * no more is read than was wanted, so that nothing behind it must be moved. */
static inline size_t window_fill(struct window *w, size_t n)
{
	size_t wanted = n > WINDOW_AHEAD ? n : WINDOW_AHEAD;

	if (w->len - w->at >= n || w->ended)
		return w->len - w->at;
	memmove(w->data, w->data + w->at, w->len - w->at);
	w->offset += w->at;
	w->len -= w->at;
	w->at = 0;
	while (w->len < wanted && !w->ended) {
		ssize_t got = read(w->fd, w->data + w->len, wanted - w->len);

		if (got < 0 && errno == EINTR)
			continue;
		w->failed = got < 0 ? -errno : 0;
		w->ended = got <= 0;
		w->len += got > 0 ? (size_t)got : 0;
	}
	return w->len;
}

static inline uint64_t window_offset(const struct window *w)
{
	return w->offset + w->at;
}

static inline const uint8_t *window_here(const struct window *w)
{
	return w->data + w->at;
}

#endif
