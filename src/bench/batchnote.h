/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batchnote.h - what people write about a batch: a note, and tags by which batches are found.
 */
#ifndef SONDE_BENCH_BATCHNOTE_H
#define SONDE_BENCH_BATCHNOTE_H

#include "base/err.h"

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

#endif
