/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/recover.h"

#include "recording/block.h"
#include "recording/format.h"
#include "recording/join_part.h"
#include "recording/record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* What it is called until all are whole: no reader takes it for a recording. */
struct part_name {
	char text[NAME_MAX + 1];
};

struct copy {
	const struct join_file *file;
	int fd;
	uint32_t sequence;
	uint64_t rows;
	uint32_t generation;
	struct bytes out; /* a block before it is written */
	bool public;      /* without what is private */
	struct expander expander;
	struct compressor compressor;
	struct bytes records, kept; /* of a block of events, before and after */
	struct pool pool;
};

static int out_write(struct copy *c)
{
	const uint8_t *at = c->out.data;
	size_t left = c->out.len;

	if (c->out.failed)
		return -ENOMEM;
	while (left) {
		ssize_t n = write(c->fd, at, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENOSPC;
		at += n;
		left -= (size_t)n;
	}
	bytes_reset(&c->out);
	return 0;
}

static int copy_init(struct copy *c)
{
	if (!c->public)
		return 0;
	return expander_init(&c->expander) || compressor_init(&c->compressor) ? -ENOMEM : 0;
}

static void copy_free(struct copy *c)
{
	bytes_free(&c->out);
	bytes_free(&c->records);
	bytes_free(&c->kept);
	pool_free(&c->pool);
	expander_free(&c->expander);
	compressor_free(&c->compressor);
}

/* Its records but for what is private, or of a kind that nobody here knows. */
static int events_copy(struct copy *c, const struct block *b)
{
	uint64_t generation;
	int rc = file_events(b, &c->expander, &generation, &c->records);
	struct scan in = { .at = c->records.data, .end = c->records.data + c->records.len };
	struct record r;
	size_t start;

	bytes_reset(&c->kept);
	while (!rc && (rc = record_get(&in, &r, &c->pool)) > 0) {
		if ((r.event.kind != EVENT_META && r.event.kind != EVENT_LABEL) ||
		    !key_is_private(r.event.name))
			bytes_put(&c->kept, r.start, (size_t)(in.at - r.start));
		rc = 0;
	}
	pool_free(&c->pool);
	if (rc || c->kept.failed)
		return rc ? rc : -ENOMEM;
	start = block_start(&c->out, BLOCK_EVENTS, c->sequence++);
	bytes_varint(&c->out, generation);
	section_put(&c->out, &c->compressor, c->kept.data, c->kept.len);
	block_finish(&c->out, start);
	return out_write(c);
}

static int block_copy(void *ctx, const struct block *b)
{
	struct copy *c = ctx;
	size_t start;

	if (b->type == BLOCK_HEAD || b->type == BLOCK_END)
		return 0; /* they are made anew */
	if (b->type == BLOCK_EVENTS && c->public)
		return events_copy(c, b);
	if (b->type >= BLOCK_TYPE_NUMBER_OF && c->public)
		return 0; /* what is in it may be private */
	start = block_start(&c->out, b->type, c->sequence++);
	bytes_put(&c->out, b->payload, b->length);
	block_finish(&c->out, start);
	return out_write(c);
}

static int head_ignore(void *ctx, const struct head *h)
{
	(void)ctx;
	(void)h;
	return 0;
}

static int event_ignore(void *ctx, const struct record *r)
{
	(void)ctx;
	(void)r;
	return 0;
}

static int chunk_count(void *ctx, const struct file_chunk *chunk)
{
	struct copy *c = ctx;

	c->rows += chunk->nrows;
	c->generation = chunk->generation;
	return 0;
}

static void damage_ignore(void *ctx, bool in_tail, uint64_t offset, uint64_t length,
			  const char *what)
{
	(void)ctx;
	(void)in_tail;
	(void)offset;
	(void)length;
	(void)what; /* known since run_open */
}

static int head_write(struct copy *c)
{
	size_t start = block_start(&c->out, BLOCK_HEAD, c->sequence++);
	struct head h = c->file->head;

	h.slot = 0;
	head_put(&c->out, &h);
	block_finish(&c->out, start);
	return out_write(c);
}

static int end_write(struct copy *c, bool closed)
{
	size_t start = block_start(&c->out, BLOCK_END, c->sequence++);

	bytes_u8(&c->out, closed);
	bytes_varint(&c->out, c->generation);
	bytes_varint(&c->out, c->rows);
	block_finish(&c->out, start);
	return out_write(c);
}

static bool is_damaged(const struct run *r, const struct join_file *f)
{
	for (uint32_t i = 0; i < r->ndamages; i++) {
		if (r->damages[i].file == f->path || r->damages[i].file == f->tail_path)
			return true;
	}
	return false;
}

static int part_of(const char *name, struct part_name *part)
{
	int n = snprintf(part->text, sizeof part->text, ".%s.part", name);

	return n < 0 || (size_t)n >= sizeof part->text ? -ENAMETOOLONG : 0;
}

/* Into its part, in place of one that a killed recovery has left. */
static int file_copy(struct join *j, struct copy *c, int to)
{
	const struct join_file *f = c->file;
	struct part_name part;
	const struct file_visitor v = { .ctx = c,
					.head = head_ignore,
					.event = event_ignore,
					.chunk = chunk_count,
					.reader = &j->load.read,
					.damage = damage_ignore,
					.block = block_copy };
	struct file_found found;
	int rc = part_of(f->sonde, &part);

	if (rc)
		return rc;
	if (!faccessat(to, f->sonde, F_OK, AT_SYMLINK_NOFOLLOW))
		return -EEXIST;
	unlinkat(to, part.text, 0);
	c->fd = openat(to, part.text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (c->fd < 0)
		return -errno;
	rc = copy_init(c);
	if (!rc)
		rc = head_write(c);
	if (!rc) {
		rc = file_read(j->dir, f->sonde, f->tail, &v, &found);
		bytes_free(&found.sealed);
	}
	if (!rc)
		rc = end_write(c, found.closed && !is_damaged(&j->run, f));
	if (!rc && fdatasync(c->fd) < 0)
		rc = -errno;
	close(c->fd);
	if (rc)
		unlinkat(to, part.text, 0);
	copy_free(c);
	return rc;
}

static int cannot_write(const char *name, int rc, struct err *e)
{
	return err_set(e, rc, "cannot write %.200s: %s", name, strerror(-rc));
}

/* copied: for each file whether it has a part. */
static int copy_all(struct join *j, int to, bool public, bool *copied, struct err *e)
{
	for (uint32_t i = 0; i < j->nfiles; i++) {
		struct copy c = { .file = &j->files[i], .public = public };
		int rc = file_copy(j, &c, to);

		if (rc == -ENODATA || rc == -EPROTO)
			continue; /* nothing of this one can be read: the run's damages say so */
		if (rc)
			return cannot_write(j->files[i].sonde, rc, e);
		copied[i] = true;
	}
	return 0;
}

/* Their names, now that all are whole; after a failure none. */
static int name_all(const struct join *j, int to, const bool *copied, int rc, struct err *e)
{
	struct part_name part;

	for (uint32_t i = 0; i < j->nfiles; i++) {
		const char *name = j->files[i].sonde;

		if (!copied[i])
			continue;
		part_of(name, &part);
		if (!rc && renameat(to, part.text, to, name))
			rc = cannot_write(name, -errno, e);
		if (rc)
			unlinkat(to, part.text, 0);
	}
	return rc;
}

int recover(struct run *r, int to, bool public, void (*wrote)(void *ctx, const char *name),
	    void *ctx, struct err *e)
{
	struct join *j = r->reader;
	bool *copied;
	int rc;

	/* Where directories have no locks, two at once are the user's business. */
	if (flock(to, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		return err_set(e, -EWOULDBLOCK, "another `sonde recover` writes to the same place");
	copied = calloc(j->nfiles + 1u, sizeof(*copied));
	if (!copied)
		return err_set(e, -ENOMEM, "out of memory for %u files", j->nfiles);
	rc = copy_all(j, to, public, copied, e);
	rc = name_all(j, to, copied, rc, e);
	for (uint32_t i = 0; i < j->nfiles && !rc; i++)
		if (copied[i] && wrote)
			wrote(ctx, j->files[i].sonde);
	free(copied);
	return rc;
}
