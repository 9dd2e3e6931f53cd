/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes a value of the recording, on the three jobs of matrix.h, and what writing and reading cost.
 * Exits 1 when the total is over the bar. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "matrix.h"
#include "recording/join.h"
#include "recording/writer.h"

#define BAR_BYTES_PER_VALUE 0.75

struct result {
	double sealed, tail; /* bytes */
	double values, changes;
	double write_ns, read_ns; /* CPU */
};

static void die(const char *what)
{
	fprintf(stderr, "recording_size: %s\n", what);
	exit(1);
}

static void row_put(struct sample *s, const uint32_t *slot, const int64_t *value, unsigned row)
{
	int64_t ns = row * NS_PER_S + (int64_t)(row * UINT64_C(2654435761) % 60000);

	sample_begin(s, INT64_C(1700000000) * NS_PER_S + ns + row % 97, 1000 * NS_PER_S + ns);
	for (unsigned i = 0; i < MATRIX_SERIES; i++)
		sample_put(s, slot[i], value[(size_t)row * MATRIX_SERIES + i]);
}

static void job_write(const int64_t *value, int dirfd, struct result *out)
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
	out->write_ns = (double)(clock_cpu_ns() - start);
	out->sealed = (double)st.st_size;
	out->tail = (double)figures.bytes - out->sealed;
	sample_free(&s);
}

static void job_read(const int64_t *value, const char *dir, struct result *out)
{
	int64_t start = clock_cpu_ns();
	unsigned row = 0;
	struct run *r;
	struct chunk c;

	if (run_open(&r, dir, NULL))
		die("cannot read the recording");
	while (r->next_chunk(r, NULL, &c, NULL) > 0)
		row += c.nrows;
	out->read_ns = (double)(clock_cpu_ns() - start);
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

static void print(const char *name, const struct result *r)
{
	printf("%-10s %7.1f %% %9.3f %9.3f %9.3f %8.1f %8.1f\n", name, 100 * r->changes / r->values,
	       r->sealed / r->values, r->sealed / r->changes, r->tail / r->values,
	       r->write_ns / r->values, r->read_ns / r->values);
}

static void job_run(const struct matrix_job *job, int64_t *value, struct result *total)
{
	char dir[] = "/tmp/sonde_bench_XXXXXX";
	struct result r = { .values = (double)MATRIX_ROWS * MATRIX_SERIES };
	int dirfd;

	matrix_fill(job, value);
	for (size_t i = MATRIX_SERIES; i < (size_t)MATRIX_ROWS * MATRIX_SERIES; i++)
		r.changes += value[i] != value[i - MATRIX_SERIES];
	if (!mkdtemp(dir) || (dirfd = open(dir, O_RDONLY | O_DIRECTORY)) < 0)
		die("cannot make a directory in /tmp");
	job_write(value, dirfd, &r);
	job_read(value, dir, &r);
	print(job->name, &r);
	total->sealed += r.sealed;
	total->tail += r.tail;
	total->values += r.values;
	total->changes += r.changes;
	total->write_ns += r.write_ns;
	total->read_ns += r.read_ns;
	unlinkat(dirfd, "node-bench.sonde", 0);
	unlinkat(dirfd, "node-bench.tail", 0);
	close(dirfd);
	rmdir(dir);
}

int main(void)
{
	int64_t *value = calloc((size_t)MATRIX_ROWS * MATRIX_SERIES, sizeof *value);
	struct result total = { 0 };

	if (!value)
		die("not enough memory");
	printf("%u series, %u samples; bytes a value in sealed blocks, a changed one, and as first "
	       "written;\n"
	       "CPU ns a value to write (system calls and sealing included) and to read\n\n"
	       "job        changing    sealed   changed      tail    write     read\n",
	       (unsigned)MATRIX_SERIES, (unsigned)MATRIX_ROWS);
	for (size_t i = 0; i < sizeof matrix_jobs / sizeof matrix_jobs[0]; i++)
		job_run(&matrix_jobs[i], value, &total);
	print("all", &total);
	free(value);
	if (total.sealed / total.values > BAR_BYTES_PER_VALUE) {
		printf("over the bar of %.2f bytes a value\n", BAR_BYTES_PER_VALUE);
		return 1;
	}
	return 0;
}
