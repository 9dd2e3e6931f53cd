/* SPDX-License-Identifier: Apache-2.0 */
#include "import/packed.h"

#include "base/inflate.h"
#include "base/unnamed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

enum { ZSTD_AHEAD = 1 << 16, WINDOW_LOG_MAX = 27 };

struct packed_zstd {
	ZSTD_DStream *stream;
	ZSTD_inBuffer in;
	size_t left; /* what it said last: 0 between frames */
	bool waits;  /* there may be more within the stream, for which there was no room */
	uint8_t data[ZSTD_AHEAD];
};

static ssize_t read_file(void *packed, void *data, size_t n)
{
	const struct packed *p = packed;
	ssize_t got;

	do
		got = read(p->fd, data, n);
	while (got < 0 && errno == EINTR);
	return got;
}

static ssize_t fail(struct packed *p, const char *why)
{
	err_set(&p->e, -EIO, "%.300s cannot be read: %s", p->path, why);
	return -1;
}

static ssize_t read_gzip(struct packed *p, void *data, size_t n)
{
	ssize_t got = inflate_read(p->gzip, data, n);

	if (got < 0)
		return fail(p, p->gzip->fault ? p->gzip->fault : strerror(errno));
	return got;
}

/* 1: there is more, 0: the file is over, -1. */
static int fill_zstd(struct packed *p)
{
	struct packed_zstd *z = p->zstd;
	ssize_t got = read_file(p, z->data, sizeof z->data);

	if (got < 0)
		return (int)fail(p, strerror(errno));
	z->in = (ZSTD_inBuffer){ z->data, (size_t)got, 0 };
	if (!got && z->left)
		return (int)fail(p, "it ends too early");
	return got > 0;
}

static ssize_t read_zstd(struct packed *p, void *data, size_t n)
{
	struct packed_zstd *z = p->zstd;
	ZSTD_outBuffer out = { data, n, 0 };

	while (!out.pos && n) {
		int more = z->waits || z->in.pos < z->in.size ? 1 : fill_zstd(p);

		if (more <= 0)
			return more;
		z->left = ZSTD_decompressStream(z->stream, &out, &z->in);
		if (ZSTD_isError(z->left))
			return fail(p, ZSTD_getErrorName(z->left));
		z->waits = z->left && out.pos == out.size;
	}
	return (ssize_t)out.pos;
}

ssize_t packed_read(void *packed, void *data, size_t n)
{
	struct packed *p = packed;
	ssize_t got;

	if (p->gzip)
		return read_gzip(p, data, n);
	if (p->zstd)
		return read_zstd(p, data, n);
	got = read_file(p, data, n);
	return got < 0 ? fail(p, strerror(errno)) : got;
}

int packed_rewind(struct packed *p, struct err *e)
{
	if (lseek(p->fd, 0, SEEK_SET) < 0)
		return err_set(e, -errno, "cannot read %.300s: %s", p->path, strerror(errno));
	if (p->gzip)
		*p->gzip = (struct inflate){ .read = read_file, .ctx = p };
	if (p->zstd) {
		ZSTD_DCtx_reset(p->zstd->stream, ZSTD_reset_session_only);
		p->zstd->in = (ZSTD_inBuffer){ 0 };
		p->zstd->left = 0;
		p->zstd->waits = false;
	}
	p->e = (struct err){ "" };
	return 0;
}

static int prepare(struct packed *p, struct err *e)
{
	uint8_t magic[4] = { 0 };
	ssize_t n = pread(p->fd, magic, sizeof magic, 0);

	if (n >= 2 && magic[0] == 0x1f && magic[1] == 0x8b) {
		p->gzip = calloc(1, sizeof *p->gzip);
		if (!p->gzip)
			return err_set(e, -ENOMEM, "out of memory for %.300s", p->path);
	} else if (n == 4 && !memcmp(magic, "\x28\xb5\x2f\xfd", 4)) {
		p->zstd = calloc(1, sizeof *p->zstd);
		if (p->zstd)
			p->zstd->stream = ZSTD_createDStream();
		if (!p->zstd || !p->zstd->stream)
			return err_set(e, -ENOMEM, "out of memory for %.300s", p->path);
		ZSTD_DCtx_setParameter(p->zstd->stream, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	}
	return packed_rewind(p, e);
}

void packed_close(struct packed *p)
{
	if (!p->path)
		return;
	close(p->fd);
	free(p->gzip);
	if (p->zstd)
		ZSTD_freeDStream(p->zstd->stream);
	free(p->zstd);
	*p = (struct packed){ 0 };
}

int packed_open(struct packed *p, const char *path, struct err *e)
{
	int rc;

	*p = (struct packed){ .path = path };
	p->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (p->fd < 0)
		return err_set(e, -errno, "cannot open %.300s: %s", path, strerror(errno));
	if (fstat(p->fd, &p->st))
		rc = err_set(e, -errno, "cannot read %.300s: %s", path, strerror(errno));
	else if (!S_ISREG(p->st.st_mode))
		rc = err_set(e, -EINVAL,
			     "%.300s is not a regular file; write the data to a file and import it",
			     path);
	else
		rc = prepare(p, e);
	if (rc)
		packed_close(p);
	return rc;
}

static int write_all(int fd, const uint8_t *data, size_t n)
{
	while (n) {
		ssize_t put = write(fd, data, n);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return put ? -errno : -EIO;
		data += put;
		n -= (size_t)put;
	}
	return 0;
}

int packed_seekable(struct packed *p, int dirfd, int *copy, struct err *e)
{
	uint8_t data[ZSTD_AHEAD];
	char directory[64];
	ssize_t got = 0;
	int rc = packed_rewind(p, e);

	*copy = -1;
	if (rc || (!p->gzip && !p->zstd))
		return rc ? rc : p->fd;
	snprintf(directory, sizeof directory, "/proc/self/fd/%d", dirfd);
	*copy = unnamed_open(directory);
	if (*copy < 0)
		return err_set(e, *copy, "no temporary file for %.300s: %s", p->path,
			       strerror(-*copy));
	while (!rc && (got = packed_read(p, data, sizeof data)) > 0)
		rc = write_all(*copy, data, (size_t)got);
	if (rc)
		return err_set(e, rc, "cannot copy %.300s: %s", p->path, strerror(-rc));
	return got < 0 ? err_set(e, -EIO, "%s", p->e.text) : *copy;
}
