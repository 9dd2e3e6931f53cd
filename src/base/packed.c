/* SPDX-License-Identifier: Apache-2.0 */
#include "base/packed.h"

#include <errno.h>
#include <zstd.h>

size_t packed_length(const char *packed, const char *end)
{
	unsigned long long size = ZSTD_getFrameContentSize(packed, (size_t)(end - packed));

	return size < SIZE_MAX / 4 ? (size_t)size : SIZE_MAX;
}

void packed_put(struct bytes *out, const char *packed, const char *end)
{
	size_t size = packed_length(packed, end), got;

	if (!bytes_room(out, size)) {
		out->failed = true;
		return;
	}
	got = ZSTD_decompress(out->data + out->len, size, packed, (size_t)(end - packed));
	if (got == size)
		out->len += got;
	else
		out->failed = true;
}

int packed_text(struct bytes *out, const char *packed, const char *end, const char *what,
		struct err *e)
{
	packed_put(out, packed, end);
	return out->failed ? err_set(e, -ENOMEM, "%s: out of memory", what) : 0;
}
