/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/storetable.h"

#include "bench/indicator.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { TEXT_BYTES = 16 << 20 }; /* of a batch; the row that exceeds it is its last */

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for a table of the store");
}

static enum column_type type_of(const char *name, const char *type, bool times)
{
	size_t n = strlen(name);

	if (!strncasecmp(type, "double", 6) || !strncasecmp(type, "real", 4))
		return COLUMN_REAL;
	if (!strcasestr(type, "int"))
		return COLUMN_TEXT;
	return times && n > 3 && !strcmp(name + n - 3, "_ns") ? COLUMN_TIME : COLUMN_INT;
}

static int add_column(struct storetable *t, const char *name, const char *type, const char *unit,
		      bool times)
{
	uint32_t n = t->schema.ncolumns;
	void *grown = reallocarray(t->column, n + 1, sizeof *t->column);

	if (!grown)
		return -ENOMEM;
	t->column = grown;
	t->column[n] = (struct column){ .name = pool_text(&t->names, name, strlen(name)),
					.type = type_of(name, type, times),
					.unit = pool_text(&t->names, unit, strlen(unit)),
					.help = "" };
	t->schema.columns = t->column;
	t->schema.ncolumns++;
	return t->column[n].name && t->column[n].unit ? 0 : -ENOMEM;
}

/* As the database has them, with the units that indicators say. */
static int read_columns(struct storetable *t, bool times, struct err *e)
{
	static const char of_postgres[] =
		"SELECT c.column_name, c.data_type, (SELECT MIN(k.unit) FROM indicator_columns k "
		"JOIN indicators i ON i.id = k.indicator_id WHERE i.table_name = $1 AND k.name = "
		"c.column_name) FROM information_schema.columns c WHERE c.table_schema = "
		"current_schema() AND c.table_name = $1 ORDER BY c.ordinal_position";
	static const char of_sqlite[] =
		"SELECT c.name, c.type, (SELECT MIN(k.unit) FROM indicator_columns k JOIN "
		"indicators i ON i.id = k.indicator_id WHERE i.table_name = $1 AND k.name = c.name) "
		"FROM pragma_table_info($1) c ORDER BY c.cid";
	const struct field v = field_text(t->schema.table), *row;
	int rc = database_query(
		t->database, database_is_postgres(t->database) ? of_postgres : of_sqlite, &v, 1, e);

	while (!rc && (rc = database_next(t->database, &row, e)) > 0)
		rc = add_column(t, row[0].s ? row[0].s : "", row[1].s ? row[1].s : "",
				row[2].s ? row[2].s : "", times)
			     ? no_memory(e)
			     : 0;
	if (!rc && !t->schema.ncolumns)
		rc = err_set(e, -ENOENT, "%.300s has no table %s", database_shown(t->database),
			     t->schema.table);
	return rc;
}

static int make_cells(struct storetable *t)
{
	t->cells = calloc(t->schema.ncolumns, sizeof *t->cells);
	for (uint32_t i = 0; t->cells && i < t->schema.ncolumns; i++) {
		t->cells[i].i = calloc(FRAME_BATCH_ROWS, sizeof *t->cells[i].i);
		t->cells[i].state = calloc(FRAME_BATCH_ROWS, 1);
		if (!t->cells[i].i || !t->cells[i].state)
			return -ENOMEM;
	}
	return t->cells ? 0 : -ENOMEM;
}

int storetable_open(struct storetable *t, struct database *s, const char *name, const char *only,
		    bool times, struct err *e)
{
	int rc;

	*t = (struct storetable){ .database = s };
	t->schema.table = pool_text(&t->names, name, strlen(name));
	rc = t->schema.table ? read_columns(t, times, e) : no_memory(e);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < t->schema.ncolumns; i++) {
		bytes_puts(&t->sql, i ? ", " : "SELECT ");
		indicator_quote(&t->sql, t->column[i].name);
	}
	bytes_puts(&t->sql, " FROM ");
	indicator_quote(&t->sql, name);
	bytes_printf(&t->sql, "%s%s ORDER BY 1, 2", *only ? " WHERE " : "", only);
	bytes_u8(&t->sql, 0);
	return t->sql.failed || make_cells(t) ? no_memory(e) : 0;
}

/* Returns the bytes it takes in the pool, or -ENOMEM. */
static ssize_t put_cell(struct storetable *t, uint32_t i, uint32_t at, const struct field *f)
{
	const struct cells *c = &t->cells[i];
	double number = field_number(f);
	size_t n = f->s ? strlen(f->s) : 0;

	c->state[at] = STATE_PRESENT;
	switch (t->column[i].type) {
	case COLUMN_TEXT:
		c->s[at] = f->type == FIELD_TEXT ? pool_text(&t->texts, f->s, n) : NULL;
		if (f->type == FIELD_TEXT && !c->s[at])
			return -ENOMEM;
		if (f->type != FIELD_TEXT)
			c->state[at] = STATE_ABSENT;
		return (ssize_t)n;
	case COLUMN_REAL:
		c->d[at] = number;
		if (isnan(number))
			c->state[at] = STATE_ABSENT;
		return 0;
	case COLUMN_INT:
	case COLUMN_TIME:
		break;
	}
	c->i[at] = f->i;
	if (f->type != FIELD_INT)
		c->state[at] = STATE_ABSENT;
	return 0;
}

static int next_batch(void *ctx, struct batch *b, struct err *e)
{
	struct storetable *t = ctx;
	const struct field *row;
	size_t bytes = 0;
	int rc = 0;

	pool_free(&t->texts);
	*b = (struct batch){ .columns = t->cells };
	if (!t->asked)
		rc = database_query(t->database, (const char *)t->sql.data, NULL, 0, e);
	t->asked = true;
	while (!rc && !t->over && b->nrows < FRAME_BATCH_ROWS && bytes < TEXT_BYTES) {
		rc = database_next(t->database, &row, e);
		if (rc <= 0) {
			t->over = true;
			break;
		}
		rc = 0;
		for (uint32_t i = 0; i < t->schema.ncolumns && !rc; i++) {
			ssize_t n = put_cell(t, i, b->nrows, &row[i]);

			bytes += n > 0 ? (size_t)n : 0;
			rc = n < 0 ? no_memory(e) : 0;
		}
		b->nrows += !rc;
	}
	return rc < 0 ? rc : b->nrows > 0;
}

struct table_source storetable_source(struct storetable *t)
{
	t->asked = t->over = false;
	return (struct table_source){ &t->schema, next_batch, t };
}

void storetable_close(struct storetable *t)
{
	for (uint32_t i = 0; t->cells && i < t->schema.ncolumns; i++) {
		free(t->cells[i].i);
		free(t->cells[i].state);
	}
	free(t->cells);
	free(t->column);
	pool_free(&t->names);
	pool_free(&t->texts);
	bytes_free(&t->sql);
	*t = (struct storetable){ 0 };
}
