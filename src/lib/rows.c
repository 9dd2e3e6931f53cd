/* SPDX-License-Identifier: Apache-2.0 */
#include "core/frame/frame.h"
#include "lib/run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sonde_rows {
	struct sonde_run *run;
	struct frame *frame;
	const struct frame_schema *schema;
	struct batch batch;
	uint32_t at;                       /* row of the batch */
	bool on_row;                       /* false before the first row and after the last */
	uint8_t present[FRAME_BATCH_ROWS]; /* of the column that was asked for last */
};

static struct selection selection_of(const struct sonde_selection *s)
{
	static const struct sonde_selection all = { .table = SONDE_SERIES };
	static const enum frame_table tables[] = {
		[SONDE_SERIES] = FRAME_SERIES, [SONDE_INSTANCES] = FRAME_INSTANCES,
		[SONDE_MARKS] = FRAME_MARKS,   [SONDE_SPANS] = FRAME_SPANS,
		[SONDE_STATES] = FRAME_STATES, [SONDE_COUNTERS] = FRAME_COUNTERS,
	};

	if (!s)
		s = &all;
	return (struct selection){
		.table = (size_t)s->table < sizeof tables / sizeof tables[0]
				 ? tables[s->table]
				 : FRAME_TABLE_NUMBER_OF,
		.wide = s->wide,
		.raw = s->raw,
		.combine = s->combine,
		.metrics = s->metrics,
		.domain = s->domain,
		.from_s = s->from_s,
		.to_s = s->to_s,
		.every_s = s->every_s,
	};
}

struct sonde_rows *sonde_rows_open(struct sonde_run *run, const struct sonde_selection *selection,
				   struct sonde_error *error)
{
	struct selection sel = selection_of(selection);
	struct sonde_rows *rows;
	struct err e = { "" };
	int rc;

	if (sel.table == FRAME_TABLE_NUMBER_OF) {
		sonde_error_set(error, EINVAL, "there is no such table");
		return NULL;
	}
	if (run->being_read) {
		sonde_error_set(error, EBUSY,
				"close the rows that are open before others are opened");
		return NULL;
	}
	rows = calloc(1, sizeof *rows);
	rc = rows ? frame_open(&rows->frame, run->run, &sel, &e) : -ENOMEM;
	if (rc) {
		sonde_error_set(error, rc, e.text);
		free(rows);
		return NULL;
	}
	rows->run = run;
	rows->schema = frame_schema(rows->frame);
	run->being_read = true;
	return rows;
}

void sonde_rows_close(struct sonde_rows *rows)
{
	if (!rows)
		return;
	rows->run->being_read = false;
	frame_close(rows->frame);
	free(rows);
}

size_t sonde_column_count(const struct sonde_rows *rows)
{
	return rows->schema->ncolumns;
}

bool sonde_column_get(const struct sonde_rows *rows, size_t column, struct sonde_column *out)
{
	static const enum sonde_column_type types[] = {
		[COLUMN_TEXT] = SONDE_TEXT,
		[COLUMN_INT] = SONDE_INT,
		[COLUMN_REAL] = SONDE_REAL,
		[COLUMN_TIME] = SONDE_TIME,
	};
	const struct column *c;

	if (column >= rows->schema->ncolumns)
		return false;
	c = &rows->schema->columns[column];
	*out = (struct sonde_column){ c->name, c->unit, c->help, types[c->type] };
	return true;
}

size_t sonde_column_find(const struct sonde_rows *rows, const char *name)
{
	for (uint32_t i = 0; i < rows->schema->ncolumns; i++)
		if (!strcmp(rows->schema->columns[i].name, name))
			return i;
	return SIZE_MAX;
}

int64_t sonde_batch_next(struct sonde_rows *rows, struct sonde_error *error)
{
	struct err e = { "" };

	rows->on_row = false;
	do {
		int rc = frame_next(rows->frame, &rows->batch, &e);

		if (rc < 0)
			sonde_error_set(error, rc, e.text);
		if (rc <= 0)
			return rc < 0 ? -1 : 0;
	} while (!rows->batch.nrows);
	rows->at = 0;
	rows->on_row = true;
	return rows->batch.nrows;
}

int sonde_rows_next(struct sonde_rows *rows, struct sonde_error *error)
{
	int64_t n;

	if (rows->on_row && rows->at + 1 < rows->batch.nrows) {
		rows->at++;
		return 1;
	}
	n = sonde_batch_next(rows, error);
	return n > 0 ? 1 : (int)n;
}

/* The cells of a column when the row has a value there; else NULL. */
static const struct cells *present(const struct sonde_rows *rows, size_t column)
{
	const struct cells *c;

	if (!rows->on_row || column >= rows->schema->ncolumns)
		return NULL;
	c = &rows->batch.columns[column];
	return c->state[rows->at] == STATE_PRESENT ? c : NULL;
}

static enum column_type type_of(const struct sonde_rows *rows, size_t column)
{
	return rows->schema->columns[column].type;
}

bool sonde_cell_present(const struct sonde_rows *rows, size_t column)
{
	return present(rows, column) != NULL;
}

double sonde_cell_real(const struct sonde_rows *rows, size_t column)
{
	const struct cells *c = present(rows, column);

	if (!c || type_of(rows, column) == COLUMN_TEXT)
		return (double)NAN;
	return type_of(rows, column) == COLUMN_REAL ? c->d[rows->at] : (double)c->i[rows->at];
}

int64_t sonde_cell_int(const struct sonde_rows *rows, size_t column)
{
	const struct cells *c = present(rows, column);
	bool whole =
		c && (type_of(rows, column) == COLUMN_INT || type_of(rows, column) == COLUMN_TIME);

	return whole ? c->i[rows->at] : 0;
}

const char *sonde_cell_text(const struct sonde_rows *rows, size_t column)
{
	const struct cells *c = present(rows, column);

	return c && type_of(rows, column) == COLUMN_TEXT ? c->s[rows->at] : NULL;
}

/* The cells of a column of a type; NULL when it is of another, or there is not a batch. */
static const struct cells *cells_of(const struct sonde_rows *rows, size_t column,
				    enum column_type type, enum column_type or)
{
	if (!rows->on_row || column >= rows->schema->ncolumns ||
	    (type_of(rows, column) != type && type_of(rows, column) != or))
		return NULL;
	return &rows->batch.columns[column];
}

const double *sonde_batch_real(const struct sonde_rows *rows, size_t column)
{
	const struct cells *c = cells_of(rows, column, COLUMN_REAL, COLUMN_REAL);

	return c ? c->d : NULL;
}

const int64_t *sonde_batch_int(const struct sonde_rows *rows, size_t column)
{
	const struct cells *c = cells_of(rows, column, COLUMN_INT, COLUMN_TIME);

	return c ? c->i : NULL;
}

const char *const *sonde_batch_text(const struct sonde_rows *rows, size_t column)
{
	const struct cells *c = cells_of(rows, column, COLUMN_TEXT, COLUMN_TEXT);

	return c ? c->s : NULL;
}

const uint8_t *sonde_batch_present(struct sonde_rows *rows, size_t column)
{
	if (!rows->on_row || column >= rows->schema->ncolumns)
		return NULL;
	for (uint32_t i = 0; i < rows->batch.nrows; i++)
		rows->present[i] = rows->batch.columns[column].state[i] == STATE_PRESENT;
	return rows->present;
}
