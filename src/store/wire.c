/* SPDX-License-Identifier: Apache-2.0 */
#include "store/wire.h"

size_t store_message_begin(struct bytes *out, enum store_message kind)
{
	bytes_u32(out, kind);
	bytes_u32(out, 0);
	return out->len;
}

void store_message_end(struct bytes *out, size_t begun)
{
	size_t n = out->len - begun;

	out->failed |= n > STORE_MESSAGE_MAX;
	for (size_t i = 0; i < 4 && !out->failed; i++)
		out->data[begun - 4 + i] = (uint8_t)(n >> 8 * i);
}

bool store_message_head(const uint8_t head[STORE_HEAD], uint32_t *kind, uint32_t *length)
{
	struct scan s = { .at = head, .end = head + STORE_HEAD };

	*kind = scan_u32(&s);
	*length = scan_u32(&s);
	return *kind >= STORE_OPEN && *kind <= STORE_FAILED && *length <= STORE_MESSAGE_MAX;
}
