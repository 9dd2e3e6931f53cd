/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/lake.h"

#include "sink/columnar/parquet.h"
#include "sink/columnar/sorted.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { JOB = 0, METRIC, NODE, INSTANCE, TIME, VALUE, UNIT, KIND, COLUMNS };

static const struct column columns[COLUMNS] = {
	[JOB] = { "job", COLUMN_TEXT, "", "The job's number, else the recording's name.", NULL },
	[METRIC] = { "metric", COLUMN_TEXT, "", "Name of the metric, or of its rate.", NULL },
	[NODE] = COLUMN_NODE,
	[INSTANCE] = { "instance", COLUMN_TEXT, "", "Device or process; null: the node itself.",
		       NULL },
	[TIME] = { "time", COLUMN_TIME, "", "Wall time (UTC) of the reading.", NULL },
	[VALUE] = { "value", COLUMN_REAL, "", "The value.", NULL },
	[UNIT] = { "unit", COLUMN_TEXT, "", "Unit of the value.", NULL },
	[KIND] = { "kind", COLUMN_TEXT, "", "counter: grows; gauge: rates included; state: a code.",
		   NULL },
};

struct lake {
	const struct sink *parquet;
	void *state;
	struct frame_schema schema;
	struct sorted sorted;
	const char *job;
	const struct column *metric; /* of the row before */
	const char *text[COLUMNS][FRAME_BATCH_ROWS];
	uint8_t there[COLUMNS][FRAME_BATCH_ROWS];
	int64_t time[FRAME_BATCH_ROWS];
	double value[FRAME_BATCH_ROWS];
};

static const struct column *find_metric(const struct lake *l, const char *name)
{
	if (l->metric && !strcmp(l->metric->name, name))
		return l->metric;
	for (uint32_t i = 0; i < l->schema.nmetrics; i++)
		if (!strcmp(l->schema.metrics[i].name, name))
			return &l->schema.metrics[i];
	return NULL;
}

static void put_text(struct lake *l, int column, uint32_t row, const char *text)
{
	l->text[column][row] = text;
	l->there[column][row] = text ? STATE_PRESENT : STATE_ABSENT;
}

static void put_row(struct lake *l, uint32_t row, const struct sorted_row *from)
{
	const struct sorted_series *x = &l->sorted.series[from->series];

	l->metric = find_metric(l, x->metric);
	put_text(l, JOB, row, l->job);
	put_text(l, METRIC, row, x->metric);
	put_text(l, NODE, row, x->node);
	put_text(l, INSTANCE, row, x->instance);
	put_text(l, UNIT, row, l->metric ? l->metric->unit : NULL);
	put_text(l, KIND, row, l->metric ? l->metric->kind : NULL);
	l->time[row] = from->time_ns;
	l->value[row] = from->value;
	l->there[TIME][row] = l->there[VALUE][row] = STATE_PRESENT;
}

static int put_rows(struct lake *l, struct err *e)
{
	struct cells cells[COLUMNS];
	struct sorted_row row;
	int rc = 1;

	for (int c = 0; c < COLUMNS; c++)
		cells[c] = (struct cells){ .s = l->text[c], .state = l->there[c] };
	cells[TIME].i = l->time;
	cells[VALUE].d = l->value;
	while (rc > 0) {
		uint32_t n = 0;

		while (n < FRAME_BATCH_ROWS && (rc = sorted_next(&l->sorted, &row, e)) > 0)
			put_row(l, n++, &row);
		if (rc >= 0 && n) {
			int failed = l->parquet->batch(l->state, &(struct batch){ n, cells }, e);

			rc = failed ? failed : rc;
		}
	}
	return rc;
}

static int write_file(struct lake *l, struct frame *f, FILE *out, struct err *e)
{
	struct batch b;
	int rc = sorted_init(&l->sorted, frame_schema(f), SORTED_ROWS, e);

	while (!rc && (rc = frame_next(f, &b, e)) > 0)
		rc = sorted_add(&l->sorted, &b, e);
	if (!rc)
		rc = l->parquet->begin(l->state, &l->schema, out, e);
	if (!rc)
		rc = put_rows(l, e);
	if (!rc)
		rc = l->parquet->end(l->state, e);
	l->parquet->free(l->state);
	sorted_free(&l->sorted);
	if (!rc && fflush(out))
		rc = err_set(e, -errno, "%s", strerror(errno));
	return rc;
}

int lake_write(struct frame *f, const struct lake_job *job, FILE *out, struct err *e)
{
	struct lake *l = calloc(1, sizeof(*l));
	int rc = -ENOMEM;

	if (l) {
		l->parquet = sink_find("parquet");
		l->schema = *frame_schema(f);
		l->schema.texts_stay = false;
		l->schema.columns = columns;
		l->schema.ncolumns = COLUMNS;
		l->schema.summary = job->summary;
		l->job = job->id;
		l->state = calloc(1, l->parquet->size);
	}
	rc = l && l->state ? write_file(l, f, out, e) : err_set(e, rc, "out of memory");
	if (l)
		free(l->state);
	free(l);
	return rc;
}

/* ---- what a file says of its job ---- */

enum { TAIL_BYTES = 8, FOOTER_MAX = 64 << 20 }; /* the tail: the footer's length, and PAR1 */

struct lake_file {
	const char *path;
	int fd;
};

static int not_whole(const struct lake_file *f, struct err *e)
{
	return err_set(e, -EBADMSG, "%.300s is no whole file of Parquet", f->path);
}

static int read_at(const struct lake_file *f, uint8_t *to, size_t n, off_t at, struct err *e)
{
	ssize_t got;

	for (; n; to += got, n -= (size_t)got, at += got) {
		got = pread(f->fd, to, n, at);
		if (got < 0)
			return err_set(e, -errno, "cannot read %.300s: %s", f->path,
				       strerror(errno));
		if (!got)
			return not_whole(f, e);
	}
	return 0;
}

static int read_footer(const struct lake_file *f, struct bytes *footer, struct err *e)
{
	uint8_t tail[TAIL_BYTES];
	struct stat st;
	uint32_t n;
	int rc;

	if (fstat(f->fd, &st) || !S_ISREG(st.st_mode) || st.st_size < TAIL_BYTES)
		return not_whole(f, e);
	rc = read_at(f, tail, TAIL_BYTES, st.st_size - TAIL_BYTES, e);
	if (rc)
		return rc;
	n = scan_u32(&(struct scan){ .at = tail, .end = tail + TAIL_BYTES });
	if (memcmp(tail + 4, "PAR1", 4) != 0 || n > FOOTER_MAX || n > st.st_size - TAIL_BYTES)
		return not_whole(f, e);
	if (!bytes_room(footer, n))
		return err_set(e, -ENOMEM, "out of memory for %.300s", f->path);
	footer->len = n;
	return read_at(f, footer->data, n, st.st_size - TAIL_BYTES - n, e);
}

int lake_read_summary(const char *path, struct bytes *summary, struct err *e)
{
	const struct lake_file f = { path,
				     open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) };
	struct bytes footer = { 0 };
	const uint8_t *value = NULL;
	size_t n = 0;
	int rc;

	if (f.fd < 0)
		return err_set(e, -errno, "cannot open %.300s: %s", path, strerror(errno));
	rc = read_footer(&f, &footer, e);
	close(f.fd);
	if (!rc && !(value = parquet_find_value(footer.data, footer.len, PARQUET_RUN_KEY, &n)))
		rc = -ENODATA;
	bytes_reset(summary);
	bytes_put(summary, value, n);
	bytes_u8(summary, 0);
	bytes_free(&footer);
	return !rc && summary->failed ? err_set(e, -ENOMEM, "out of memory for %.300s", path) : rc;
}
