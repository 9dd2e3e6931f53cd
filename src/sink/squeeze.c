/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/squeeze.h"

#include <zstd.h>

enum { LEVEL = 1 };

size_t squeeze(void **context, struct bytes *out, const void *data, size_t n)
{
	size_t size;

	if (!*context)
		*context = ZSTD_createCCtx();
	if (!*context)
		out->failed = true;
	if (!bytes_room(out, ZSTD_compressBound(n)))
		return 0;
	size = ZSTD_compressCCtx(*context, out->data + out->len, out->cap - out->len, data, n,
				 LEVEL);
	if (ZSTD_isError(size)) {
		out->failed = true;
		return 0;
	}
	out->len += size;
	return size;
}

void squeeze_free(void *context)
{
	ZSTD_freeCCtx(context);
}
