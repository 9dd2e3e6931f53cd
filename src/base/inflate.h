/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inflate.h - what gzip compressed (RFC 1951, RFC 1952), a piece at a time, of any length.
 *
 * Every byte is hostile. Several members behind each other are one text, whose checksums and
 * lengths must be right. Its memory is fixed; it reads a little ahead of what it gives.
 */
#ifndef SONDE_BASE_INFLATE_H
#define SONDE_BASE_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { INFLATE_WINDOW = 32768, INFLATE_AHEAD = 16384, INFLATE_QUICK = 10 };

struct inflate_codes {
	uint16_t count[16], symbol[288];
	/* By the next bits: symbol << 4 | length; 0: the code is longer. */
	uint16_t quick[1 << INFLATE_QUICK];
};

struct inflate {
	/* n bytes at most, 0 at the end, -1: errno says why. */
	ssize_t (*read)(void *ctx, void *data, size_t n);
	void *ctx;
	const char *fault; /* what is wrong with it; NULL: nothing, or reading failed */

	/* private */
	uint8_t in[INFLATE_AHEAD];
	size_t at, len;
	uint64_t bits;
	unsigned nbits, state;
	bool ended, failed, last, any;
	uint32_t left, distance, crc;
	uint64_t total; /* bytes of this member */
	struct inflate_codes literals, distances;
	uint8_t window[INFLATE_WINDOW];
};

/* Set read and ctx of {0} before. n bytes, fewer at the end only; -1: fault, or errno. */
ssize_t inflate_read(struct inflate *z, void *data, size_t n);

#endif
