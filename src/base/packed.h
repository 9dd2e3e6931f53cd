/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed.h - texts that travel in the program as one frame of zstd each, made by src/pack.c.
 *
 * They are unpacked when they are used, and not kept: a job that is started waits for none.
 */
#ifndef SONDE_BASE_PACKED_H
#define SONDE_BASE_PACKED_H

#include "base/bytes.h"
#include "base/err.h"

/* Its length; SIZE_MAX when it is not whole. */
size_t packed_length(const char *packed, const char *end);
/* Appends the text to out, or sets its `failed`. */
void packed_put(struct bytes *out, const char *packed, const char *end);
/* The same, with a sentence about `what`: 0 or -ENOMEM. */
int packed_text(struct bytes *out, const char *packed, const char *end, const char *what,
		struct err *e);

#endif
