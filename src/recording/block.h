/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block.h - what .sonde files are made of: blocks, the sections in them, and the head that comes
 * first.
 *
 * A block is: magic u32, crc32c u32, type u16, version u16, sequence u32, length u32, reserved u32,
 * payload. The checksum covers all that follows it, so a flipped type or length cannot pass, and
 * the next good block is found behind damage.
 */
#ifndef SONDE_RECORDING_BLOCK_H
#define SONDE_RECORDING_BLOCK_H

#include "base/bytes.h"

struct block {
	uint16_t type, version;
	uint32_t sequence;
	uint32_t length;        /* of the payload */
	uint64_t offset;        /* of the header in its file */
	const uint8_t *payload; /* borrowed from what it was read from */
};

/* Append a header; the payload follows; block_finish fills in its length and checksum. Returns
 * where. */
size_t block_start(struct bytes *out, uint16_t type, uint32_t sequence);
void block_finish(struct bytes *out, size_t start);

/* The block at data, if one lies there whole and undamaged. */
bool block_parse(struct block *b, const uint8_t *data, size_t n);

/* Walks over a file of blocks. What is damaged is stepped over: the next block may be anywhere. */
struct blocks {
	int fd;               /* borrowed */
	uint64_t at, end;     /* end: size of the file when it was opened */
	struct bytes data;    /* the block that was read last */
	uint64_t gap_at, gap; /* damaged bytes before the last block, or before the end */
	bool cut;             /* the gap is one block that goes past the end of the file */
	uint64_t budget; /* bytes that may still be summed in vain: hostile files are many magics */
};

int blocks_init(struct blocks *s, int fd); /* 0 or -errno */
void blocks_free(struct blocks *s);
/* 1 and a block (valid until the next call), 0 at the end, -ENOMEM. */
int blocks_next(struct blocks *s, struct block *b);
/* The block at an offset known to hold one. 1, or 0 when it is not a longer there, or -ENOMEM. */
int blocks_at(struct blocks *s, uint64_t offset, struct block *b);

/*
 * Bytes inside a block, compressed when that makes them smaller.
 *
 * varint raw size, varint stored size, bytes: zstd frames, or the bytes themselves when the sizes
 * are equal. The compressor lives in memory reserved at its start and never allocates.
 */

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
/* The same for those that a recording begins with, in a quarter of that time. */
void section_put_opening(struct bytes *out, struct compressor *c, const uint8_t *raw, size_t n);
/* The same in several frames, each of which is compressed and expanded by itself. Where bytes
 * differ from those before them they are smaller so, since each frame has a Huffman code of its
 * own. */
struct section_frame {
	size_t size; /* raw bytes */
	bool plain;  /* searched for what comes again, but without such a code, which costs more
		      * than all the rest of it and saves nothing where bytes are not skewed */
};
void section_put_frames(struct bytes *out, struct compressor *c, const uint8_t *raw,
			const struct section_frame *f, uint32_t nframes);

struct expander {
	struct ZSTD_DCtx_s *zstd;
};
int expander_init(struct expander *x); /* 0 or -ENOMEM */
void expander_free(struct expander *x);
/* Read a section's raw bytes (at most max) into raw, which grows, with SECTION_BEHIND zeros behind
 * them. 0, -EBADMSG or -ENOMEM. */
enum { SECTION_BEHIND = 8 };
int section_get(struct scan *in, struct expander *x, size_t max, struct bytes *raw);
/* The same, but frames in which nothing is needed are left out: what stands in their place does not
 * matter. Asked of each frame in their order. */
struct section_wish {
	bool (*is_needed)(void *ctx, size_t from, size_t to); /* raw bytes from .. to - 1 */
	void *ctx;
};
int section_get_some(struct scan *in, struct expander *x, size_t max, struct bytes *raw,
		     const struct section_wish *w);

/*
 * Who made a recording and when: the first block of a .sonde and of a .tail file.
 *
 * Both files of a recording carry the same id, so that a tail is never read with a stranger's
 * blocks.
 */

/* HEAD_MAX: of a payload; a later Sonde may append up to there. */
enum { HEAD_ID = 16, HEAD_HOST = 256, HEAD_PROGRAM = 32, HEAD_MAX = 1000 };

struct head {
	uint8_t id[HEAD_ID];        /* random */
	int64_t utc_ns, mono_ns;    /* when it was made */
	uint32_t slot;              /* bytes of a .tail's slot; 0 in a .sonde */
	char host[HEAD_HOST];       /* node 1 */
	char program[HEAD_PROGRAM]; /* version of Sonde that wrote it; "": it did not say */
	uint32_t draft;             /* of version 0; 0: it did not say */
};

/* Append the payload. */
void head_put(struct bytes *out, const struct head *h);
bool head_get(struct scan in, struct head *h); /* false when it is malformed */
/* The head that a file begins with: the type of its block, and the version of that; 0: there is
 * none. */
uint16_t head_read(int fd, struct head *h, uint16_t *version);

#endif
