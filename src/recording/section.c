/* SPDX-License-Identifier: Apache-2.0 */
/* A context in memory of our own is the one form of zstd that is promised never to allocate; it is
 * in the part of the interface that must be asked for, unchanged since 1.3. */
#define ZSTD_STATIC_LINKING_ONLY
#include "recording/section.h"

#include "base/reserve.h"

#include <errno.h>
#include <string.h>
#include <zstd.h>

/* What there is to find in columns are runs, and the skew of their bytes. A small window makes
 * zstd's blocks small, each with a Huffman code for the few columns in it; a small table finds the
 * runs as well as a large one does, in less time and memory. */
static const ZSTD_compressionParameters numbers = {
	.strategy = ZSTD_fast,
	.windowLog = 15,
	.hashLog = 8,
	.chainLog = ZSTD_CHAINLOG_MIN, /* not used by this strategy, nor is the next */
	.searchLog = ZSTD_SEARCHLOG_MIN,
	.minMatch = 7,
};

/* What a recording begins with are sentences, words of which come again anywhere. */
static const ZSTD_compressionParameters texts = {
	.strategy = ZSTD_lazy2,
	.windowLog = 17,
	.hashLog = 15,
	.chainLog = 15,
	.searchLog = 3,
	.minMatch = 4,
};

static bool parameters_set(ZSTD_CCtx *zstd, const ZSTD_compressionParameters *p)
{
	const struct {
		ZSTD_cParameter parameter;
		unsigned value;
	} settings[] = {
		{ ZSTD_c_strategy, p->strategy },   { ZSTD_c_windowLog, p->windowLog },
		{ ZSTD_c_hashLog, p->hashLog },     { ZSTD_c_chainLog, p->chainLog },
		{ ZSTD_c_searchLog, p->searchLog }, { ZSTD_c_minMatch, p->minMatch },
	};

	for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
		if (ZSTD_isError(ZSTD_CCtx_setParameter(zstd, settings[i].parameter,
							(int)settings[i].value)))
			return false;
	}
	return true;
}

int compressor_init(struct compressor *c)
{
	size_t size = ZSTD_estimateCCtxSize_usingCParams(numbers),
	       most = ZSTD_estimateCCtxSize_usingCParams(texts);

	*c = (struct compressor){ .size = size > most ? size : most };
	c->memory = reserve(c->size);
	return c->memory ? 0 : -ENOMEM;
}

/* Set up by the first section: a job need not wait for it. */
static bool set_up(struct compressor *c, const ZSTD_compressionParameters *p)
{
	if (!c->zstd)
		c->zstd = ZSTD_initStaticCCtx(c->memory, c->size);
	if (c->zstd && c->set != p)
		c->set = parameters_set(c->zstd, p) ? p : NULL;
	return c->zstd && c->set;
}

void compressor_free(struct compressor *c)
{
	reserve_free(c->memory, c->size);
	*c = (struct compressor){ 0 };
}

/* A frame, with a Huffman code where one saves anything; without, as zstd's negative levels are. */
static size_t frame_write(struct compressor *c, uint8_t *to, size_t room, const uint8_t *raw,
			  size_t n, bool coded)
{
	size_t rc = ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_targetLength, !coded);

	return ZSTD_isError(rc) ? rc : ZSTD_compress2(c->zstd, to, room, raw, n);
}

/* Their size, or an error when they would be larger than the raw bytes. */
static size_t frames_write(struct compressor *c, uint8_t *to, const uint8_t *raw, size_t n,
			   size_t coded)
{
	size_t first = coded ? frame_write(c, to, n, raw, coded, true) : 0, rest;

	if (coded == n || ZSTD_isError(first))
		return first;
	rest = frame_write(c, to + first, n - first, raw + coded, n - coded, false);
	return ZSTD_isError(rest) ? rest : first + rest;
}

static void put(struct bytes *out, struct compressor *c, const uint8_t *raw, size_t n, size_t coded,
		const ZSTD_compressionParameters *p)
{
	size_t before = out->len, stored, room;
	uint8_t *to;

	bytes_varint(out, n);
	room = out->len - before; /* for the other size, which is seldom shorter when written */
	if (!bytes_room(out, room + n))
		return;
	to = out->data + out->len + room;
	stored = n && set_up(c, p) ? frames_write(c, to, raw, n, coded) : n;
	if (ZSTD_isError(stored) || stored >= n) {
		bytes_varint(out, n);
		bytes_put(out, raw, n);
		return;
	}
	bytes_varint(out, stored);
	if (to != out->data + out->len)
		memmove(out->data + out->len, to, stored);
	out->len += stored;
}

void section_put(struct bytes *out, struct compressor *c, const uint8_t *raw, size_t n)
{
	put(out, c, raw, n, n, &numbers);
}

void section_put_texts(struct bytes *out, struct compressor *c, const uint8_t *raw, size_t n)
{
	put(out, c, raw, n, n, &texts);
}

void section_put_mixed(struct bytes *out, struct compressor *c, const uint8_t *raw, size_t n,
		       size_t coded)
{
	put(out, c, raw, n, coded, &numbers);
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
	if (!bytes_room(raw, (size_t)size + SECTION_BEHIND))
		return -ENOMEM;
	memset(raw->data + size, 0, SECTION_BEHIND);
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
