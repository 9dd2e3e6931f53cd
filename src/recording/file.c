/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/file.h"

#include "base/array.h"
#include "recording/codeblock.h"
#include "recording/format.h"
#include "recording/seal.h"
#include "recording/tail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	/* Expanded events may be so large, whatever their compressed size, and so many times larger
	 * beyond that: what a writer can make, and no more. */
	EVENTS_LEAST = 512 << 10,
	EVENTS_RATIO = 64,
};

struct reading {
	const struct file_visitor *v;
	struct file_found *found;
	struct tail tail;
	bool have_tail;
	unsigned sealed_already[TAIL_SLOTS]; /* SEAL_ bits of the tail's generations found in blocks
					      */
	struct head head;
	bool have_head, have_end;
	uint32_t generation; /* last that was found in a block */
	uint32_t chunked;    /* last whose rows were found, too */
	uint32_t next_sequence;
	bool gap_reported;    /* since the last good block */
	uint64_t cut_at, cut; /* a block that is cut off by the end of the file */
	struct chunk_reader *chunk;
	const struct file_block *scanned; /* the block being taken, of a scan; NULL: it is read */
	struct bytes events;
};

static void damage(struct reading *g, const struct block *b, const char *what)
{
	g->v->damage(g->v->ctx, false, b->offset, BLOCK_HEADER + (uint64_t)b->length, what);
	g->gap_reported = true;
}

/* This generation's part is in a block: the tail's copy is not needed. */
static void generation_found(struct reading *g, uint64_t generation, unsigned part)
{
	if (generation > g->generation && generation <= UINT32_MAX)
		g->generation = (uint32_t)generation;
	if (part == SEAL_CHUNK && generation > g->chunked && generation <= UINT32_MAX)
		g->chunked = (uint32_t)generation;
	for (int i = 0; i < TAIL_SLOTS; i++) {
		if (g->tail.slot[i].generation == generation)
			g->sealed_already[i] |= part;
	}
}

static int head_take(struct reading *g, const struct block *b)
{
	struct scan in = { .at = b->payload, .end = b->payload + b->length };

	if (g->have_head || !head_get(in, &g->head))
		return -EBADMSG;
	g->have_head = true;
	return g->v->head(g->v->ctx, &g->head);
}

int file_events(const struct block *b, struct expander *x, uint64_t *generation,
		struct bytes *records)
{
	struct scan in = { .at = b->payload, .end = b->payload + b->length };
	size_t max = EVENTS_LEAST + (size_t)b->length * EVENTS_RATIO;

	if (b->type == BLOCK_CODE)
		return codeblock_get(b, x, generation, max, records);
	*generation = scan_varint(&in);
	return section_get(&in, x, max, records);
}

static int events_take(struct reading *g, const struct block *b)
{
	uint64_t generation;
	int rc = file_events(b, &g->chunk->expander, &generation, &g->events);
	struct scan in;
	struct record r;

	if (!rc) {
		in = (struct scan){ .at = g->events.data, .end = g->events.data + g->events.len };
		while ((rc = record_get(&in, &r, g->v->pool)) > 0) {
			rc = g->v->event(g->v->ctx, &r);
			if (rc)
				return rc;
		}
	}
	if (!rc)
		generation_found(g, generation, b->type == BLOCK_CODE ? SEAL_CODE : SEAL_EVENTS);
	return rc;
}

/* What a chunk is; its reader has more of it until the next. */
static int chunk_look(struct file_chunk *c, struct chunk_reader *r, const struct block *b)
{
	int rc = chunk_read(r, b->payload, b->length);

	*c = (struct file_chunk){ .offset = b->offset, .length = b->length };
	if (rc)
		return rc;
	c->node = r->node;
	c->generation = r->generation;
	c->nrows = r->nrows;
	c->ncolumns = r->ncolumns;
	c->first_utc_ns = r->utc[0];
	c->first_mono_ns = r->mono[0];
	c->last_mono_ns = r->mono[r->nrows - 1];
	return 0;
}

static int chunk_take(struct reading *g, const struct block *b, bool in_memory)
{
	struct file_chunk c;
	int rc;

	if (g->scanned && !in_memory) {
		rc = g->scanned->rc;
		c = g->scanned->chunk;
	} else {
		rc = chunk_look(&c, g->chunk, b);
	}
	if (rc)
		return rc;
	if (in_memory)
		c.memory = b->payload;
	generation_found(g, c.generation, SEAL_CHUNK);
	return g->v->chunk(g->v->ctx, &c);
}

static int content_take(struct reading *g, const struct block *b, bool in_memory)
{
	switch (b->type) {
	case BLOCK_HEAD:
		return head_take(g, b);
	case BLOCK_EVENTS:
	case BLOCK_CODE:
		return events_take(g, b);
	case BLOCK_CHUNK:
		return chunk_take(g, b, in_memory);
	case BLOCK_SPANS:
		return g->v->spans && !in_memory ? g->v->spans(g->v->ctx, b) : 0;
	case BLOCK_END:
		g->found->closed = b->length > 0 && b->payload[0] == 1;
		g->have_end = true;
		return 0;
	default:
		return 0; /* of a later kind */
	}
}

/* What is undamaged and means nothing was written by who means something else by it. */
static bool is_foreign(struct reading *g)
{
	g->found->foreign |= g->have_head && g->head.draft != FORMAT_DRAFT;
	return g->found->foreign;
}

static int block_take(struct reading *g, const struct block *b, bool in_memory)
{
	int rc = content_take(g, b, in_memory);

	if (rc == -EBADMSG && is_foreign(g))
		return -EPROTO;
	if (rc == -EBADMSG) {
		damage(g, b, "a block whose content is malformed");
		return 0;
	}
	return !rc && g->v->block ? g->v->block(g->v->ctx, b) : rc;
}

/* Gaps in the file and in the blocks' numbers. False: the block is out of order, and left out. */
static bool order_check(struct reading *g, const struct blocks *s, const struct block *b)
{
	if (s->gap) {
		g->v->damage(g->v->ctx, false, s->gap_at, s->gap,
			     "bytes that are not an undamaged block");
		g->gap_reported = true;
	}
	if (b->sequence < g->next_sequence) {
		damage(g, b, "a block is out of order");
		return false;
	}
	if (b->sequence > g->next_sequence && !g->gap_reported)
		g->v->damage(g->v->ctx, false, b->offset, 0, "blocks are missing here");
	g->next_sequence = b->sequence + 1;
	g->gap_reported = false;
	return true;
}

static void future_found(struct reading *g, uint16_t version)
{
	g->found->future = true;
	if (version > g->found->version)
		g->found->version = version;
}

static int taken(struct reading *g, const struct blocks *s, const struct block *b)
{
	if (!order_check(g, s, b))
		return 0;
	g->found->closed = g->have_end = false; /* an end is an end only at the end */
	if (b->version > FORMAT_VERSION) {
		future_found(g, b->version);
		return 0;
	}
	g->found->blocks++;
	return block_take(g, b, false);
}

static void end_taken(struct reading *g, const struct blocks *s)
{
	if (s->gap && s->cut) {
		g->cut_at = s->gap_at;
		g->cut = s->gap;
	} else if (s->gap) {
		g->v->damage(g->v->ctx, false, s->gap_at, s->gap,
			     "bytes that are not an undamaged block");
	}
}

static int blocks_take(struct reading *g, int fd)
{
	struct blocks s;
	struct block b;
	int rc = blocks_init(&s, fd);

	if (rc)
		return rc;
	while ((rc = blocks_next(&s, &b)) > 0) {
		rc = taken(g, &s, &b);
		if (rc)
			break;
	}
	if (!rc)
		end_taken(g, &s);
	blocks_free(&s);
	return rc;
}

/* ---- beforehand ---- */

enum { SCAN_BLOCKS = 1 << 16, SCAN_BYTES = 4 << 20 };

/* The same blocks, as they were found. */
static int scanned_take(struct reading *g, const struct file_scan *from)
{
	size_t at = 0;
	int rc = 0;

	for (uint32_t i = 0; i < from->n && !rc; i++) {
		const struct file_block *f = &from->block[i];
		struct blocks s = { .gap_at = f->gap_at, .gap = f->gap, .cut = f->cut };
		struct block b = f->block;

		if (i + 1 == from->n) {
			rc = from->rc;
			if (!rc)
				end_taken(g, &s);
			break;
		}
		if (b.type != BLOCK_CHUNK) {
			b.payload = b.length ? from->payloads.data + at : (const uint8_t *)"";
			at += b.length;
		}
		g->scanned = f;
		rc = taken(g, &s, &b);
	}
	g->scanned = NULL;
	return from->n ? rc : from->rc;
}

static bool scan_add(struct file_scan *to, const struct blocks *s, const struct block *b,
		     struct chunk_reader *reader)
{
	struct file_block *f = array_room(to->block, to->n, &to->cap, sizeof *f);

	if (!f)
		return false;
	to->block = f;
	f += to->n++;
	*f = (struct file_block){ .gap_at = s->gap_at, .gap = s->gap, .cut = s->cut };
	if (!b)
		return true;
	f->block = *b;
	f->block.payload = NULL;
	if (b->type != BLOCK_CHUNK)
		bytes_put(&to->payloads, b->payload, b->length);
	else if (b->version <= FORMAT_VERSION)
		f->rc = chunk_look(&f->chunk, reader, b);
	return !to->payloads.failed && to->n < SCAN_BLOCKS && to->payloads.len <= SCAN_BYTES;
}

static bool scan_blocks(struct file_scan *to, int fd, struct chunk_reader *reader)
{
	struct blocks s;
	struct block b;
	bool all = true;

	to->rc = blocks_init(&s, fd);
	if (to->rc)
		return true;
	while (all && (to->rc = blocks_next(&s, &b)) > 0)
		all = scan_add(to, &s, &b, reader);
	all = all && scan_add(to, &s, NULL, reader);
	blocks_free(&s);
	return all;
}

bool file_scan(struct file_scan *s, int dirfd, const char *sonde, const char *tail,
	       struct chunk_reader *reader)
{
	bool all = true;
	int fd;

	*s = (struct file_scan){ 0 };
	s->tail_rc = tail ? tail_read(&s->tail, dirfd, tail) : -ENOENT;
	fd = openat(dirfd, sonde, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		s->rc = -errno;
	else
		all = scan_blocks(s, fd, reader);
	if (fd >= 0)
		close(fd);
	if (!all)
		file_scan_free(s);
	return all;
}

void file_scan_free(struct file_scan *s)
{
	tail_free(&s->tail);
	free(s->block);
	bytes_free(&s->payloads);
	*s = (struct file_scan){ 0 };
}

/* ---- the tail ---- */

static void slot_damage(struct reading *g, const struct tail_slot *s)
{
	if (s->lost_at && !g->found->closed)
		g->v->damage(g->v->ctx, true, s->lost_at, 0,
			     s->torn ? "the last sample is not whole: it is damaged, or was just "
				       "being written"
				     : "samples from here on cannot be read");
}

static int slot_seal(struct reading *g, struct sealer *sealer, int i)
{
	const struct tail_slot *s = &g->tail.slot[i];
	struct image image = { s->data, s->len, 1, s->generation };
	/* The block of code lies before that of events, which may have it itself. */
	unsigned code = g->sealed_already[i] & SEAL_EVENTS ? 0 : SEAL_CODE;
	unsigned which = (code | SEAL_EVENTS | SEAL_CHUNK) & ~g->sealed_already[i];
	/* A block that is cut off has this generation, or the rows of the one before it. */
	bool follows =
		s->generation == g->generation + 1 && (!g->cut || g->chunked == g->generation);
	int rc;

	if (!which || !s->generation) {
		if (which)
			slot_damage(g, s);
		return 0;
	}
	if (s->generation > g->generation && !follows)
		g->v->damage(g->v->ctx, true, tail_slot_at(g->tail.head.slot, s->generation), 0,
			     "samples before this slot's are missing");
	slot_damage(g, s);
	rc = seal(sealer, &image, which, &g->next_sequence, &g->found->sealed);
	if (rc == -EBADMSG && is_foreign(g))
		return -EPROTO;
	if (rc == -EBADMSG) {
		g->v->damage(g->v->ctx, true, tail_slot_at(g->tail.head.slot, s->generation),
			     s->len, "samples are malformed");
		return 0;
	}
	/* What a block held that is cut off, because it was just being written, is here. */
	if (follows || (s->generation == g->generation && which & SEAL_CHUNK))
		g->cut = 0;
	if (s->generation >= g->generation)
		g->generation = g->chunked = s->generation;
	return rc;
}

/* Walk the blocks that were just made; their memory no longer moves. */
static int sealed_take(struct reading *g)
{
	const struct bytes *sealed = &g->found->sealed;
	struct block b;
	int rc = 0;

	for (size_t at = 0; !rc && at < sealed->len; at += BLOCK_HEADER + b.length) {
		if (!block_parse(&b, sealed->data + at, sealed->len - at))
			return -EBADMSG;
		rc = block_take(g, &b, true);
	}
	return rc;
}

static int tail_take(struct reading *g)
{
	struct sealer sealer;
	int rc;

	if (g->have_head && memcmp(g->head.id, g->tail.head.id, HEAD_ID)) {
		g->v->damage(g->v->ctx, true, 0, 0,
			     "it belongs to another recording and is left out");
		return 0;
	}
	if (!g->have_head) {
		g->head = g->tail.head;
		g->have_head = true;
		rc = g->v->head(g->v->ctx, &g->head);
		if (rc)
			return rc;
	}
	rc = sealer_init(&sealer, g->tail.head.slot, COLUMNS_MAX, VALUES_MAX);
	for (int i = 0; !rc && i < TAIL_SLOTS; i++)
		rc = slot_seal(g, &sealer, i);
	if (!rc && g->tail.begun > g->generation && !g->found->closed)
		g->v->damage(g->v->ctx, true, tail_slot_at(g->tail.head.slot, g->tail.begun), 0,
			     "its samples were erased");
	if (!rc)
		rc = sealed_take(g);
	sealer_free(&sealer);
	return rc;
}

static int sonde_take(struct reading *g, int dirfd, const char *sonde)
{
	int fd, rc;

	if (g->v->scan)
		return scanned_take(g, g->v->scan);
	fd = openat(dirfd, sonde, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	rc = blocks_take(g, fd);
	close(fd);
	return rc;
}

static const char *tail_fault(const struct tail *t, int rc)
{
	switch (rc) {
	case 0:
		return t->cut ? "it is truncated: samples since the last block may be missing"
			      : NULL;
	case -ENOENT:
		return "it is missing: samples since the last block may be missing";
	case -ENODATA:
		return "it is empty: samples since the last block may be missing";
	case -EBADMSG:
		return "its head cannot be read: samples since the last block may be missing";
	case -EPROTO:
		return NULL; /* the file's version is told */
	default:
		return "it cannot be read: samples since the last block may be missing";
	}
}

/* A recording without an end has a tail, whole from before its first block. One that began while it
 * was read has it now. */
static void tail_check(struct reading *g, int dirfd, const char *tail, int rc)
{
	const char *fault = g->have_end ? NULL : tail_fault(&g->tail, rc);
	struct tail now = { 0 };
	uint64_t at = g->tail.data.len;

	if (fault)
		fault = tail_fault(&now, tail ? tail_read(&now, dirfd, tail) : -ENOENT);
	tail_free(&now);
	if (fault)
		g->v->damage(g->v->ctx, true, at, 0, fault);
}

static int files_take(struct reading *g, int dirfd, const char *sonde, const char *tail,
		      int tail_rc)
{
	int rc = sonde_take(g, dirfd, sonde);

	if (rc == -ENOENT && g->have_tail)
		rc = 0;
	if (tail_rc == -EPROTO)
		future_found(g, g->tail.version);
	if (!rc && (g->found->blocks || g->have_tail))
		tail_check(g, dirfd, tail, tail_rc);
	if (!rc && g->have_tail)
		rc = tail_take(g);
	if (!rc && g->cut)
		g->v->damage(g->v->ctx, false, g->cut_at, g->cut,
			     "the file is truncated inside a block");
	if (rc)
		return rc;
	if (g->found->blocks || g->have_tail)
		return 0;
	return g->found->future ? -EPROTO : -ENODATA;
}

int file_read(int dirfd, const char *sonde, const char *tail, const struct file_visitor *v,
	      struct file_found *found)
{
	struct reading g = { .v = v, .found = found, .chunk = v->reader };
	int rc, tail_rc;

	*found = (struct file_found){ 0 };
	if (v->scan) {
		tail_rc = v->scan->tail_rc;
		g.tail = v->scan->tail;
		v->scan->tail = (struct tail){ 0 };
	} else {
		tail_rc = tail ? tail_read(&g.tail, dirfd, tail) : -ENOENT;
	}
	g.have_tail = !tail_rc;
	rc = tail_rc == -ENOMEM ? -ENOMEM : files_take(&g, dirfd, sonde, tail, tail_rc);
	if (v->scan)
		file_scan_free(v->scan);
	tail_free(&g.tail);
	bytes_free(&g.events);
	return rc;
}
