/* SPDX-License-Identifier: Apache-2.0 */
/* A context in memory of our own is the one form of zstd that is promised never to allocate; it is
 * in the part of the interface that must be asked for, unchanged since 1.3. */
#define ZSTD_STATIC_LINKING_ONLY
#include "recording/section.h"

#include "base/reserve.h"

#include <errno.h>
#include <zstd.h>

/* A small window: columns repeat near by, and the recorder's memory is counted. */
enum { LEVEL = 1, WINDOW_LOG = 17 };

static ZSTD_CCtx *context(struct compressor *c, size_t max)
{
	ZSTD_compressionParameters p = ZSTD_getCParams(LEVEL, max, 0);

	if (p.windowLog > WINDOW_LOG)
		p.windowLog = WINDOW_LOG;
	c->size = ZSTD_estimateCCtxSize_usingCParams(p);
	c->memory = reserve(c->size);
	if (!c->memory)
		return NULL;
	c->zstd = ZSTD_initStaticCCtx(c->memory, c->size);
	if (!c->zstd ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_compressionLevel, LEVEL)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_windowLog, (int)p.windowLog)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_hashLog, (int)p.hashLog)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_chainLog, (int)p.chainLog)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_strategy, (int)p.strategy)))
		return NULL;
	return c->zstd;
}

int compressor_init(struct compressor *c, size_t max)
{
	*c = (struct compressor){ 0 };
	if (context(c, max) && !reserve_bytes(&c->out, max))
		return 0;
	compressor_free(c);
	return -ENOMEM;
}

void compressor_free(struct compressor *c)
{
	reserve_free(c->memory, c->size);
	reserve_bytes_free(&c->out);
	*c = (struct compressor){ 0 };
}

void section_put(struct bytes *out, struct compressor *c, const uint8_t *raw, size_t n)
{
	size_t cap = n < c->out.cap ? n : c->out.cap;
	size_t stored = n ? ZSTD_compress2(c->zstd, c->out.data, cap, raw, n) : 0;
	bool smaller = n && !ZSTD_isError(stored) && stored < n; /* too large for cap is an error */

	bytes_varint(out, n);
	bytes_varint(out, smaller ? stored : n);
	bytes_put(out, smaller ? c->out.data : raw, smaller ? stored : n);
}

int expander_init(struct expander *x)
{
	x->zstd = ZSTD_createDCtx();
	return x->zstd ? 0 : -ENOMEM;
}

void expander_free(struct expander *x)
{
	ZSTD_freeDCtx(x->zstd);
	x->zstd = NULL;
}

int section_get(struct scan *in, struct expander *x, size_t max, struct bytes *raw)
{
	uint64_t size = scan_varint(in), stored = scan_varint(in);
	const uint8_t *from;
	size_t got;

	if (in->bad || size > max || stored > size)
		return -EBADMSG;
	from = scan_take(in, (size_t)stored);
	if (in->bad)
		return -EBADMSG;
	bytes_reset(raw);
	if (!bytes_room(raw, (size_t)size + 1)) /* never NULL, so that empty ranges are ranges */
		return -ENOMEM;
	if (stored == size) {
		bytes_put(raw, from, (size_t)size);
		return 0;
	}
	got = ZSTD_decompressDCtx(x->zstd, raw->data, (size_t)size, from, (size_t)stored);
	if (ZSTD_isError(got) || got != size)
		return -EBADMSG;
	raw->len = (size_t)size;
	return 0;
}
