/* SPDX-License-Identifier: Apache-2.0 */
#include "core/frame/frame.h"
#include "lib/run.h"
#include "recording/join.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the run ---- */

const char *sonde_version(void)
{
	return SONDE_VERSION;
}

void sonde_error_set(struct sonde_error *error, int code, const char *text)
{
	if (!error)
		return;
	error->code = code < 0 ? -code : code;
	snprintf(error->text, sizeof error->text, "%s", *text ? text : strerror(error->code));
}

struct sonde_run *sonde_open(const char *path, struct sonde_error *error)
{
	struct sonde_run *run = calloc(1, sizeof *run);
	struct err e = { "" };
	int rc = run ? run_open(&run->run, path, &e) : -ENOMEM;

	if (!rc)
		return run;
	sonde_error_set(error, rc, e.text);
	free(run);
	return NULL;
}

void sonde_close(struct sonde_run *run)
{
	if (!run)
		return;
	run_close(run->run);
	free(run);
}

int64_t sonde_start_utc_ns(const struct sonde_run *run)
{
	return run->run->t0_utc_ns;
}

/* Arrays of a run begin at 1. */
static size_t count(uint32_t n)
{
	return n ? n - 1 : 0;
}

static bool is_id(size_t id, uint32_t n)
{
	return id && id < n;
}

size_t sonde_damage_count(const struct sonde_run *run)
{
	return run->run->ndamages;
}

size_t sonde_node_count(const struct sonde_run *run)
{
	return count(run->run->nnodes);
}

bool sonde_node_get(const struct sonde_run *run, size_t id, struct sonde_node *out)
{
	const struct run *r = run->run;
	const struct run_node *n;

	if (!is_id(id, r->nnodes))
		return false;
	n = &r->nodes[id];
	*out = (struct sonde_node){
		.host = n->host,
		.samples = n->rows,
		.first_s = n->rows ? run_seconds(r, (uint32_t)id, n->first_ns) : (double)NAN,
		.last_s = n->rows ? run_seconds(r, (uint32_t)id, n->last_ns) : (double)NAN,
		.complete = n->complete,
	};
	return true;
}

size_t sonde_metric_count(const struct sonde_run *run)
{
	return count(run->run->nmetrics);
}

bool sonde_metric_get(const struct sonde_run *run, size_t id, struct sonde_metric *out)
{
	const struct metric *m;

	if (!is_id(id, run->run->nmetrics))
		return false;
	m = &run->run->metrics[id].row;
	*out = (struct sonde_metric){
		.name = m->name,
		.unit = unit_name(m->unit),
		.kind = kind_name(m->kind),
		.domain = m->domain,
		.label = m->label,
		.help = m->help,
		.formula = m->formula,
	};
	return true;
}

size_t sonde_instance_count(const struct sonde_run *run)
{
	return count(run->run->ninstances);
}

bool sonde_instance_get(const struct sonde_run *run, size_t id, struct sonde_instance *out)
{
	const struct run *r = run->run;
	const struct run_instance *i;

	if (!is_id(id, r->ninstances))
		return false;
	i = &r->instances[id];
	*out = (struct sonde_instance){
		.domain = i->domain,
		.name = i->name,
		.node = i->node,
		.parent = i->parent,
		.begin_s = run_seconds(r, i->node, i->birth_ns),
		.end_s = i->end_ns == INT64_MAX ? (double)NAN : run_seconds(r, i->node, i->end_ns),
	};
	return true;
}

const char *sonde_instance_label(const struct sonde_run *run, size_t id, const char *key)
{
	return is_id(id, run->run->ninstances) ? run_label(run->run, (uint32_t)id, key) : NULL;
}

static void meta_copy(const struct run_meta *m, struct sonde_meta *out)
{
	static const enum sonde_meta_type types[META_TYPE_NUMBER_OF] = {
		[META_TEXT] = SONDE_META_TEXT,
		[META_INT] = SONDE_META_INT,
		[META_REAL] = SONDE_META_REAL,
		[META_BOOL] = SONDE_META_BOOL,
	};

	*out = (struct sonde_meta){
		.node = m->node,
		.key = m->key,
		.text = m->type == META_TEXT ? m->text : NULL,
		.type = types[m->type],
		.integer = m->type == META_INT || m->type == META_BOOL ? m->value : 0,
		.real = m->type == META_REAL ? m->real : (double)NAN,
	};
}

size_t sonde_meta_count(const struct sonde_run *run)
{
	return count(run->run->nmetas);
}

bool sonde_meta_get(const struct sonde_run *run, size_t id, struct sonde_meta *out)
{
	if (!is_id(id, run->run->nmetas))
		return false;
	meta_copy(&run->run->metas[id], out);
	return true;
}

bool sonde_meta_find(const struct sonde_run *run, const char *key, struct sonde_meta *out)
{
	const struct run_meta *m = run_find_meta(run->run, 0, key);

	if (m)
		meta_copy(m, out);
	return m != NULL;
}

/* ---- its rows ---- */

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
