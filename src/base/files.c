/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- directories ---- */

int folder_make(const char *path, struct err *e)
{
	/* Whatever the umask is: its owner writes into it. */
	if (mkdir(path, 0700) ? errno != EEXIST : chmod(path, 0700))
		return err_set(e, -errno, "cannot make the directory %.300s: %s", path,
			       strerror(errno));
	return 0;
}

int folder_make_own(const char *path, struct err *e)
{
	int rc = folder_make(path, e), fd;

	if (rc)
		return rc;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, -errno,
			       "%.300s is not a directory but a link or a file; remove it: %s",
			       path, strerror(errno));
	close(fd);
	return 0;
}

/* ---- files without a name ---- */

int unnamed_open(const char *directory)
{
	char path[PATH_MAX];
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0 && snprintf(path, sizeof path, "%s/.sonde-XXXXXX", directory) < PATH_MAX) {
		fd = mkostemp(path, O_CLOEXEC); /* network file systems know no O_TMPFILE */
		if (fd >= 0)
			unlink(path);
	}
	return fd < 0 ? -errno : fd;
}

int unnamed_memory(const char *name)
{
	static const char *const places[] = { "/dev/shm", "/tmp", "/var/tmp" };
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	fd = fd < 0 ? -errno : fd;
	for (size_t i = 0; fd == -ENOSYS && i < sizeof places / sizeof places[0]; i++) {
		int other = unnamed_open(places[i]);

		fd = other < 0 ? fd : other;
	}
	return fd;
}

int spool_open(struct spool *s, const char *directory)
{
	*s = (struct spool){ .fd = unnamed_open(directory) };
	if (s->fd < 0)
		return s->fd;
	s->cap = 64;
	s->column = calloc(s->cap, sizeof *s->column);
	if (s->column)
		return 0;
	close(s->fd);
	return -ENOMEM;
}

void spool_close(struct spool *s)
{
	if (!s->column)
		return;
	for (uint32_t i = 0; i < s->ncolumns; i++)
		free(s->column[i].block);
	free(s->column);
	close(s->fd);
	*s = (struct spool){ 0 };
}

uint32_t spool_column(struct spool *s)
{
	struct spool_column *c, *bigger;

	if (s->ncolumns == s->cap) {
		bigger = s->cap < UINT32_MAX / 2
				 ? reallocarray(s->column, (size_t)s->cap * 2, sizeof *bigger)
				 : NULL;
		if (!bigger)
			return 0;
		s->column = bigger;
		s->cap *= 2;
	}
	c = &s->column[s->ncolumns];
	*c = (struct spool_column){ .block = malloc(sizeof *c->block) };
	if (!c->block)
		return 0;
	c->first = c->open = s->nblocks++;
	return ++s->ncolumns;
}

static int write_block(const struct spool *s, const struct spool_block *b, uint64_t at)
{
	const char *from = (const char *)b;
	size_t done = 0;

	while (done < sizeof *b) {
		ssize_t n = pwrite(s->fd, from + done, sizeof *b - done,
				   (off_t)(at * sizeof *b + done));

		if (n < 0 && errno != EINTR)
			return -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int read_block(const struct spool *s, struct spool_block *b, uint64_t at)
{
	char *to = (char *)b;
	size_t done = 0;

	while (done < sizeof *b) {
		ssize_t n =
			pread(s->fd, to + done, sizeof *b - done, (off_t)(at * sizeof *b + done));

		if (n == 0)
			return -EIO;
		if (n < 0 && errno != EINTR)
			return -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* A full block is written with where the one after it will be; the last stays in memory. */
int spool_put(struct spool *s, uint32_t column, double value)
{
	struct spool_column *c = &s->column[column - 1];
	uint64_t used = c->count % SPOOL_BLOCK;
	int rc;

	if (c->count && !used) {
		c->block->next = s->nblocks++;
		rc = write_block(s, c->block, c->open);
		if (rc)
			return rc;
		c->open = c->block->next;
	}
	c->block->value[used] = value;
	c->count++;
	return 0;
}

uint64_t spool_count(const struct spool *s, uint32_t column)
{
	return s->column[column - 1].count;
}

void spool_read(const struct spool *s, uint32_t column, struct spool_cursor *c)
{
	*c = (struct spool_cursor){ .spool = s,
				    .column = column,
				    .next = s->column[column - 1].first };
}

int spool_next(struct spool_cursor *c, double *value)
{
	const struct spool_column *from = &c->spool->column[c->column - 1];
	uint64_t used = c->at % SPOOL_BLOCK;
	int rc;

	if (c->at == from->count)
		return 0;
	if (!used && c->next == from->open) {
		c->block = *from->block;
	} else if (!used) {
		rc = read_block(c->spool, &c->block, c->next);
		if (rc)
			return rc;
		c->next = c->block.next;
	}
	*value = c->block.value[used];
	c->at++;
	return 1;
}
