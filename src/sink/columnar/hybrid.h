/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hybrid.h - small numbers as Parquet stores them: runs of equal ones, and the others packed into
 * their bits.
 */
#ifndef SONDE_SINK_COLUMNAR_HYBRID_H
#define SONDE_SINK_COLUMNAR_HYBRID_H

#include "base/bytes.h"

/* Bits that hold 0..max; at least 1. */
unsigned hybrid_width(uint32_t max);
/* Append n numbers below 1 << width. */
void hybrid_put(struct bytes *out, const uint32_t *v, uint32_t n, unsigned width);
/* Append n bits (the lowest first; those behind are clear), of which `clear` are not set. */
void hybrid_bits(struct bytes *out, const uint8_t *bits, uint32_t n, uint32_t clear);

#endif
