/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/block.h"

#include "base/crc32c.h"
#include "recording/format.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
