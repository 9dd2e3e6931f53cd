/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h - one recording, that is a .sonde file with its .tail, read once from end to end.
 *
 * The tail is read before the blocks: whatever the writer seals in between is then found in the
 * blocks, and nothing is missed or read twice. What cannot be read is reported, the rest is given.
 */
#ifndef SONDE_RECORDING_FILE_H
#define SONDE_RECORDING_FILE_H

#include "base/err.h"
#include "recording/block.h"
#include "recording/chunk.h"
#include "recording/record.h"
#include "recording/tail.h"

struct file_chunk {
	uint64_t offset;       /* of its block in the .sonde file */
	const uint8_t *memory; /* else the payload, sealed from the tail */
	uint32_t length;       /* of the payload in memory */
	uint32_t node, generation, nrows, ncolumns;
	int64_t first_utc_ns, first_mono_ns, last_mono_ns;
};

/* What is needed of the two files to read them, so that a thread may get it beforehand: the tail,
 * then each block, of chunks what they are. {0} is empty. */
struct file_block {
	struct block block;   /* of a chunk, and at the end, without payload */
	uint64_t gap_at, gap; /* as of struct blocks */
	bool cut;
	int rc; /* of a chunk, what it is: 0, -EBADMSG or -ENOMEM */
	struct file_chunk chunk;
};

struct file_scan {
	struct tail tail;
	int tail_rc, rc;          /* rc: of walking over the blocks */
	struct file_block *block; /* the last stands for the end */
	uint32_t n, cap;
	struct bytes payloads;
};

/* What reading finds, in order. Events and chunks: 0 or -errno, which ends the reading. */
struct file_visitor {
	void *ctx;
	int (*head)(void *ctx, const struct head *h);
	int (*event)(void *ctx, const struct record *r);
	int (*chunk)(void *ctx, const struct file_chunk *c);
	/* Spans in bulk, whose payload is still to be looked at; NULL: nobody wants them. 0,
	 * -EBADMSG or -ENOMEM. */
	int (*spans)(void *ctx, const struct block *b);
	void (*damage)(void *ctx, bool in_tail, uint64_t offset, uint64_t length, const char *what);
	struct pool *pool;           /* strings of events go here */
	struct chunk_reader *reader; /* of the chunks; one for many files spares its making */
	struct file_scan *scan;      /* that was made beforehand; NULL: none. It is emptied */
	int (*block)(void *ctx,
		     const struct block *b); /* each good block, after the above; or NULL */
};

struct file_found {
	bool closed;      /* its writer closed it in order */
	bool future;      /* blocks of a later format version were left out */
	bool foreign;     /* it is of another draft of this version, and cannot be read */
	uint16_t version; /* the latest of its blocks */
	uint64_t blocks;  /* good ones, the head included */
	struct bytes
		sealed; /* blocks made from the tail; chunks point into it; free with bytes_free */
};

/* The generation and the records of a block of events, or of code, which was found good. 0,
 * -EBADMSG or -ENOMEM.
 */
int file_events(const struct block *b, struct expander *x, uint64_t *generation,
		struct bytes *records);

/* Names are relative to dirfd; tail may be NULL. 0; -ENODATA when nothing can be read; -EPROTO when
 * all there is belongs to a later version, or it is of another draft; -errno of opening; a
 * visitor's. */
int file_read(int dirfd, const char *sonde, const char *tail, const struct file_visitor *v,
	      struct file_found *found);

/* Get what file_read needs of these. False: there is too much of it, or of memory too little; the
 * scan is empty. Touches nothing but its arguments; the reader is a caller's own. */
bool file_scan(struct file_scan *s, int dirfd, const char *sonde, const char *tail,
	       struct chunk_reader *reader);
void file_scan_free(struct file_scan *s);

#endif
