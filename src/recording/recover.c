/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/recover.h"

#include "recording/format.h"
#include "recording/join_part.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct copy {
	const struct join_file *file;
	int fd;
	uint32_t sequence;
	uint64_t rows;
	uint32_t generation;
	struct bytes out; /* a block before it is written */
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

static int block_copy(void *ctx, const struct block *b)
{
	struct copy *c = ctx;
	size_t start;

	if (b->type == BLOCK_HEAD || b->type == BLOCK_END)
		return 0; /* they are made anew */
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

	c->rows += chunk->read->nrows;
	c->generation = chunk->read->generation;
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

static int file_copy(struct join *j, struct copy *c, int to)
{
	const struct join_file *f = c->file;
	const struct file_visitor v = { .ctx = c,
					.head = head_ignore,
					.event = event_ignore,
					.chunk = chunk_count,
					.reader = &j->chunk,
					.damage = damage_ignore,
					.block = block_copy };
	struct file_found found;
	int rc;

	c->fd = openat(to, f->sonde, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (c->fd < 0)
		return -errno;
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
		unlinkat(to, f->sonde, 0);
	bytes_free(&c->out);
	return rc;
}

int recover(struct run *r, int to, void (*wrote)(void *ctx, const char *name), void *ctx,
	    struct err *e)
{
	struct join *j = r->reader;

	for (uint32_t i = 0; i < j->nfiles; i++) {
		struct copy c = { .file = &j->files[i] };
		int rc = file_copy(j, &c, to);

		if (rc == -ENODATA || rc == -EPROTO)
			continue; /* nothing of this one can be read: the run's damages say so */
		if (rc)
			return err_set(e, rc, "cannot write %.200s: %s", j->files[i].sonde,
				       strerror(-rc));
		wrote(ctx, j->files[i].sonde);
	}
	return 0;
}
