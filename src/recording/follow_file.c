/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One recording that is followed. Its tail tells which generation is being written; whatever is
 * older stands in blocks, which the writer appends before it begins the next. So the tail is looked
 * at first, then new blocks are read, then what was added to the tail's slot.
 */
#include "base/hash.h"
#include "recording/block.h"
#include "recording/follow_part.h"
#include "recording/format.h"
#include "recording/seal.h"
#include "recording/tail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What of the tail is of use now. */
struct newest {
	int fd; /* -1: there is no tail, or it is a stranger's */
	uint32_t slot;
	uint32_t generation; /* 0: nothing in it */
};

void follow_file_reset(struct follow_file *x)
{
	struct follow_node *n = &x->node;

	for (uint32_t i = 0; i < x->ninstances; i++) {
		free(x->instance[i].domain);
		free(x->instance[i].command_line);
	}
	for (uint32_t i = 0; i < n->nmetas; i++) {
		free(n->metas[i].key);
		free(n->metas[i].text);
	}
	idmap_free(&x->metrics);
	x->ninstances = x->nended = n->nseries = n->nmetas = 0;
	x->have_head = x->closed = x->broken = x->behind = x->moved = false;
	x->at = x->slot_at = 0;
	x->generation = x->sealed = 0;
	x->rows.n = 0;
	memset(&x->st, 0, sizeof x->st);
	memset(&x->head, 0, sizeof x->head);
	n->state = FOLLOW_WAITING;
	n->error = NULL;
	n->damages = 0;
	n->utc_ns = n->mono_ns = n->made_utc_ns = 0;
	n->first_utc_ns = n->first_mono_ns = n->last_mono_ns = 0;
	x->reached_ns = 0;
}

/* n bytes at an offset; false when there are not so many. */
static bool read_at(int fd, void *to, size_t n, uint64_t at)
{
	ssize_t got;

	do
		got = pread(fd, to, n, (off_t)at);
	while (got < 0 && errno == EINTR);
	return got == (ssize_t)n;
}

/* The head that a file begins with, in a block of this type. */
static bool head_of(int fd, uint16_t type, struct head *h)
{
	uint16_t version;

	return head_read(fd, h, &version) == type && version <= FORMAT_VERSION;
}

/* ---- values ---- */

/* The row that was read last becomes the node's newest sample; only: what it changed. */
static void row_show(struct follow_file *x, bool all)
{
	struct rows *r = &x->rows;

	for (uint32_t first = 0; first < r->n; first += 64) {
		uint64_t word = all ? UINT64_MAX : rows_changed(r, first);

		for (; word; word &= word - 1) {
			uint32_t i = first + (uint32_t)__builtin_ctzll(word);
			struct follow_series *s;

			if (i >= r->n)
				break;
			if (!r->place[i])
				continue;
			s = &x->node.series[r->place[i] - 1];
			if (s->present && !r->present[i])
				s->seen_ns = x->node.mono_ns; /* of the sample before */
			s->present = r->present[i];
			if (s->present)
				s->value = r->last[i];
		}
	}
	x->node.utc_ns = row_times_utc(&r->times);
	x->node.mono_ns = r->times.mono;
}

static bool tokens_take(struct rows *r, struct scan *in)
{
	const uint8_t *at = in->at;

	for (uint32_t first = 0; first < r->n; first += 64) {
		for (uint64_t word = rows_changed(r, first); word; word &= word - 1) {
			uint32_t i = first + (uint32_t)__builtin_ctzll(word);
			bool present = true;
			uint64_t zigzag;

			at = varint_read(at, in->end, &zigzag);
			if (at && zigzag)
				r->last[i] = (int64_t)((uint64_t)r->last[i] +
						       (uint64_t)zigzag_decode(zigzag));
			else if (at)
				at = row_token_other(at, in->end, &present, &r->last[i]);
			if (!at)
				return false;
			r->present[i] = present;
		}
	}
	return true;
}

static bool row_take(struct follow_file *x, struct scan *in)
{
	struct rows *r = &x->rows;
	int64_t before = r->times.mono, utc;
	bool all = x->behind;

	if (x->moved) {
		follow_places(x);
		all = true;
	}
	if (!rows_get(in, r) || !tokens_take(r, in))
		return false;
	utc = row_times_utc(&r->times);
	if (r->times.mono < before || r->times.mono > MONO_MAX || utc < 0 || utc > UTC_MAX)
		return false;
	x->behind = r->times.mono < x->node.mono_ns; /* a block had it already */
	if (!x->behind)
		row_show(x, all);
	return true;
}

/* The last values of a chunk that is newer than what is known, from its footer. */
static void chunk_show(struct follow_file *x, const struct chunk_reader *c)
{
	struct follow_node *n = &x->node;
	int64_t mono = c->nrows ? c->mono[c->nrows - 1] : 0;
	uint32_t k = 0;

	if (c->node != 1 || !c->nrows || mono <= n->mono_ns)
		return;
	if (!n->first_mono_ns) {
		n->first_utc_ns = c->utc[0];
		n->first_mono_ns = c->mono[0];
	}
	if (x->moved)
		follow_places(x);
	for (uint32_t i = 0; i < n->nseries; i++) {
		struct follow_series *s = &n->series[i];
		const struct range *range;

		if (s->present)
			s->seen_ns = n->mono_ns;
		s->present = false;
		while (k < c->ncolumns && c->column[k].range.series < s->id)
			k++;
		if (k == c->ncolumns || c->column[k].range.series != s->id)
			continue;
		range = &c->column[k].range;
		s->value = range->last;
		s->seen_ns = range->last_ns;
		s->present = range->last_ns == mono;
	}
	n->mono_ns = mono;
	n->utc_ns = c->utc[c->nrows - 1];
	x->behind = true;
}

/* ---- blocks ---- */

static int records_take(struct follow *f, struct follow_file *x, struct scan *in)
{
	struct record r;
	int rc;

	while ((rc = record_get(in, &r, &f->record)) > 0) {
		rc = follow_event(f, x, &r);
		pool_empty(&f->record);
		if (rc)
			return rc;
	}
	pool_empty(&f->record);
	return rc;
}

/* What a block says of open series is older than what the tail says of a later generation. */
static int events_take(struct follow *f, struct follow_file *x, const struct block *b)
{
	uint64_t generation;
	int rc = file_events(b, &f->chunk.expander, &generation, &f->events);
	struct scan in = { .at = f->events.data, .end = f->events.data + f->events.len };

	if (rc)
		return rc;
	if (generation > x->sealed && generation <= UINT32_MAX)
		x->sealed = (uint32_t)generation;
	x->late = generation < x->generation;
	rc = records_take(f, x, &in);
	x->late = false;
	return rc;
}

static int chunk_take(struct follow *f, struct follow_file *x, const struct block *b)
{
	int rc = chunk_read(&f->chunk, b->payload, b->length);

	if (rc)
		return rc;
	if (f->chunk.generation > x->sealed)
		x->sealed = f->chunk.generation;
	chunk_show(x, &f->chunk);
	return 0;
}

static int block_take(struct follow *f, struct follow_file *x, const struct block *b)
{
	switch (b->type) {
	case BLOCK_EVENTS:
		return events_take(f, x, b);
	case BLOCK_CHUNK:
		return chunk_take(f, x, b);
	case BLOCK_END:
		x->closed = b->length > 0 && b->payload[0] == 1;
		return 0;
	default:
		return 0;
	}
}

/* The blocks that were added. One that is being written stays for the next time. */
static int blocks_take(struct follow *f, struct follow_file *x, int fd)
{
	struct blocks s;
	struct block b;
	int rc = blocks_init(&s, fd);

	if (rc)
		return rc == -EINVAL ? 0 : rc;
	s.at = x->at;
	while ((rc = blocks_next(&s, &b)) > 0) {
		x->node.damages += s.gap > 0;
		x->at = s.at;
		x->closed = false;
		rc = b.version > FORMAT_VERSION ? 0 : block_take(f, x, &b);
		x->node.damages += rc == -EBADMSG;
		if (rc && rc != -EBADMSG)
			break;
	}
	blocks_free(&s);
	return rc;
}

static bool same_time(const struct stat *a, const struct stat *b)
{
	return !memcmp(&a->st_mtim, &b->st_mtim, sizeof a->st_mtim);
}

/* Whether the file is still the recording that was read so far: the head's id tells. */
static void sonde_check(struct follow_file *x, int fd, const struct stat *st)
{
	struct head h;
	bool good;

	if (x->have_head && st->st_ino == x->st.st_ino && st->st_dev == x->st.st_dev &&
	    st->st_size >= x->st.st_size && same_time(st, &x->st))
		return;
	good = head_of(fd, BLOCK_HEAD, &h);
	if (x->have_head &&
	    (good ? memcmp(h.id, x->head.id, HEAD_ID) != 0 : (uint64_t)st->st_size < x->at)) {
		follow_file_reset(x);
		x->node.replaced++;
	}
	if (good) {
		x->head = h;
		x->have_head = true;
		x->node.made_utc_ns = h.utc_ns;
	}
}

static int sonde_take(struct follow *f, struct follow_file *x, int fd)
{
	struct stat st;
	int rc = 0;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	if ((uint64_t)st.st_size > x->at &&
	    (st.st_size != x->st.st_size || !same_time(&st, &x->st)))
		rc = blocks_take(f, x, fd);
	x->st = st;
	return rc;
}

/* ---- the tail ---- */

/* The commit at an offset of a slot, of this generation or (0) of any, into f->data. Its size with
 * the header; 0: it is not there, not whole yet, or damaged. */
static size_t commit_read(struct follow *f, const struct newest *t, uint32_t slot, uint64_t at,
			  uint32_t *generation)
{
	uint64_t from = TAIL_SLOTS_AT + (uint64_t)slot * t->slot + at;
	uint8_t head[COMMIT_HEADER];
	struct scan in = { .at = head, .end = head + sizeof head };
	uint32_t length, of, crc;

	if (at + sizeof head > t->slot || !read_at(t->fd, head, sizeof head, from))
		return 0;
	length = scan_u32(&in);
	of = scan_u32(&in);
	crc = scan_u32(&in);
	if (!length || length > t->slot - at - sizeof head || !of ||
	    (*generation && of != *generation))
		return 0;
	bytes_reset(&f->data);
	if (!bytes_room(&f->data, length) ||
	    !read_at(t->fd, f->data.data, length, from + sizeof head) ||
	    crc32c(crc32c(0, head, 8), f->data.data, length) != crc)
		return 0;
	f->data.len = length;
	*generation = of;
	return sizeof head + length;
}

/* A commit that is malformed makes the rest of its generation unreadable, since every row is the
 * difference to the one before. */
static int commit_take(struct follow *f, struct follow_file *x)
{
	struct scan in = { .at = f->data.data, .end = f->data.data + f->data.len };
	uint8_t flags = scan_u8(&in);
	int rc;

	if (flags & ~COMMIT_FLAGS)
		return -EBADMSG;
	if (flags & COMMIT_LIST) {
		x->moved = true;
		if (!rows_list_get(&in, &x->rows))
			return -EBADMSG;
		rows_restart(&x->rows);
		x->behind = true;
	}
	rc = records_take(f, x, &in);
	if (rc || !(flags & COMMIT_ROW))
		return rc;
	return row_take(x, &in) ? 0 : -EBADMSG;
}

static int slot_take(struct follow *f, struct follow_file *x, const struct newest *t)
{
	uint32_t slot = t->generation % TAIL_SLOTS;
	size_t size;

	if (t->generation <= x->sealed)
		return 0; /* the blocks had all of it meanwhile */
	if (t->generation != x->generation) {
		x->generation = t->generation;
		x->slot_at = 0;
		x->broken = false;
	}
	while (!x->broken && (size = commit_read(f, t, slot, x->slot_at, &x->generation))) {
		int rc = commit_take(f, x);

		if (rc == -ENOMEM)
			return rc;
		x->broken = rc != 0;
		x->node.damages += x->broken;
		x->slot_at += size;
	}
	return f->data.failed ? -ENOMEM : 0;
}

/* Which generation is written now. What an older one left in a slot is no news. */
static void tail_look(struct follow *f, struct follow_file *x, struct newest *t)
{
	struct head h;

	t->generation = 0;
	if (t->fd < 0 || !head_of(t->fd, BLOCK_TAIL, &h) || h.slot > TAIL_SLOT_MAX ||
	    (x->have_head && memcmp(h.id, x->head.id, HEAD_ID)))
		return;
	t->slot = h.slot;
	for (uint32_t i = 0; i < TAIL_SLOTS; i++) {
		uint32_t generation = 0;

		if (commit_read(f, t, i, 0, &generation) && generation > t->generation &&
		    generation >= x->generation && generation % TAIL_SLOTS == i)
			t->generation = generation;
	}
}

static void state_set(struct follow_file *x, bool readable, int error)
{
	struct follow_node *n = &x->node;

	n->error = NULL;
	if (x->closed)
		n->last_mono_ns = n->mono_ns;
	if (x->closed)
		n->state = FOLLOW_ENDED;
	else if (x->have_head)
		n->state = FOLLOW_OPEN;
	else
		n->state = FOLLOW_WAITING;
	if (!readable && error != ENOENT) {
		n->state = FOLLOW_UNREADABLE;
		n->error = strerror(error);
	}
}

/* The values of the newest sample are of its time. */
static void times_set(struct follow_file *x)
{
	for (uint32_t i = 0; i < x->node.nseries; i++) {
		if (x->node.series[i].present)
			x->node.series[i].seen_ns = x->node.mono_ns;
	}
}

int follow_file_poll(struct follow *f, struct follow_file *x)
{
	int fd = openat(f->dir, x->sonde, O_RDONLY | O_CLOEXEC | O_NONBLOCK), error = errno, rc;
	struct newest t = { .fd = -1 };
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st))
		sonde_check(x, fd, &st);
	if (fd >= 0 && !x->closed)
		t.fd = openat(f->dir, x->tail, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	tail_look(f, x, &t);
	rc = sonde_take(f, x, fd);
	if (!rc && t.generation)
		rc = slot_take(f, x, &t);
	if (x->moved && !rc)
		follow_places(x);
	times_set(x);
	state_set(x, fd >= 0, error);
	if (t.fd >= 0)
		close(t.fd);
	if (fd >= 0)
		close(fd);
	return rc;
}
