/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sha256.h - SHA-256 of bytes in memory (FIPS 180-4), and signatures with it.
 */
#ifndef SONDE_BASE_SHA256_H
#define SONDE_BASE_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32, SHA256_HEX = 2 * SHA256_BYTES + 1 };

void sha256(uint8_t out[SHA256_BYTES], const void *data, size_t n);
/* The same in lower-case hexadecimal digits, ended by a NUL. */
void sha256_hex(char out[SHA256_HEX], const void *data, size_t n);
/* HMAC (RFC 2104): data signed with a key. False: out of memory. */
bool sha256_hmac(uint8_t out[SHA256_BYTES], const void *key, size_t key_n, const void *data,
		 size_t n);

#endif
