/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.h - sums for hash tables, by a key that each process draws: who writes what is put into a
 * table cannot choose it so that much of it has one sum. Never stored, and no checksum.
 */
#ifndef SONDE_BASE_HASH_H
#define SONDE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* n bytes, after those that `before` is the sum of; 0: none. */
uint64_t hash_bytes(uint64_t before, const void *data, size_t n);
/* The same of a text; NULL as "". */
uint64_t hash_text(uint64_t before, const char *text);

#endif
