/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tail.h - the files of a recording: the form of the .tail file, and both as the writer holds them.
 */
#ifndef SONDE_RECORDING_TAIL_H
#define SONDE_RECORDING_TAIL_H

#include "base/err.h"
#include "recording/block.h"

/*
 * The .tail file: a head, then two slots that are overwritten in turn, generation by
 * generation: generation g stands in slot g % 2.
 *
 * A slot is commits one behind the other: length u32, generation u32, crc32c u32 over the two and
 * the payload. The last of a slot's generation is followed by such a header of length 0, if there
 * is room; what lies behind that is left over from an older one.
 */

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

/*
 * The two files of a recording as the writer holds them: made, appended,
 * overwritten.
 *
 * It knows where bytes go and what a full disk does to them, and nothing of what they mean.
 */

struct writer_files {
	int sonde, tail;                  /* descriptors, -1 = closed */
	uint64_t end;                     /* of the blocks that are whole */
	uint64_t most;                    /* bytes that a file may have (RLIMIT_FSIZE) */
	uint32_t slot;                    /* bytes of a slot of the tail */
	bool unsynced;                    /* blocks were appended since the last sync */
	uint64_t bytes, syncs;            /* written, overwrites included */
	char name[HEAD_HOST + 32];        /* of the .sonde file in its directory */
	char path[4096 + HEAD_HOST + 32]; /* the same, for messages */
};

/* Nothing is open; how large files may be here, and slots then. 0, or -EFBIG with a sentence where
 * that is too small for a recording. */
int files_init(struct writer_files *f, struct err *e);
/* Make both files, the tail with room for its slots on the disk. 0 or -errno. */
int files_make(struct writer_files *f, int dirfd, const char *host, struct err *e);
/* Add whole blocks. When that fails the file is as it was before. 0 or -errno. */
int files_append(struct writer_files *f, const struct bytes *blocks);
/* Write into the tail. 0 or -errno. */
int files_tail(struct writer_files *f, uint64_t at, const uint8_t *data, size_t n);
/* Have what was appended, and the tail when asked, on the disk. 0 or -errno. */
int files_sync(struct writer_files *f, bool tail);
void files_close(struct writer_files *f);
/* A sentence for an error of these files. Returns code. */
int files_error(const struct writer_files *f, int code, struct err *e);

#endif
