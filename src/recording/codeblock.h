/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codeblock.h - the records of code of one generation (MODULE, FRAME, STACKS, SAMPLES) as a block:
 * each field in a column of differences, each text once. Reading gives the same records back.
 *
 * A record is as record.h has it; this knows which fields such records have, not what they mean.
 */
#ifndef SONDE_RECORDING_CODEBLOCK_H
#define SONDE_RECORDING_CODEBLOCK_H

#include "recording/block.h"

enum {
	CODEBLOCK_KINDS = 4,
	CODEBLOCK_FIELDS = 14, /* columns of a kind; an item has three */
	CODEBLOCK_COLUMNS = CODEBLOCK_KINDS * CODEBLOCK_FIELDS + 1,
};

/* Memory for it, reserved: it never allocates. */
struct codeblock {
	struct codeblock_texts *known;
	struct bytes records; /* of the generation, put here by who seals it */
	struct bytes columns, texts;
};

int codeblock_init(struct codeblock *c, size_t records_max); /* 0 or -ENOMEM */
void codeblock_free(struct codeblock *c);
/* Give back the memory that was used last. */
void codeblock_let_go(struct codeblock *c);

/* Can this record, of n bytes in all, be in such a block? */
bool codeblock_takes(const uint8_t *record, size_t n);
/* What is in c->records, all of which it takes, as the payload of a block. */
void codeblock_put(struct bytes *out, struct compressor *z, struct codeblock *c,
		   uint32_t generation);
/* The records of a payload, in place of what was in `records`, at most `max` bytes. 0, -EBADMSG or
 * -ENOMEM. */
int codeblock_get(const struct block *b, struct expander *x, uint64_t *generation, size_t max,
		  struct bytes *records);

#endif
