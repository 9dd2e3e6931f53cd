/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.h - what people write about a batch: a note, and tags by which batches are found.
 */
#ifndef SONDE_BENCH_BATCH_H
#define SONDE_BENCH_BATCH_H

#include "base/err.h"
#include "store/database.h"

#include <stdint.h>

enum { BATCH_NOTE = 4000, BATCH_TAG = 48 };

struct database;

/* A letter, then letters, digits, _ . and -. 0 or -EINVAL with a sentence. */
int batch_tag_check(const char *tag, struct err *e);
/* 0 or -EINVAL with a sentence: it is no text, or too long. */
int batch_note_check(const char *note, struct err *e);
/* What was checked, within the caller's transaction; an empty note is none. */
int batch_note_put(struct database *s, int64_t batch, const char *note, struct err *e);
int batch_tag_put(struct database *s, int64_t batch, const char *tag, struct err *e);
int batch_tag_drop(struct database *s, int64_t batch, const char *tag, struct err *e);

/*
 * How batches are called on a command line.
 */
/* "bench:7", "7": its id; 0: it is none. */
int64_t bench_batch_id(const char *word);
/* The same, or all batches of an indicator, "PiMatmul" or "bench:PiMatmul", or with a tag,
 * "tag:NAME", in order: *n, or, where there is no room for more than `most`, the newest. 0; -EINVAL
 * with a sentence: it is neither, or has none; -errno. */
int bench_batches(struct database *s, const char *word, int64_t *batch, uint32_t most, uint32_t *n,
		  struct err *e);

#endif
