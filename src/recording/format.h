/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.h - the numbers of the file format; docs/format.md says what they mean.
 *
 * Everything is little-endian. The limits are part of the format: a reader refuses what is beyond
 * them before it allocates, so a writer must keep to them.
 */
#ifndef SONDE_RECORDING_FORMAT_H
#define SONDE_RECORDING_FORMAT_H

#include <stdint.h>

enum {
	FORMAT_VERSION = 1, /* frozen: tests/recordings is read by every later Sonde */
	FORMAT_DRAFT = 2,   /* the last one of version 0, and what version 1 is */
	DRAFT_ENDS = 2,     /* from this one on a slot's last commit is followed by a mark */

	BLOCK_MAGIC = 0x4b4c4253, /* "SBLK" */
	BLOCK_HEADER = 24,
	BLOCK_MAX = 64 << 20, /* bytes of a payload */

	TAIL_SLOTS_AT = 4096, /* the first slot; the head lies before it */
	TAIL_SLOT = 256 << 10,
	TAIL_SLOT_MAX = 4 << 20,
	COMMIT_HEADER = 12,
	TAIL_BEGUN_AT = TAIL_SLOTS_AT - COMMIT_HEADER, /* mark of the newest generation in it */

	ROWS_MAX = 16384,     /* of a chunk */
	COLUMNS_MAX = 32768,  /* of a chunk */
	VALUES_MAX = 4 << 20, /* rows x columns of a chunk */
	METRICS_MAX = 16384,  /* of a run */
	CATALOGUE_MAX = 4096, /* metrics in one record */
};

/* Kinds of blocks. Append only; unknown ones are skipped. */
enum block_type {
	BLOCK_HEAD = 1, /* first of a .sonde file */
	BLOCK_EVENTS,   /* the events of one generation */
	BLOCK_CHUNK,    /* the rows of one generation */
	BLOCK_END,      /* last: the recording was closed */
	BLOCK_TAIL,     /* first of a .tail file */
	BLOCK_SPANS,    /* spans of one track */
	BLOCK_CODE,     /* what the events of one generation say of code, in columns */
	BLOCK_TYPE_NUMBER_OF
};

/* Times and clocks outside these are refused, so that sums of them cannot overflow. */
/* Metadata that a file of a timeline begins with: the name of the file whose node it is of. */
#define FORMAT_TIMELINE_OF "timeline.of"
#define MONO_MAX           (INT64_C(1) << 60)
#define UTC_MAX            (INT64_C(1) << 62)

#endif
