/* SPDX-License-Identifier: Apache-2.0 */
/*
 * squeeze.h - blocks of bytes through zstd, each one a frame of its own.
 */
#ifndef SONDE_SINK_SQUEEZE_H
#define SONDE_SINK_SQUEEZE_H

#include "base/bytes.h"

/* Append data, compressed, to out and return how many bytes that took; 0 when memory is out, which
 * out->failed tells, too. *context is made when it is NULL. */
size_t squeeze(void **context, struct bytes *out, const void *data, size_t n);
void squeeze_free(void *context); /* NULL is one, too */

#endif
