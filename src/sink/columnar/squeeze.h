/* SPDX-License-Identifier: Apache-2.0 */
/*
 * squeeze.h - blocks of bytes through zstd, each one a frame of its own.
 */
#ifndef SONDE_SINK_COLUMNAR_SQUEEZE_H
#define SONDE_SINK_COLUMNAR_SQUEEZE_H

#include "base/bytes.h"

/* One of many blocks that are compressed side by side. */
struct squeeze_job {
	const void *data;
	size_t n;
	struct bytes out; /* emptied, then filled; failed when memory is out */
};

enum { SQUEEZE_THREADS = 2 };

/* Append data, compressed, to out and return how many bytes that took; 0 when memory is out, which
 * out->failed tells, too. *context is made when it is NULL. */
size_t squeeze(void **context, struct bytes *out, const void *data, size_t n);
void squeeze_free(void *context); /* NULL is one, too */

/* All of them, by this thread and, where there is another CPU, by a second one, which has ended
 * when this returns. */
void squeeze_all(void *context[SQUEEZE_THREADS], struct squeeze_job *jobs, size_t n);

#endif
