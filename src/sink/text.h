/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - how text formats reach their file: bytes are gathered and written a block at a time.
 */
#ifndef SONDE_SINK_TEXT_H
#define SONDE_SINK_TEXT_H

#include "base/bytes.h"
#include "base/err.h"

#include <stdio.h>

/* Write b to out and empty it when it has grown to `most` bytes or more; 0 writes what there is. */
int text_flush(struct bytes *b, FILE *out, size_t most, struct err *e);

enum { TEXT_BLOCK = 65536 };

#endif
