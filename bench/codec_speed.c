/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What it costs to make sealed blocks and to read them, beside zlib and beside the least that
 * reading takes: CPU, medians over rounds in which the arms take turns, each on the hour of
 * a job of matrix.h in memory, 300 samples a chunk. Prints "JOB FIGURE VALUE"; all but the bytes
 * are ns a value. About 10 s.
 *
 * encode       each sample into the tail's commit with its checksum, and each 300 into blocks with
 *              theirs: all that the recorder does but the system calls. Two parts of it:
 *   rows       the samples into commits
 *   seal       the commits into blocks
 * zlib         the same samples column by column as zigzag varints of the differences, then deflate
 *              at level 6, a stream a chunk, its memory reused
 * ftdc         the same with a run of zeros as a zero and its length before deflate, as MongoDB's
 *              FTDC has it: fewer bytes to deflate
 * decode       blocks to values and the flags of presence, all checks on
 * varint       the yardstick: plain zigzag varints of the differences, uncompressed, each column to
 *              values by a loop that checks for nothing but the end of its input, and a memcpy of
 *              the values to where they are wanted. No flags, no checksums, no header.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/clock.h"
#include "core/metric.h"
#include "matrix.h"
#include "recording/block.h"
#include "recording/chunk.h"
#include "recording/format.h"
#include "recording/seal.h"
#include "recording/tail.h"
#include "recording/varint.h"

enum {
	CHUNK = 300,
	CHUNKS = MATRIX_ROWS / CHUNK,
	CHUNK_VALUES = CHUNK * MATRIX_SERIES,
	ROUNDS_MAX = 99,
};

static const double values = (double)MATRIX_ROWS * MATRIX_SERIES;

struct bench {
	int64_t *value, *back; /* the matrix; a chunk that was read, by columns */
	uint8_t *present;
	uint8_t state[MATRIX_SERIES];
	struct rows rows;
	struct sealer sealer;
	struct chunk_reader reader;
	struct bytes image, blocks; /* of one chunk; of the hour */
	size_t block_at[CHUNKS + 1];
	uint8_t *plain, *packed; /* varints of one chunk; what zlib made of them */
	uint8_t *varints;        /* of the hour */
	size_t varint_at[CHUNKS + 1];
	z_stream zlib;
	double zlib_bytes, ftdc_bytes;
};

static void die(const char *what)
{
	fprintf(stderr, "codec_speed: %s\n", what);
	exit(1);
}

static void *take(size_t size)
{
	void *p = calloc(1, size);

	if (!p)
		die("not enough memory");
	return p;
}

/* ---- ours ---- */

static void sample_encode(struct bench *b, unsigned row, uint32_t generation)
{
	int64_t mono =
		1000 * NS_PER_S + row * NS_PER_S + (int64_t)(row * UINT64_C(2654435761) % 60000);
	struct row_times now = row_times_at(&b->rows.times,
					    mono + INT64_C(1700000000) * NS_PER_S + row % 97, mono);
	const int64_t *value = b->value + (size_t)row * MATRIX_SERIES;
	bool first = !b->image.len;
	size_t start = commit_start(&b->image);

	bytes_u8(&b->image, COMMIT_ROW | (first ? COMMIT_LIST : 0));
	if (first)
		rows_list_put(&b->image, &b->rows);
	bytes_u8(&b->image, 0);
	if (!rows_fit(&b->rows, &now, value, b->state, SIZE_MAX))
		die("a row does not fit");
	rows_put(&b->image, &b->rows, &now, value, b->state);
	commit_finish(&b->image, start, generation);
}

static void chunk_rows(struct bench *b, unsigned chunk)
{
	bytes_reset(&b->image);
	rows_restart(&b->rows);
	for (unsigned row = chunk * CHUNK; row < (chunk + 1) * CHUNK; row++)
		sample_encode(b, row, chunk + 1);
}

static void rows_arm(struct bench *b)
{
	for (unsigned i = 0; i < CHUNKS; i++)
		chunk_rows(b, i);
}

static void encode_arm(struct bench *b)
{
	uint32_t sequence = 1;

	bytes_reset(&b->blocks);
	for (unsigned i = 0; i < CHUNKS; i++) {
		struct image image;

		chunk_rows(b, i);
		image = (struct image){ b->image.data, b->image.len, 1, i + 1 };
		b->block_at[i] = b->blocks.len;
		if (seal(&b->sealer, &image, SEAL_EVENTS | SEAL_CHUNK, &sequence, &b->blocks))
			die("a chunk cannot be sealed");
	}
	b->block_at[CHUNKS] = b->blocks.len;
}

static void chunk_decode(struct bench *b, unsigned chunk)
{
	struct block block;
	size_t at = b->block_at[chunk];

	if (!block_parse(&block, b->blocks.data + at, b->block_at[chunk + 1] - at) ||
	    chunk_read(&b->reader, block.payload, block.length) || chunk_read_bodies(&b->reader) ||
	    b->reader.ncolumns != MATRIX_SERIES || b->reader.nrows != CHUNK)
		die("a block cannot be read");
	for (uint32_t i = 0; i < MATRIX_SERIES; i++) {
		if (!chunk_read_column(&b->reader, i, b->back + i * CHUNK, b->present + i * CHUNK))
			die("a column cannot be read");
	}
}

static void decode_arm(struct bench *b)
{
	for (unsigned i = 0; i < CHUNKS; i++)
		chunk_decode(b, i);
}

/* ---- theirs ---- */

static uint8_t *column_plain(const struct bench *b, uint8_t *at, unsigned chunk, unsigned series)
{
	const int64_t *value = b->value + (size_t)chunk * CHUNK_VALUES + series;
	int64_t last = 0;

	for (unsigned row = 0; row < CHUNK; row++, value += MATRIX_SERIES) {
		at = varint_write(at, zigzag_encode(*value - last));
		last = *value;
	}
	return at;
}

/* A zero is followed by how many more there are. */
static uint8_t *column_runs(const struct bench *b, uint8_t *at, unsigned chunk, unsigned series)
{
	const int64_t *value = b->value + (size_t)chunk * CHUNK_VALUES + series;
	int64_t last = 0;
	uint64_t zeros = 0;

	for (unsigned row = 0; row < CHUNK; row++, value += MATRIX_SERIES) {
		uint64_t coded = zigzag_encode(*value - last);

		last = *value;
		if (!coded) {
			zeros++;
			continue;
		}
		if (zeros) {
			*at++ = 0;
			at = varint_write(at, zeros - 1);
			zeros = 0;
		}
		at = varint_write(at, coded);
	}
	if (zeros) {
		*at++ = 0;
		at = varint_write(at, zeros - 1);
	}
	return at;
}

typedef uint8_t *column_coder(const struct bench *b, uint8_t *at, unsigned chunk, unsigned series);

static double deflate_all(struct bench *b, column_coder *code)
{
	double bytes = 0;

	for (unsigned i = 0; i < CHUNKS; i++) {
		uint8_t *at = b->plain;

		for (unsigned s = 0; s < MATRIX_SERIES; s++)
			at = code(b, at, i, s);
		b->zlib.next_in = b->plain;
		b->zlib.avail_in = (unsigned)(at - b->plain);
		b->zlib.next_out = b->packed;
		b->zlib.avail_out = CHUNK_VALUES * VARINT_MAX;
		if (deflateReset(&b->zlib) != Z_OK || deflate(&b->zlib, Z_FINISH) != Z_STREAM_END)
			die("zlib does not deflate");
		bytes += (double)b->zlib.total_out;
	}
	return bytes;
}

static void zlib_arm(struct bench *b)
{
	b->zlib_bytes = deflate_all(b, column_plain);
}

static void ftdc_arm(struct bench *b)
{
	b->ftdc_bytes = deflate_all(b, column_runs);
}

static void varints_make(struct bench *b)
{
	uint8_t *at = b->varints;

	for (unsigned i = 0; i < CHUNKS; i++) {
		b->varint_at[i] = (size_t)(at - b->varints);
		for (unsigned s = 0; s < MATRIX_SERIES; s++)
			at = column_plain(b, at, i, s);
	}
	b->varint_at[CHUNKS] = (size_t)(at - b->varints);
}

static const uint8_t *column_values(const uint8_t *at, const uint8_t *end, int64_t value[CHUNK])
{
	int64_t last = 0;

	for (unsigned row = 0; row < CHUNK; row++) {
		uint64_t coded = 0;
		unsigned shift = 0;

		while (at < end && *at & 0x80) {
			coded |= (uint64_t)(*at++ & 0x7f) << shift;
			shift += 7;
		}
		if (at < end)
			coded |= (uint64_t)*at++ << shift;
		last += zigzag_decode(coded);
		value[row] = last;
	}
	return at;
}

static void varint_arm(struct bench *b)
{
	int64_t column[CHUNK];

	for (unsigned i = 0; i < CHUNKS; i++) {
		const uint8_t *at = b->varints + b->varint_at[i];
		const uint8_t *end = b->varints + b->varint_at[i + 1];

		for (unsigned s = 0; s < MATRIX_SERIES; s++) {
			at = column_values(at, end, column);
			memcpy(b->back + s * CHUNK, column, sizeof column);
		}
	}
}

/* ---- rounds ---- */

static const struct arm {
	const char *figure;
	void (*run)(struct bench *b);
} arms[] = {
	{ "rows_ns", rows_arm }, { "encode_ns", encode_arm }, { "decode_ns", decode_arm },
	{ "zlib_ns", zlib_arm }, { "ftdc_ns", ftdc_arm },     { "varint_ns", varint_arm },
};
enum { ARMS = sizeof arms / sizeof arms[0] };

/* Both ways of reading give what was written. */
static void verify(struct bench *b)
{
	encode_arm(b);
	for (unsigned i = 0; i < CHUNKS; i++) {
		chunk_decode(b, i);
		for (unsigned at = 0; at < CHUNK_VALUES; at++) {
			unsigned series = at / CHUNK, row = i * CHUNK + at % CHUNK;

			if (!b->present[at] ||
			    b->back[at] != b->value[(size_t)row * MATRIX_SERIES + series])
				die("a value came back changed");
		}
	}
	varint_arm(b); /* leaves the last chunk there */
	for (unsigned at = 0; at < CHUNK_VALUES; at++) {
		size_t row = (CHUNKS - 1) * CHUNK + at % CHUNK;

		if (b->back[at] != b->value[row * MATRIX_SERIES + at / CHUNK])
			die("the yardstick reads a value changed");
	}
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void job_run(struct bench *b, const struct matrix_job *job, int rounds)
{
	static double ns[ARMS][ROUNDS_MAX];

	matrix_fill(job, b->value);
	varints_make(b);
	verify(b);
	for (int round = 0; round < rounds; round++) {
		for (int arm = 0; arm < ARMS; arm++) {
			int64_t start = clock_cpu_ns();

			arms[arm].run(b);
			ns[arm][round] = (double)(clock_cpu_ns() - start) / values;
		}
	}
	for (int arm = 0; arm < ARMS; arm++) {
		qsort(ns[arm], (size_t)rounds, sizeof ns[arm][0], ascending);
		printf("%s\t%s\t%.3f\n", job->name, arms[arm].figure, ns[arm][rounds / 2]);
	}
	printf("%s\tblocks_bytes\t%.4f\n", job->name, (double)b->blocks.len / values);
	printf("%s\tzlib_bytes\t%.4f\n", job->name, b->zlib_bytes / values);
	printf("%s\tftdc_bytes\t%.4f\n", job->name, b->ftdc_bytes / values);
}

static void bench_init(struct bench *b)
{
	b->value = take((size_t)values * sizeof *b->value);
	b->back = take(CHUNK_VALUES * sizeof *b->back);
	b->present = take(CHUNK_VALUES);
	b->plain = take(CHUNK_VALUES * VARINT_MAX);
	b->packed = take(CHUNK_VALUES * VARINT_MAX);
	b->varints = take((size_t)values * VARINT_MAX);
	memset(b->state, STATE_PRESENT, sizeof b->state);
	if (rows_init(&b->rows, MATRIX_SERIES) ||
	    sealer_init(&b->sealer, TAIL_SLOT, COLUMNS_MAX, CHUNK_VALUES) ||
	    chunk_reader_init(&b->reader) || !bytes_room(&b->image, TAIL_SLOT) ||
	    !bytes_room(&b->blocks, (size_t)values * VARINT_MAX) ||
	    !rows_open(&b->rows, 1, MATRIX_SERIES, 0, 0))
		die("not enough memory");
	if (deflateInit(&b->zlib, 6) != Z_OK)
		die("zlib does not start");
}

int main(int argc, char **argv)
{
	static struct bench b;
	int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 9;

	if (rounds < 1 || rounds > ROUNDS_MAX)
		die("usage: codec_speed [ROUNDS]");
	bench_init(&b);
	for (size_t i = 0; i < MATRIX_JOBS; i++)
		job_run(&b, &matrix_jobs[i], rounds);
	return 0;
}
