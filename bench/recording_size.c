/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes a value of the recording on the jobs of matrix.h: in sealed blocks, and as first written
 * into the tail; what theory allows; and CPU ns a value to write, system calls and sealing
 * included, and to read. Every value is read back and compared. Prints "JOB FIGURE VALUE". */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "matrix.h"
#include "recording/join.h"
#include "recording/writer.h"

static void die(const char *what)
{
	fprintf(stderr, "recording_size: %s\n", what);
	exit(1);
}

static void say(const struct matrix_job *job, const char *what, double value)
{
	printf("%s\t%s\t%.4f\n", job->name, what, value);
}

static const double values = (double)MATRIX_ROWS * MATRIX_SERIES;

/* The limit for a coder that knows of each series how often its differences have which length in
 * bits, what power of two divides them all and whether any is negative, and to which all
 * differences of one length are alike: the entropy of the lengths, the bits behind the first that
 * are not always 0, and the sign. Times, footers and checksums come free. */
static double series_limit_bits(const int64_t *value, unsigned series)
{
	unsigned seen[65] = { 0 };
	uint64_t ever = 0;
	bool falls = false;
	double bits = 0;

	for (size_t at = series + MATRIX_SERIES; at < (size_t)values; at += MATRIX_SERIES) {
		int64_t d = value[at] - value[at - MATRIX_SERIES];

		ever |= (uint64_t)d;
		falls = falls || d < 0;
		seen[d ? 64 - __builtin_clzll((uint64_t)(d < 0 ? -d : d)) : 0]++;
	}
	for (int length = 0; length <= 64; length++) {
		int rest = length ? length - 1 - __builtin_ctzll(ever) + falls : 0;

		if (seen[length])
			bits += seen[length] *
				(log2((double)(MATRIX_ROWS - 1) / seen[length]) + rest);
	}
	return bits;
}

static double limit_bytes(const int64_t *value)
{
	double bits = 0;

	for (unsigned s = 0; s < MATRIX_SERIES; s++)
		bits += series_limit_bits(value, s);
	return bits / 8;
}

static double changed_share(const int64_t *value)
{
	size_t changed = 0;

	for (size_t i = MATRIX_SERIES; i < (size_t)values; i++)
		changed += value[i] != value[i - MATRIX_SERIES];
	return (double)changed / values;
}

static void row_put(struct sample *s, const uint32_t *slot, const int64_t *value, unsigned row)
{
	int64_t ns = row * NS_PER_S + (int64_t)(row * UINT64_C(2654435761) % 60000);

	sample_begin(s, INT64_C(1700000000) * NS_PER_S + ns + row % 97, 1000 * NS_PER_S + ns);
	for (unsigned i = 0; i < MATRIX_SERIES; i++)
		sample_put(s, slot[i], value[(size_t)row * MATRIX_SERIES + i]);
}

static void job_write(const struct matrix_job *job, const int64_t *value, int dirfd)
{
	static const struct metric metric = { .name = "bench.value_count",
					      .label = "Value",
					      .help = "A value.",
					      .unit = UNIT_COUNT };
	const struct writer_options options = { 0 };
	struct writer_figures figures;
	uint32_t slot[MATRIX_SERIES];
	struct sample s;
	struct writer *w;
	struct stat st;
	int64_t start;

	if (sample_init(&s, 1024, 1024) || writer_open(&w, dirfd, "bench", &options, NULL))
		die("cannot open the recording");
	for (unsigned i = 0; i < MATRIX_SERIES; i++)
		slot[i] = sample_series(&s, &metric, 1, 0);
	start = clock_cpu_ns();
	for (unsigned row = 0; row < MATRIX_ROWS; row++) {
		row_put(&s, slot, value, row);
		if (writer_sample(w, &s, NULL))
			die("cannot write");
	}
	writer_figures(w, &figures);
	if (writer_close(w, NULL) || fstatat(dirfd, "node-bench.sonde", &st, 0))
		die("cannot close the recording");
	say(job, "write_ns", (double)(clock_cpu_ns() - start) / values);
	say(job, "sealed_bytes", (double)st.st_size / values);
	say(job, "tail_bytes", ((double)figures.bytes - (double)st.st_size) / values);
	say(job, "limit_bytes", limit_bytes(value) / values);
	say(job, "of_limit", (double)st.st_size / limit_bytes(value));
	sample_free(&s);
}

static void job_read(const struct matrix_job *job, const int64_t *value, const char *dir)
{
	int64_t start = clock_cpu_ns();
	unsigned row = 0;
	struct run *r;
	struct chunk c;

	if (run_open(&r, dir, NULL))
		die("cannot read the recording");
	while (r->next_chunk(r, NULL, &c, NULL) > 0)
		row += c.nrows;
	say(job, "read_ns", (double)(clock_cpu_ns() - start) / values);
	r->rewind(r);
	for (row = 0; r->next_chunk(r, NULL, &c, NULL) > 0; row += c.nrows) {
		for (unsigned i = 0; i < c.nrows * MATRIX_SERIES; i++) {
			unsigned k = i / MATRIX_SERIES, s = i % MATRIX_SERIES;

			if (c.column[s].value[k] != value[(size_t)(row + k) * MATRIX_SERIES + s])
				die("a value came back changed");
		}
	}
	if (row != MATRIX_ROWS)
		die("rows are missing");
	run_close(r);
}

static void job_run(const struct matrix_job *job, int64_t *value)
{
	char dir[] = "/tmp/sonde_bench_XXXXXX";
	int dirfd;

	matrix_fill(job, value);
	say(job, "unchanged_percent", 100 - 100 * changed_share(value));
	if (!mkdtemp(dir) || (dirfd = open(dir, O_RDONLY | O_DIRECTORY)) < 0)
		die("cannot make a directory in /tmp");
	job_write(job, value, dirfd);
	job_read(job, value, dir);
	unlinkat(dirfd, "node-bench.sonde", 0);
	unlinkat(dirfd, "node-bench.tail", 0);
	close(dirfd);
	rmdir(dir);
}

int main(void)
{
	int64_t *value = calloc((size_t)values, sizeof *value);

	if (!value)
		die("not enough memory");
	for (size_t i = 0; i < MATRIX_JOBS; i++)
		job_run(&matrix_jobs[i], value);
	free(value);
	return 0;
}
