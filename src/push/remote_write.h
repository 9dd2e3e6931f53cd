/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote_write.h - the block format of Snappy (google/snappy, format_description.txt), compression
 * only.
 */
#ifndef SONDE_PUSH_REMOTE_WRITE_H
#define SONDE_PUSH_REMOTE_WRITE_H

#include "base/bytes.h"

enum { SNAPPY_MAX = 32 << 20 };

/* Append n bytes, at most SNAPPY_MAX, compressed. */
void snappy_put(struct bytes *out, const uint8_t *data, size_t n);

#endif
