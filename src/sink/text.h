/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - how text formats reach their file: bytes are gathered and written a block at a time.
 */
#ifndef SONDE_SINK_TEXT_H
#define SONDE_SINK_TEXT_H

#include "base/bytes.h"
#include "base/err.h"

#include <stdio.h>

/* 0, or -errno with the kernel's words. */
int text_write(const void *data, size_t n, FILE *out, struct err *e);
/* Write b to out and empty it when it has grown to `most` bytes or more; 0 writes what there is. */
int text_flush(struct bytes *b, FILE *out, size_t most, struct err *e);

enum { TEXT_BLOCK = 65536 };

/* A time as clock_iso writes it: the rows of an instant have it made once. {0} is none yet. */
struct text_time {
	int64_t ns;
	char text[40];
};
const char *text_time(struct text_time *t, int64_t ns);

#endif
