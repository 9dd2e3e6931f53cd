/* SPDX-License-Identifier: Apache-2.0 */
#include "import/protobuf.h"

#include "base/files.h"
#include "base/inflate.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

/* ---- in memory ---- */

bool message_varint(struct message *m, uint64_t *out)
{
	*out = 0;
	for (unsigned shift = 0; shift < 64 && m->at < m->end; shift += 7) {
		uint8_t c = *m->at++;

		*out |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80))
			return true;
	}
	return false;
}

static bool fixed(struct message *m, unsigned n, uint64_t *out)
{
	if ((size_t)(m->end - m->at) < n)
		return false;
	*out = 0;
	for (unsigned i = n; i--;)
		*out = *out << 8 | m->at[i];
	m->at += n;
	return true;
}

int message_next(struct message *m, struct field *f)
{
	uint64_t tag;

	if (m->at == m->end)
		return 0;
	if (!message_varint(m, &tag))
		return -1;
	f->number = (uint32_t)(tag >> 3);
	f->wire = tag & 7;
	switch (f->wire) {
	case PROTOBUF_VARINT:
		return message_varint(m, &f->value) ? 1 : -1;
	case PROTOBUF_FIXED64:
		return fixed(m, 8, &f->value) ? 1 : -1;
	case PROTOBUF_FIXED32:
		return fixed(m, 4, &f->value) ? 1 : -1;
	case PROTOBUF_BYTES:
		if (!message_varint(m, &f->value) || f->value > (uint64_t)(m->end - m->at))
			return -1;
		f->bytes = (struct message){ m->at, m->at + f->value };
		m->at += f->value;
		return 1;
	default:
		return -1;
	}
}

bool protobuf_fault(struct protobuf *s, const char *why)
{
	s->bad = true;
	if (!*s->fault->text)
		err_set(s->fault, -EINVAL, "byte %" PRIu64 ": %s", s->pos, why);
	return false;
}

bool protobuf_take(struct protobuf *s, uint8_t *out, uint64_t n)
{
	while (n) {
		size_t have = s->end - s->at;

		if (!have) {
			ssize_t got = packed_read(s->file, s->ahead, sizeof s->ahead);

			s->at = 0;
			s->end = got > 0 ? (size_t)got : 0;
			if (got <= 0)
				return false;
			continue;
		}
		have = have < n ? have : (size_t)n;
		if (out) {
			memcpy(out, s->ahead + s->at, have);
			out += have;
		}
		s->at += have;
		s->pos += have;
		n -= have;
	}
	return true;
}

static bool stream_varint(struct protobuf *s, uint64_t *out)
{
	uint8_t c;

	*out = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		if (!protobuf_take(s, &c, 1))
			return protobuf_fault(s, "it ends too early");
		*out |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80))
			return true;
	}
	return protobuf_fault(s, "it is not protobuf");
}

bool protobuf_next(struct protobuf *s, uint64_t end, struct field *f)
{
	uint64_t tag;

	if (s->pos >= end || !stream_varint(s, &tag))
		return false;
	f->number = (uint32_t)(tag >> 3);
	f->wire = tag & 7;
	f->value = f->wire == PROTOBUF_FIXED64 ? 8 : 4;
	switch (f->wire) {
	case PROTOBUF_VARINT:
		return stream_varint(s, &f->value);
	case PROTOBUF_FIXED64:
	case PROTOBUF_FIXED32:
		return protobuf_take(s, NULL, f->value) || protobuf_fault(s, "it ends too early");
	case PROTOBUF_BYTES:
		if (!stream_varint(s, &f->value))
			return false;
		return (end >= s->pos && f->value <= end - s->pos) ||
		       protobuf_fault(s, "a message is longer than what it is in");
	default:
		return protobuf_fault(s, "it is not protobuf");
	}
}

bool protobuf_whole(struct protobuf *s, const struct field *f, struct message *m)
{
	if (f->value > PROTOBUF_MESSAGE_MOST) {
		s->too_long++;
		if (!protobuf_take(s, NULL, f->value))
			protobuf_fault(s, "it ends too early");
		return false;
	}
	if (!protobuf_take(s, s->message, f->value))
		return protobuf_fault(s, "it ends too early");
	*m = (struct message){ s->message, s->message + f->value };
	return true;
}

bool protobuf_pass(struct protobuf *s, const struct field *f)
{
	return f->wire != PROTOBUF_BYTES || protobuf_take(s, NULL, f->value) ||
	       protobuf_fault(s, "it ends too early");
}

bool protobuf_is_over(struct protobuf *s)
{
	if (s->at < s->end)
		return false;
	ssize_t got = packed_read(s->file, s->ahead, sizeof s->ahead);

	s->at = 0;
	s->end = got > 0 ? (size_t)got : 0;
	return got <= 0;
}

int protobuf_begin(struct protobuf *s, struct packed *file, struct err *fault)
{
	*s = (struct protobuf){ .file = file, .fault = fault };
	s->message = malloc(PROTOBUF_MESSAGE_MOST);
	return s->message ? 0 : -ENOMEM;
}

void protobuf_end(struct protobuf *s)
{
	free(s->message);
	s->message = NULL;
}

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
