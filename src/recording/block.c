/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/block.h"

#include "base/hash.h"
#include "base/reserve.h"
#include "recording/format.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
/* A context in memory of our own is the one form of zstd that is promised never to allocate; it is
 * in the part of the interface that must be asked for, unchanged since 1.3. */
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

enum {
	CRC_FROM = 8, /* the checksum covers what follows it */
	LENGTH_AT = 16,
	SEARCH_WINDOW = 64 * 1024,
	BUDGET_LEAST = 16 << 20,
};

static void store_u32(uint8_t *at, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(v >> (8 * i));
}

size_t block_start(struct bytes *out, uint16_t type, uint32_t sequence)
{
	size_t start = out->len;

	bytes_u32(out, BLOCK_MAGIC);
	bytes_u32(out, 0);
	bytes_u32(out, (uint32_t)type | (uint32_t)FORMAT_VERSION << 16);
	bytes_u32(out, sequence);
	bytes_u64(out, 0);
	return start;
}

void block_finish(struct bytes *out, size_t start)
{
	uint8_t *head = out->data + start;

	if (out->failed)
		return;
	store_u32(head + LENGTH_AT, (uint32_t)(out->len - start - BLOCK_HEADER));
	store_u32(head + 4, crc32c(0, head + CRC_FROM, out->len - start - CRC_FROM));
}

/* The header's fields; false when it is none, or its payload is beyond the limit. */
static bool header_parse(struct block *b, const uint8_t *data, uint32_t *crc)
{
	struct scan s = { .at = data, .end = data + BLOCK_HEADER };
	uint32_t magic = scan_u32(&s), kind;

	*crc = scan_u32(&s);
	kind = scan_u32(&s);
	b->type = (uint16_t)kind;
	b->version = (uint16_t)(kind >> 16);
	b->sequence = scan_u32(&s);
	b->length = scan_u32(&s);
	b->payload = data + BLOCK_HEADER;
	return magic == BLOCK_MAGIC && b->length <= BLOCK_MAX;
}

bool block_parse(struct block *b, const uint8_t *data, size_t n)
{
	uint32_t crc;

	b->offset = 0;
	return n >= BLOCK_HEADER && header_parse(b, data, &crc) && b->length <= n - BLOCK_HEADER &&
	       crc32c(0, data + CRC_FROM, BLOCK_HEADER - CRC_FROM + b->length) == crc;
}

int blocks_init(struct blocks *s, int fd)
{
	struct stat st;

	*s = (struct blocks){ .fd = fd };
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	s->end = (uint64_t)st.st_size;
	s->budget = s->end * 4 + BUDGET_LEAST;
	return 0;
}

void blocks_free(struct blocks *s)
{
	bytes_free(&s->data);
	s->fd = -1;
}

/* n bytes of the file at offset, into s->data. 1, 0 when they cannot be read, -ENOMEM. */
static int fill(struct blocks *s, uint64_t offset, size_t n)
{
	bytes_reset(&s->data);
	if (!bytes_room(&s->data, n))
		return -ENOMEM;
	while (s->data.len < n) {
		ssize_t got = pread(s->fd, s->data.data + s->data.len, n - s->data.len,
				    (off_t)(offset + s->data.len));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return 0;
		s->data.len += (size_t)got;
	}
	return 1;
}

int blocks_at(struct blocks *s, uint64_t offset, struct block *b)
{
	uint32_t crc;
	int rc;

	s->cut = offset < s->end && s->end - offset < BLOCK_HEADER;
	if (offset >= s->end || s->cut)
		return 0;
	rc = fill(s, offset, BLOCK_HEADER);
	if (rc <= 0 || !header_parse(b, s->data.data, &crc))
		return rc < 0 ? rc : 0;
	s->cut = b->length > s->end - offset - BLOCK_HEADER;
	if (s->cut || b->length > s->budget)
		return 0;
	rc = fill(s, offset, BLOCK_HEADER + (size_t)b->length);
	if (rc <= 0)
		return rc;
	if (!block_parse(b, s->data.data, s->data.len)) {
		s->budget -= b->length;
		return 0;
	}
	b->offset = offset;
	return 1;
}

/* The next place from *at on where a magic lies. 1, 0 when there is none, -ENOMEM. */
static int search(struct blocks *s, uint64_t *at)
{
	static const uint8_t magic[4] = { 'S', 'B', 'L', 'K' };

	while (s->end > *at && s->end - *at >= BLOCK_HEADER) {
		uint64_t left = s->end - *at;
		size_t n = left < SEARCH_WINDOW ? (size_t)left : SEARCH_WINDOW;
		const uint8_t *hit;
		int rc = fill(s, *at, n);

		if (rc < 0)
			return rc;
		if (s->data.len < sizeof magic)
			return 0;
		hit = memmem(s->data.data, s->data.len, magic, sizeof magic);
		if (hit) {
			*at += (uint64_t)(hit - s->data.data);
			return 1;
		}
		*at += s->data.len - (sizeof magic - 1);
	}
	return 0;
}

int blocks_next(struct blocks *s, struct block *b)
{
	uint64_t at = s->at;
	bool cut;
	int rc;

	s->gap_at = s->at;
	s->gap = 0;
	rc = blocks_at(s, at, b);
	cut = s->cut;
	while (!rc && at < s->end && s->budget >= SEARCH_WINDOW) {
		s->budget -= SEARCH_WINDOW;
		at++;
		rc = search(s, &at);
		if (rc <= 0)
			break;
		rc = blocks_at(s, at, b);
	}
	s->cut = cut && !rc;
	if (rc < 0)
		return rc;
	s->gap = (rc ? at : s->end) - s->gap_at;
	s->at = rc ? at + BLOCK_HEADER + b->length : s->end;
	return rc;
}

/* ---- sections ---- */

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

/* Names and sentences, words of which come again anywhere. */
static const ZSTD_compressionParameters texts = {
	.strategy = ZSTD_lazy2,
	.windowLog = 17,
	.hashLog = 15,
	.chainLog = 15,
	.searchLog = 3,
	.minMatch = 4,
};

/* What a recording begins with are such texts. The end of a short command waits for them: in a
 * quarter of the time and half the memory, which has to be there first, they are 7 % larger. */
static const ZSTD_compressionParameters opening = {
	.strategy = ZSTD_dfast,
	.windowLog = 17,
	.hashLog = 13,
	.chainLog = 12,
	.searchLog = ZSTD_SEARCHLOG_MIN, /* not used by this strategy */
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
	const ZSTD_compressionParameters *all[] = { &numbers, &texts, &opening };

	*c = (struct compressor){ 0 };
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		size_t size = ZSTD_estimateCCtxSize_usingCParams(*all[i]);

		c->size = size > c->size ? size : c->size;
	}
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

/* Their size, or an error when they would be larger than the raw bytes. */
static size_t frames_write(struct compressor *c, uint8_t *to, size_t room, const uint8_t *raw,
			   const struct section_frame *f, uint32_t nframes)
{
	size_t stored = 0, rc = ZSTD_CCtx_reset(c->zstd, ZSTD_reset_session_only);

	/* A reader skips frames that say their size. A context in memory of our own does not begin
	 * with the default, which is to say it. */
	if (!ZSTD_isError(rc))
		rc = ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_contentSizeFlag, nframes > 1);
	for (uint32_t i = 0; i < nframes && !ZSTD_isError(rc); raw += f[i++].size) {
		rc = ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_targetLength, f[i].plain);
		if (!f[i].size || ZSTD_isError(rc))
			continue;
		rc = ZSTD_compress2(c->zstd, to + stored, room - stored, raw, f[i].size);
		stored += ZSTD_isError(rc) ? 0 : rc;
	}
	return ZSTD_isError(rc) ? rc : stored;
}

static void put(struct bytes *out, struct compressor *c, const uint8_t *raw,
		const struct section_frame *f, uint32_t nframes,
		const ZSTD_compressionParameters *p)
{
	size_t before = out->len, n = 0, stored, room;
	uint8_t *to;

	for (uint32_t i = 0; i < nframes; i++)
		n += f[i].size;
	bytes_varint(out, n);
	room = out->len - before; /* for the other size, which is seldom shorter when written */
	if (!bytes_room(out, room + n))
		return;
	to = out->data + out->len + room;
	stored = n && set_up(c, p) ? frames_write(c, to, n, raw, f, nframes) : n;
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
	put(out, c, raw, &(struct section_frame){ .size = n }, 1, &numbers);
}

void section_put_texts(struct bytes *out, struct compressor *c, const uint8_t *raw, size_t n)
{
	put(out, c, raw, &(struct section_frame){ .size = n }, 1, &texts);
}

void section_put_opening(struct bytes *out, struct compressor *c, const uint8_t *raw, size_t n)
{
	put(out, c, raw, &(struct section_frame){ .size = n }, 1, &opening);
}

void section_put_frames(struct bytes *out, struct compressor *c, const uint8_t *raw,
			const struct section_frame *f, uint32_t nframes)
{
	put(out, c, raw, f, nframes, &numbers);
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

/* One frame of a section, of which `left` raw bytes are missing, if anybody looks for it. Its raw
 * size, or an error of zstd's. */
static size_t frame_read(struct expander *x, uint8_t *to, size_t left, struct scan frame,
			 const struct section_wish *w, size_t done)
{
	size_t n = (size_t)(frame.end - frame.at);
	unsigned long long size = ZSTD_getFrameContentSize(frame.at, n);

	if (!w || size > left || w->is_needed(w->ctx, done, done + (size_t)size))
		return ZSTD_decompressDCtx(x->zstd, to, left, frame.at, n);
	memset(to, 0, size < SECTION_BEHIND ? (size_t)size : SECTION_BEHIND);
	return (size_t)size;
}

/* Without a wish all at once. */
static bool frames_read(struct expander *x, uint8_t *to, size_t size, struct scan in,
			const struct section_wish *w)
{
	size_t done = 0;

	while (in.at < in.end) {
		size_t left = (size_t)(in.end - in.at), got;
		size_t n = w ? ZSTD_findFrameCompressedSize(in.at, left) : left;

		if (ZSTD_isError(n))
			return false;
		got = frame_read(x, to + done, size - done,
				 (struct scan){ in.at, in.at + n, false }, w, done);
		if (ZSTD_isError(got))
			return false;
		done += got;
		in.at += n;
	}
	return done == size;
}

int section_get_some(struct scan *in, struct expander *x, size_t max, struct bytes *raw,
		     const struct section_wish *w)
{
	uint64_t size = scan_varint(in), stored = scan_varint(in);
	const uint8_t *from;

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
	if (!frames_read(x, raw->data, (size_t)size, (struct scan){ from, in->at, false }, w))
		return -EBADMSG;
	raw->len = (size_t)size;
	return 0;
}

int section_get(struct scan *in, struct expander *x, size_t max, struct bytes *raw)
{
	return section_get_some(in, x, max, raw, NULL);
}

/* ---- the head ---- */

void head_put(struct bytes *out, const struct head *h)
{
	bytes_put(out, h->id, sizeof h->id);
	bytes_u64(out, (uint64_t)h->utc_ns);
	bytes_u64(out, (uint64_t)h->mono_ns);
	bytes_u32(out, h->slot);
	bytes_text(out, h->host);
	bytes_text(out, h->program);
	bytes_u32(out, h->draft);
}

/* A text of so many bytes at most, with its end. */
static bool text_get(struct scan *in, char *out, size_t size)
{
	size_t n;
	const char *text = scan_text(in, &n);

	if (in->bad || n >= size)
		return false;
	if (n)
		memcpy(out, text, n);
	return true;
}

/* What the first drafts did not say. */
static bool writer_get(struct scan *in, struct head *h)
{
	if (in->at == in->end)
		return true;
	if (!text_get(in, h->program, sizeof h->program))
		return false;
	h->draft = scan_u32(in);
	return !in->bad;
}

bool head_get(struct scan in, struct head *h)
{
	const uint8_t *id = scan_take(&in, HEAD_ID);

	*h = (struct head){ 0 };
	if (id)
		memcpy(h->id, id, HEAD_ID);
	h->utc_ns = (int64_t)scan_u64(&in);
	h->mono_ns = (int64_t)scan_u64(&in);
	h->slot = scan_u32(&in);
	if (!text_get(&in, h->host, sizeof h->host) || !writer_get(&in, h) || h->utc_ns < 0 ||
	    h->utc_ns > UTC_MAX || h->mono_ns < 0 || h->mono_ns > MONO_MAX)
		return false;
	return true;
}

uint16_t head_read(int fd, struct head *h, uint16_t *version)
{
	uint8_t data[BLOCK_HEADER + HEAD_MAX];
	ssize_t n = pread(fd, data, sizeof data, 0);
	struct block b;

	if (n < 0 || !block_parse(&b, data, (size_t)n) ||
	    !head_get((struct scan){ .at = b.payload, .end = b.payload + b.length }, h))
		return 0;
	*version = b.version;
	return b.type;
}
