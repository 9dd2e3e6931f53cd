/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tail.h - the .tail file: a head, then two slots that are overwritten in turn, generation by
 * generation: generation g stands in slot g % 2.
 *
 * A slot is commits one behind the other: length u32, generation u32, crc32c u32 over the two and
 * the payload. The last of a slot's generation is followed by such a header of length 0, if there
 * is room; what lies behind that is left over from an older one.
 */
#ifndef SONDE_RECORDING_TAIL_H
#define SONDE_RECORDING_TAIL_H

#include "recording/block.h"

enum { TAIL_SLOTS = 2 };

/* A commit's header goes in front of its payload once that is written behind `start`. */
size_t commit_start(struct bytes *slot);
void commit_finish(struct bytes *slot, size_t start, uint32_t generation);
/* The mark behind the last one, if there is room. */
void commit_end(struct bytes *slot, uint32_t generation);

uint64_t tail_slot_at(uint32_t slot_size, uint32_t generation); /* offset in the file */

struct tail_slot {
	uint32_t generation; /* 0: nothing in it */
	const uint8_t *data;
	size_t len;       /* of its whole commits */
	uint64_t lost_at; /* offset in the file where a commit was that cannot be read; 0: none */
	bool torn;        /* that is the last one, which may have been being written */
};

/* A .tail file as it was at one moment. {0} is empty. */
struct tail {
	struct head head;
	uint16_t version;                  /* of the format, by its head's block */
	struct tail_slot slot[TAIL_SLOTS]; /* older generation first */
	bool fresh;                        /* it was changed within a minute */
	bool cut;       /* it is shorter than a writer makes it before the first sample */
	uint32_t begun; /* the newest generation of which a commit was written; 0: not known */
	struct bytes data;
};

/* Read it whole. 0; -ENOENT etc.; -ENODATA when it is empty, as a recording that was closed leaves
 * it; -EBADMSG when its head is damaged; -EPROTO when it is of a future version; -ENOMEM. */
int tail_read(struct tail *t, int dirfd, const char *name);
void tail_free(struct tail *t);

#endif
