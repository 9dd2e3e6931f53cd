/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.h - sums of bytes: for hash tables, for what may be damaged (CRC-32C), for what may be
 * forged (SHA-256).
 */
#ifndef SONDE_BASE_HASH_H
#define SONDE_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Sums for hash tables, by a key that each process draws: who writes what is put into a
 * table cannot choose it so that much of it has one sum. Never stored, and no checksum.
 */

/* n bytes, after those that `before` is the sum of; 0: none. */
uint64_t hash_bytes(uint64_t before, const void *data, size_t n);
/* The same of a text; NULL as "". */
uint64_t hash_text(uint64_t before, const char *text);

/*
 * The Castagnoli checksum (RFC 3720, appendix B.4): reflected polynomial 0x82F63B78,
 * start and final exclusive or 0xFFFFFFFF. crc32c(0, "123456789", 9) is 0xE3069283.
 */

/* crc: 0, or the result for the bytes before these. */
uint32_t crc32c(uint32_t crc, const void *data, size_t n);
/* The same without the processor's instruction, for machines that have none. */
uint32_t crc32c_portable(uint32_t crc, const void *data, size_t n);

/*
 * SHA-256 of bytes in memory (FIPS 180-4), and signatures with it.
 */

enum { SHA256_BYTES = 32, SHA256_HEX = 2 * SHA256_BYTES + 1 };

void sha256(uint8_t out[SHA256_BYTES], const void *data, size_t n);
/* The same in lower-case hexadecimal digits, ended by a NUL. */
void sha256_hex(char out[SHA256_HEX], const void *data, size_t n);
/* HMAC (RFC 2104): data signed with a key. False: out of memory. */
bool sha256_hmac(uint8_t out[SHA256_BYTES], const void *key, size_t key_n, const void *data,
		 size_t n);

#endif
