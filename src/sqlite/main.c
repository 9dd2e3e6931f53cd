/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sonde-sqlite - writes a table of the recording into an SQLite database: sonde export --to sqlite.
 *
 * The database is a file that nobody else knows yet, so that it needs no journal: who started this
 * helper gives it its name when it is whole.
 */
#include "sink/foreign.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>

struct sqlite {
	const struct frame_schema *schema;
	sqlite3 *db;
	sqlite3_stmt *insert;
};

static const char *const type_names[] = {
	[COLUMN_TEXT] = "TEXT",
	[COLUMN_INT] = "INTEGER",
	[COLUMN_REAL] = "REAL",
	[COLUMN_TIME] = "INTEGER",
};

/* The library's reason, with the system's error where that is behind it. */
static int fail(const struct sqlite *s, struct err *e)
{
	int result = sqlite3_extended_errcode(s->db) & 0xff, code = sqlite3_system_errno(s->db);

	if (result == SQLITE_FULL)
		code = ENOSPC;
	else if (result == SQLITE_NOMEM)
		code = ENOMEM;
	else if (result != SQLITE_IOERR && result != SQLITE_CANTOPEN)
		code = 0;
	if (code)
		return err_set(e, -code, "%s", strerror(code));
	return err_set(e, -EIO, "SQLite: %s", sqlite3_errmsg(s->db));
}

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory");
}

/* One statement; its text is freed. */
static int execute(struct sqlite *s, char *text, struct err *e)
{
	int rc = text ? sqlite3_exec(s->db, text, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(text);
	return rc == SQLITE_OK ? 0 : fail(s, e);
}

static bool same_name(const char *a, const char *b)
{
	return !sqlite3_stricmp(a, b);
}

/* SQLite does not tell upper from lower case in names: what comes second gets a number. */
static unsigned times_before(const struct frame_schema *schema, uint32_t column)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < column; i++)
		n += same_name(schema->columns[i].name, schema->columns[column].name);
	return n;
}

static char *column_name(const struct frame_schema *schema, uint32_t column)
{
	unsigned before = times_before(schema, column);

	if (!before)
		return sqlite3_mprintf("%s", schema->columns[column].name);
	return sqlite3_mprintf("%s_%u", schema->columns[column].name, before + 1);
}

static int create_table(struct sqlite *s, struct err *e)
{
	const struct frame_schema *schema = s->schema;
	sqlite3_str *text = sqlite3_str_new(s->db);

	sqlite3_str_appendf(text, "CREATE TABLE \"%w\" (", schema->table);
	for (uint32_t i = 0; i < schema->ncolumns; i++) {
		char *name = column_name(schema, i);

		sqlite3_str_appendf(text, "%s\"%w\" %s", i ? ", " : "", name ? name : "",
				    type_names[schema->columns[i].type]);
		sqlite3_free(name);
	}
	sqlite3_str_appendall(text, ")");
	return execute(s, sqlite3_str_finish(text), e);
}

static int prepare_insert(struct sqlite *s, struct err *e)
{
	sqlite3_str *text = sqlite3_str_new(s->db);
	char *sql;
	int rc;

	sqlite3_str_appendf(text, "INSERT INTO \"%w\" VALUES (", s->schema->table);
	for (uint32_t i = 0; i < s->schema->ncolumns; i++)
		sqlite3_str_appendall(text, i ? ", ?" : "?");
	sqlite3_str_appendall(text, ")");
	sql = sqlite3_str_finish(text);
	rc = sql ? sqlite3_prepare_v2(s->db, sql, -1, &s->insert, NULL) : SQLITE_NOMEM;
	sqlite3_free(sql);
	return rc == SQLITE_OK ? 0 : fail(s, e);
}

/* What the columns are, and what the metric column may say, for every table of the file. */
static const char descriptions[] =
	"CREATE TABLE IF NOT EXISTS sonde_columns (table_name TEXT, position INTEGER, name TEXT, "
	"type TEXT, unit TEXT, kind TEXT, help TEXT);"
	"CREATE TABLE IF NOT EXISTS sonde_metrics (table_name TEXT, name TEXT, unit TEXT, kind TEXT, "
	"help TEXT);"
	"CREATE TABLE IF NOT EXISTS sonde_losses (table_name TEXT, loss TEXT);";

static int describe_column(struct sqlite *s, uint32_t i, struct err *e)
{
	const struct column *c = &s->schema->columns[i];
	char *name = column_name(s->schema, i);
	int rc = name ? execute(s,
				sqlite3_mprintf("INSERT INTO sonde_columns VALUES (%Q, %u, %Q, %Q, "
						"%Q, %Q, %Q)",
						s->schema->table, i, name, type_names[c->type],
						c->type == COLUMN_TIME
							? "nanoseconds since 1970, UTC"
							: c->unit,
						c->kind, c->help),
				e)
		      : no_memory(e);

	sqlite3_free(name);
	return rc;
}

/* What the recording lost, a row each: "36 of 100 spans left out (36 %); ..." */
static int describe_losses(struct sqlite *s, struct err *e)
{
	const char *at = s->schema->losses ? s->schema->losses : "", *end;
	int rc = 0;

	for (; *at && !rc; at = *end ? end + 2 : end) {
		end = strstr(at, "; ");
		end = end ? end : at + strlen(at);
		rc = execute(s,
			     sqlite3_mprintf("INSERT INTO sonde_losses VALUES (%Q, '%.*q')",
					     s->schema->table, (int)(end - at), at),
			     e);
	}
	return rc;
}

static int describe(struct sqlite *s, struct err *e)
{
	const struct frame_schema *schema = s->schema;
	int rc = execute(s, sqlite3_mprintf("%s", descriptions), e);

	if (!rc)
		rc = execute(s,
			     sqlite3_mprintf("DELETE FROM sonde_columns WHERE table_name = %Q; "
					     "DELETE FROM sonde_metrics WHERE table_name = %Q; "
					     "DELETE FROM sonde_losses WHERE table_name = %Q",
					     schema->table, schema->table, schema->table),
			     e);
	rc = rc ? rc : describe_losses(s, e);
	for (uint32_t i = 0; i < schema->ncolumns && !rc; i++)
		rc = describe_column(s, i, e);
	for (uint32_t i = 0; i < schema->nmetrics && !rc; i++) {
		const struct column *m = &schema->metrics[i];

		rc = execute(
			s,
			sqlite3_mprintf("INSERT INTO sonde_metrics VALUES (%Q, %Q, %Q, %Q, %Q)",
					schema->table, m->name, m->unit, m->kind, m->help),
			e);
	}
	return rc;
}

static int sqlite_begin(void *state, const struct frame_schema *schema, FILE *out, struct err *e)
{
	struct sqlite *s = state;
	char path[64];
	int rc;

	s->schema = schema;
	if (sqlite3_open_v2(foreign_path(out, path, sizeof(path)), &s->db, SQLITE_OPEN_READWRITE,
			    NULL) != SQLITE_OK)
		return s->db ? fail(s, e) : no_memory(e);
	if ((int)schema->ncolumns > sqlite3_limit(s->db, SQLITE_LIMIT_COLUMN, -1))
		return err_set(
			e, -E2BIG,
			"a table of SQLite has at most %d columns, not %u; choose fewer with "
			"--metrics",
			sqlite3_limit(s->db, SQLITE_LIMIT_COLUMN, -1), schema->ncolumns);
	rc = execute(s,
		     sqlite3_mprintf("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
				     "PRAGMA locking_mode = EXCLUSIVE; BEGIN; "
				     "DROP TABLE IF EXISTS \"%w\"",
				     schema->table),
		     e);
	rc = rc ? rc : create_table(s, e);
	rc = rc ? rc : describe(s, e);
	return rc ? rc : prepare_insert(s, e);
}

static int bind(struct sqlite *s, int at, enum column_type type, const struct cells *c,
		uint32_t row)
{
	if (c->state[row] != STATE_PRESENT)
		return sqlite3_bind_null(s->insert, at);
	switch (type) {
	case COLUMN_TEXT:
		return sqlite3_bind_text(s->insert, at, c->s[row], -1, SQLITE_STATIC);
	case COLUMN_REAL:
		return sqlite3_bind_double(s->insert, at, c->d[row]);
	case COLUMN_INT:
	case COLUMN_TIME:
		break;
	}
	return sqlite3_bind_int64(s->insert, at, c->i[row]);
}

static int sqlite_batch(void *state, const struct batch *b, struct err *e)
{
	struct sqlite *s = state;

	for (uint32_t row = 0; row < b->nrows; row++) {
		for (uint32_t i = 0; i < s->schema->ncolumns; i++)
			if (bind(s, (int)i + 1, s->schema->columns[i].type, &b->columns[i], row) !=
			    SQLITE_OK)
				return fail(s, e);
		if (sqlite3_step(s->insert) != SQLITE_DONE || sqlite3_reset(s->insert) != SQLITE_OK)
			return fail(s, e);
	}
	return 0;
}

static int sqlite_end(void *state, struct err *e)
{
	struct sqlite *s = state;
	int rc = execute(s, sqlite3_mprintf("COMMIT"), e);

	if (!rc && (sqlite3_finalize(s->insert) != SQLITE_OK || sqlite3_close(s->db) != SQLITE_OK))
		rc = fail(s, e);
	if (!rc)
		*s = (struct sqlite){ 0 };
	return rc;
}

static void sqlite_free(void *state)
{
	struct sqlite *s = state;

	sqlite3_finalize(s->insert);
	sqlite3_close(s->db);
}

static const struct sink writer = {
	.name = "sqlite",
	.size = sizeof(struct sqlite),
	.begin = sqlite_begin,
	.batch = sqlite_batch,
	.end = sqlite_end,
	.free = sqlite_free,
};

int main(void)
{
	return foreign_serve(&writer);
}
