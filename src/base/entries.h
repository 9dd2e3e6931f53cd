/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entries.h - text that people write: "key: value", an entry a line, # comments, empty lines; an
 * indented line goes on with the value before it.
 *
 * What keys mean is the caller's. A fault is told as "FILE:LINE:COLUMN: why", across joined lines,
 * too.
 */
#ifndef SONDE_BASE_ENTRIES_H
#define SONDE_BASE_ENTRIES_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct entries;

struct entry {
	char *key, *value; /* value: its lines joined by a blank each; may be "" */
	unsigned line;
	const struct entries *of;
};

/* Called for each entry, in order: 0, or -errno with a sentence, which ends the reading. */
typedef int entry_taker(void *ctx, const struct entry *entry, struct err *e);

/* text[0..len) need not end in NUL; file is what faults call it. 0 or -errno: -EINVAL for a fault,
 * -ENOMEM without a sentence. */
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
