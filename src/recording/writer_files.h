/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer_files.h - the two files of a recording as the writer holds them: made, appended,
 * overwritten.
 *
 * It knows where bytes go and what a full disk does to them, and nothing of what they mean.
 */
#ifndef SONDE_RECORDING_WRITER_FILES_H
#define SONDE_RECORDING_WRITER_FILES_H

#include "base/err.h"
#include "recording/block.h"

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
