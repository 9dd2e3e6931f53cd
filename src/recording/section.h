/* SPDX-License-Identifier: Apache-2.0 */
/*
 * section.h - bytes inside a block, compressed when that makes them smaller.
 *
 * varint raw size, varint stored size, bytes: zstd frames, or the bytes themselves when the sizes
 * are equal. The compressor lives in memory reserved at its start and never allocates.
 */
#ifndef SONDE_RECORDING_SECTION_H
#define SONDE_RECORDING_SECTION_H

#include "base/bytes.h"

struct compressor {
	void *memory; /* reserved; holds the zstd context */
	size_t size;
	struct ZSTD_CCtx_s *zstd; /* NULL until the first section */
	const void *set;          /* the parameters that it has */
};

int compressor_init(struct compressor *c); /* 0 or -ENOMEM */
void compressor_free(struct compressor *c);
void section_put(struct bytes *out, struct compressor *c, const uint8_t *raw, size_t n);
/* The same for texts: smaller by a third, in ten times the time. */
void section_put_texts(struct bytes *out, struct compressor *c, const uint8_t *raw, size_t n);
/* The same for bytes of which only the first `coded` are skewed. What is behind is searched for
 * what comes again, but not given a Huffman code, which costs more than all the rest of it. */
void section_put_mixed(struct bytes *out, struct compressor *c, const uint8_t *raw, size_t n,
		       size_t coded);

struct expander {
	struct ZSTD_DCtx_s *zstd;
};
int expander_init(struct expander *x); /* 0 or -ENOMEM */
void expander_free(struct expander *x);
/* Read a section's raw bytes (at most max) into raw, which grows, with SECTION_BEHIND zeros behind
 * them. 0, -EBADMSG or -ENOMEM. */
enum { SECTION_BEHIND = 8 };
int section_get(struct scan *in, struct expander *x, size_t max, struct bytes *raw);

#endif
