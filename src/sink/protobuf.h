/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf.h - Protocol Buffers, as far as ORC's metadata needs them: fields are appended to bytes,
 * and a message in a message is made in bytes of its own first.
 */
#ifndef SONDE_SINK_PROTOBUF_H
#define SONDE_SINK_PROTOBUF_H

#include "base/bytes.h"

void protobuf_number(struct bytes *out, unsigned field, uint64_t v);
void protobuf_signed(struct bytes *out, unsigned field, int64_t v); /* sint64 */
void protobuf_fixed(struct bytes *out, unsigned field, uint64_t v); /* fixed64 */
void protobuf_real(struct bytes *out, unsigned field, double v);
void protobuf_binary(struct bytes *out, unsigned field, const void *data, size_t n);
void protobuf_text(struct bytes *out, unsigned field, const char *text);
/* The message in `inner`, which is emptied. */
void protobuf_message(struct bytes *out, unsigned field, struct bytes *inner);

#endif
