/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files_row.h - what the recorder and its helper sonde-files say to each other: messages on a
 * socket that keeps their bounds.
 *
 * The recorder sends struct files_order, the helper struct files_answer, cut behind its text.
 */
#ifndef SONDE_SOURCE_PROGRAM_FILES_ROW_H
#define SONDE_SOURCE_PROGRAM_FILES_ROW_H

#include <stdint.h>

enum {
	FILES_SOCKET = 3,   /* the helper's descriptor */
	FILES_ROWS = 16384, /* of a recording: ids are below it */
	FILES_TEXT = 4096 + 32,
};

/* Counters of a row, in the order of the metrics (source/program/files.c). */
enum files_counter {
	FILE_READ_BYTES,
	FILE_WRITTEN_BYTES,
	FILE_READS,
	FILE_WRITES,
	FILE_READ_NS,
	FILE_WRITE_NS,
	FILE_OTHER_NS,
	FILE_SEQUENTIAL_BYTES,
	FILE_OPENS,
	FILE_STATS,
	FILE_NOT_FOUND,
	FILE_SYNCS,
	FILE_MAPPED_BYTES,
	FILE_MAPPED_WRITABLE_BYTES,
	FILE_CALLS_4K, /* of reads and writes: below 4 KiB, 64 KiB, 1 MiB, and above */
	FILE_CALLS_64K,
	FILE_CALLS_1M,
	FILE_CALLS_ABOVE,
	FILE_FOLDED, /* files that are in a row "other files of DIR" */
	FILE_SIZE,
	FILE_MTIME_NS,
	FILE_COUNTERS
};

enum files_order_kind { FILES_LAUNCHER = 1, FILES_RUNNING, FILES_FINISH };

struct files_order {
	uint32_t kind;
	int32_t pid;
};

enum files_answer_kind {
	FILES_READY = 1, /* text: why there are positions alone, or "" */
	FILES_ROW,       /* text: path, 0, mount, 0 */
	FILES_LOST, /* value[0]: records that were lost so far; [1]: CPU time, ns; [2]: io_urings
		       that were set up */
	FILES_DONE
};

struct files_answer {
	uint32_t kind, row;
	int32_t pid;
	uint32_t known; /* bit of each counter */
	char comm[16];
	int64_t first_ns, last_ns;
	int64_t value[FILE_COUNTERS];
	char text[FILES_TEXT];
};

#endif
