/* SPDX-License-Identifier: Apache-2.0 */
/* punycode.h - identifiers with other letters than ASCII's, as symbols of Rust have them: RFC 3492
 * with "_" in the place of "-". */
#ifndef SONDE_UNWIND_PUNYCODE_H
#define SONDE_UNWIND_PUNYCODE_H

#include <stdbool.h>
#include <stddef.h>

/* In UTF-8, with a NUL. False: it is none, or does not fit. */
bool punycode_decode(const char *text, size_t n, char *out, size_t size);

#endif
