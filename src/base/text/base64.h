/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base64.h - bytes as text of 64 letters, RFC 4648, with its = at the end.
 */
#ifndef SONDE_BASE_TEXT_BASE64_H
#define SONDE_BASE_TEXT_BASE64_H

#include "base/bytes.h"

void base64_encode(struct bytes *out, const void *data, size_t n);
/* Appends what the text means; false when it is none of such. */
bool base64_decode(struct bytes *out, const char *text);

#endif
