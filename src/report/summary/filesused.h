/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filesused.h - the files that the job used (`sonde run --files`): a row for each process and file,
 * and sums of them by file, directory, extension, mount, phase, process or command.
 *
 * Names are hostile. What is not known is 0 here; known says of which counters any row knew.
 */
#ifndef SONDE_REPORT_SUMMARY_FILESUSED_H
#define SONDE_REPORT_SUMMARY_FILESUSED_H

#include "base/bytes.h"
#include "core/frame/run.h"

#include <stdio.h>

enum used_counter {
	USED_READ,
	USED_WRITTEN,
	USED_READS,
	USED_WRITES,
	USED_READ_SECONDS,
	USED_WRITE_SECONDS,
	USED_OTHER_SECONDS,
	USED_SEQUENTIAL,
	USED_OPENS,
	USED_STATS,
	USED_NOT_FOUND,
	USED_SYNCS,
	USED_MAPPED,
	USED_MAPPED_WRITABLE,
	USED_BELOW_4K,
	USED_BELOW_64K,
	USED_BELOW_1M,
	USED_FROM_1M,
	USED_FOLDED,
	USED_SIZE,
	USED_MODIFIED,
	USED_COUNTERS
};

enum used_by {
	USED_BY_FILE,
	USED_BY_DIRECTORY,
	USED_BY_EXTENSION,
	USED_BY_MOUNT,
	USED_BY_PHASE,
	USED_BY_PROCESS,
	USED_BY_COMMAND,
	USED_BY_NUMBER_OF
};
extern const char *const used_by_names[USED_BY_NUMBER_OF];
/* As in JSON: "read_bytes". */
extern const char *const used_counter_names[USED_COUNTERS];

struct used_row {
	uint32_t instance;
	double value[USED_COUNTERS];
	uint32_t known; /* bits */
};

struct used_sum {
	char *name;
	double value[USED_COUNTERS];
	double files; /* rows with a name of their own, and those that are folded */
};

struct files_used {
	struct run *run; /* borrowed */
	struct used_row *row;
	size_t n;
	uint32_t known;
	bool by_positions;
	double lost;
	const char *refused, *note; /* hostile; or NULL */
	/* For rules. */
	struct {
		double opens, bytes; /* of files below 64 KiB that were opened, in one directory */
		char name[256];
	} small;
	struct {
		double times, bytes; /* the file whose bytes were read again most often */
		char name[256];
	} again;
	struct {
		double count;
		char name[256];
	} missing; /* names that are not there, in one directory */
	struct {
		double ratio,
			seconds;  /* the process that wrote most: its share; in writes, syncs */
		uint32_t process; /* its instance; 0: none wrote, or it is not known */
	} writer;
	struct {
		double bytes, writes, processes; /* small pieces of several, not in order */
		char name[256];
	} blocks;
	double metadata, all_calls;
};

/* *out NULL: nobody asked for it. 0 or -errno with a sentence. */
int files_used_make(struct files_used **out, struct run *r, struct err *e);
void files_used_free(struct files_used *u);

/* Sums, that of most use first; *out is freed with used_sums_free. 0 or -errno. */
int used_sums(struct used_sum **out, size_t *n, const struct files_used *u, struct run *r,
	      enum used_by by, struct err *e);
void used_sums_free(struct used_sum *s, size_t n);

enum used_kind { USED_UNLISTED, USED_INPUT, USED_OUTPUT, USED_BOTH };
/* Of a sum by file; unlisted is what was opened alone, folded, or is no file that has a time. */
enum used_kind used_kind(const struct used_sum *s);

int files_used_print(const struct files_used *u, struct run *r, enum used_by by, size_t most,
		     FILE *out, struct err *e);
/* Schema sonde/files/1: all tables, or one of them. */
int files_used_json(const struct files_used *u, struct run *r, struct bytes *out, struct err *e);
/* "written 2.0 GiB to out.dat, ...": the first few, escaped for a terminal; "": there are none. */
void files_used_words(const struct files_used *u, size_t most, struct bytes *out);

#endif
