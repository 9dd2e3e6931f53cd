/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/foreign.h"

#include "base/helper.h"
#include "sink/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct foreign {
	struct helper_talk talk;
	struct stream_writer writer;
};

static int send_block(struct foreign *x, struct err *e)
{
	return helper_talk_send(&x->talk, x->writer.block.data, x->writer.block.len, e);
}

static int foreign_begin(struct foreign *x, const struct helper_program *program,
			 const struct frame_schema *schema, FILE *out, struct err *e)
{
	int rc = helper_talk_begin(&x->talk, program, fileno(out), e);

	if (!rc)
		rc = stream_put_schema(&x->writer, schema, e);
	return rc ? rc : send_block(x, e);
}

static int foreign_batch(void *state, const struct batch *b, struct err *e)
{
	struct foreign *x = state;
	int rc = stream_put_batch(&x->writer, b, e);

	return rc ? rc : send_block(x, e);
}

static int foreign_end(void *state, struct err *e)
{
	struct foreign *x = state;
	int rc = stream_put_end(&x->writer, e);

	if (!rc)
		rc = send_block(x, e);
	return rc ? rc : helper_talk_end(&x->talk, e);
}

static void foreign_free(void *state)
{
	struct foreign *x = state;

	helper_talk_free(&x->talk);
	stream_writer_free(&x->writer);
}

static const struct helper_program sqlite_program = { "sqlite", "libsqlite3-dev", "libsqlite3-0" };

static int sqlite_begin(void *state, const struct frame_schema *schema, FILE *out, struct err *e)
{
	return foreign_begin(state, &sqlite_program, schema, out, e);
}

const struct sink sink_sqlite = {
	.name = "sqlite",
	.what = "a table of an SQLite database",
	.collects = true,
	.size = sizeof(struct foreign),
	.begin = sqlite_begin,
	.batch = foreign_batch,
	.end = foreign_end,
	.free = foreign_free,
};

static const struct helper_program hdf5_program = { "hdf5", "libhdf5-dev and libdeflate-dev",
						    "libhdf5-103-1 and libdeflate0" };

static int hdf5_begin(void *state, const struct frame_schema *schema, FILE *out, struct err *e)
{
	return foreign_begin(state, &hdf5_program, schema, out, e);
}

const struct sink sink_hdf5 = {
	.name = "hdf5",
	.extension = "h5",
	.what = "a table of an HDF5 file that pandas.read_hdf opens",
	.collects = true,
	.size = sizeof(struct foreign),
	.begin = hdf5_begin,
	.batch = foreign_batch,
	.end = foreign_end,
	.free = foreign_free,
};

/* ---- the helper's end ---- */

struct serving {
	const struct sink *sink;
	void *state;
	FILE *out;
	struct stream_reader reader;
	uint8_t *block;
	uint32_t room;
};

const char *foreign_path(FILE *out, char *path, size_t size)
{
	snprintf(path, size, "/proc/self/fd/%d", fileno(out));
	return path;
}

/* 1, 0 at the end of the input, -errno. */
static int read_all(void *to, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = read(0, (char *)to + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : 0;
		done += (size_t)n;
	}
	return 1;
}

static uint32_t number_at(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The next block, in s->block. */
static int read_block(struct serving *s, uint32_t *kind, uint32_t *n, struct err *e)
{
	uint8_t head[STREAM_HEAD];
	int rc = read_all(head, sizeof(head));

	*kind = number_at(head);
	*n = rc > 0 ? number_at(head + 4) : 0;
	if (*n > STREAM_BLOCK_MAX)
		return err_set(e, -EPROTO, "what came is not a table of this version of Sonde");
	if (*n > s->room) {
		uint8_t *bigger = realloc(s->block, *n);

		if (!bigger)
			return err_set(e, -ENOMEM, "out of memory");
		s->block = bigger;
		s->room = *n;
	}
	if (rc > 0 && *n)
		rc = read_all(s->block, *n);
	return rc > 0 ? 0 : err_set(e, rc ? rc : -EPIPE, "the table is truncated");
}

static int serve(struct serving *s, struct err *e)
{
	for (;;) {
		uint32_t kind, n;
		int rc = read_block(s, &kind, &n, e);

		if (!rc)
			rc = stream_get(&s->reader, (enum stream_kind)kind, s->block, n, e);
		if (rc)
			return rc;
		if (kind == STREAM_END)
			return s->sink->end(s->state, e);
		if (kind == STREAM_SCHEMA)
			rc = s->sink->begin(s->state, &s->reader.schema, s->out, e);
		else
			rc = s->sink->batch(s->state, &s->reader.batch, e);
		if (rc)
			return rc;
	}
}

/* After a failure the library may be in any state: it is left alone. */
int foreign_serve(const struct sink *k)
{
	struct serving s = { .sink = k,
			     .state = calloc(1, k->size),
			     .out = fdopen(HELPER_FILE, "r+") };
	struct err e = { "" };
	int rc;

	if (!s.state || !s.out)
		rc = err_set(&e, s.out ? -ENOMEM : -EBADF,
			     "sonde export runs this helper; there is no table or no file");
	else
		rc = serve(&s, &e);
	if (rc)
		_exit(helper_answer(rc, &e));
	k->free(s.state);
	stream_reader_free(&s.reader);
	free(s.state);
	free(s.block);
	fclose(s.out);
	return helper_answer(0, &e);
}
