/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block.h - the frame around everything in a .sonde file, and how to find the next good one.
 *
 * magic u32, crc32c u32, type u16, version u16, sequence u32, length u32, reserved u32, payload.
 * The checksum covers all that follows it, so a flipped type or length cannot pass. It knows no
 * payload.
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

#endif
