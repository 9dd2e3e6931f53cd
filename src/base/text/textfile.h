/* SPDX-License-Identifier: Apache-2.0 */
/*
 * textfile.h - a file that the user named, read whole: a regular one of bounded size.
 *
 * Never waits: a FIFO that nobody writes, a terminal, a device without an end are refused.
 */
#ifndef SONDE_BASE_TEXT_TEXTFILE_H
#define SONDE_BASE_TEXT_TEXTFILE_H

#include "base/bytes.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Appends what the file holds. what names it in errors: "events file". 0, or -errno with a
 * sentence: -EINVAL when it is not a regular file, -EFBIG when it has more than most bytes. */
int textfile_read(const char *path, const char *what, size_t most, struct bytes *out,
		  struct err *e);

/*
 * What a user names as a file, or as a directory of such files: all of it read, in
 * the order of names.
 */
struct textfiles {
	const char *what;   /* in errors: "rules" */
	const char *ending; /* of the files of a directory: ".rules" */
	size_t most;        /* bytes of a file */
	/* Takes one: 0 or -errno with a sentence. */
	int (*take)(void *ctx, const char *path, const char *text, size_t len, struct err *e);
	void *ctx;
};

/* 0, or -errno with a sentence; a directory without any is most likely another one: -ENOENT. */
int textfiles_read(const struct textfiles *t, const char *path, struct err *e);

/*
 * Text that people write: "key: value", an entry a line, # comments, empty lines; an
 * indented line goes on with the value before it.
 *
 * What keys mean is the caller's. A fault is told as "FILE:LINE:COLUMN: why", across joined lines,
 * too.
 */

struct entries;

struct entry {
	char *key, *value; /* value: its lines joined by a blank each; may be "" */
	unsigned line;
	const struct entries *of;
};

/* Called for each entry, in order: 0, or -errno with a sentence, which ends the reading. */
typedef int entry_taker(void *ctx, const struct entry *entry, struct err *e);

enum { ENTRIES_BYTES_MAX = 1 << 20 };

/* text[0..len) need not end in NUL; file is what faults call it. 0 or -errno: -EINVAL for a fault
 * or for what is longer or no text, -ENOMEM without a sentence. */
int entries_read(const char *file, const char *text, size_t len, entry_taker *take, void *ctx,
		 struct err *e);

/* -EINVAL, with the sentence. */
int entries_fault(const char *file, unsigned line, unsigned column, struct err *e,
		  const char *format, ...) __attribute__((format(printf, 5, 6)));
/* The same of what stands so many bytes into the entry's value: "...: KEY: why". */
int entry_fault(const struct entry *entry, size_t at, const char *why, struct err *e);

/* Blocks of entries, each begun by "rule: NAME". May the block have this entry now? key is its
 * number, -1: none is called so, and `manual` says which are; *seen has a bit for each that the
 * block has, and gets this one's. 0, or -EINVAL with the sentence. */
int entry_of_block(const struct entry *entry, int key, bool begun, unsigned *seen,
		   const char *manual, struct err *e);
/* Its value is one of these words, the last of which is NULL: the word's number goes to the
 * unsigned at `to`. Else -EINVAL, with the sentence. */
int entry_choice(void *to, const char *const *words, const char *value, struct err *e);

#endif
