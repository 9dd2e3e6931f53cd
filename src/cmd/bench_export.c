/* SPDX-License-Identifier: Apache-2.0 */
/* bench_export.c - the trials that are kept, as files of any format that sonde export writes. */
#include "base/array.h"
#include "base/pool.h"
#include "bench/group.h"
#include "bench/indicator.h"
#include "console/command.h"
#include "core/glob.h"
#include "output/outfile.h"
#include "session/history.h"
#include "sink/sink.h"
#include "store/database.h"
#include "trial/benchprint.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct storetable {
	struct database *database; /* borrowed */
	struct frame_schema schema;
	struct column *column;
	struct cells *cells;
	struct pool names, texts; /* texts: of a batch */
	struct bytes sql;
	bool asked, over;
};

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

/* name: of a table; only: a condition behind WHERE, or "". times: columns named _ns are times. 0,
 * or -errno. Close it in either case. */
static int storetable_open(struct storetable *t, struct database *s, const char *name,
			   const char *only, bool times, struct err *e)
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

/* It begins anew with each call. */
static struct table_source storetable_source(struct storetable *t)
{
	t->asked = t->over = false;
	return (struct table_source){ &t->schema, next_batch, t };
}

static void storetable_close(struct storetable *t)
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

#define TO_STANDARD_OUTPUT "-"
#define NAME_CHARACTERS    "abcdefghijklmnopqrstuvwxyz0123456789_"

struct export_options {
	const char *to, *output, *store, *table;
	bool json;
};

static const struct option rows[] = {
	{ .name = "to",
	  .type = ARG_TEXT,
	  .value = "FORMATS",
	  .fallback = "csv",
	  .help = "Write these formats, separated by commas: csv json parquet feather orc pickle "
		  "sqlite hdf5.",
	  OPTION_OFFSET(struct export_options, to) },
	{ .name = "output",
	  .letter = 'o',
	  .type = ARG_TEXT,
	  .value = "DIR",
	  .fallback = ".",
	  .help = "Write the files to DIR, created if missing; - writes one table in one format "
		  "to standard output.",
	  OPTION_OFFSET(struct export_options, output) },
	{ .name = "table",
	  .type = ARG_TEXT,
	  .value = "GLOBS",
	  .help = "Write only these tables: 'trials,trials_pi_*'.",
	  OPTION_OFFSET(struct export_options, table) },
	BENCH_STORE(struct export_options, store, "Read this store."),
	{ .name = "json",
	  .type = ARG_FLAG,
	  .help = "Print the names of the written files as JSON, schema sonde/bench-export/1.",
	  OPTION_OFFSET(struct export_options, json) },
};

static const struct example examples[] = {
	{ "bench export --to parquet -o trials", "all tables" },
	{ "bench export -o - --table pi_matmul bench:3", "one table of one batch" },
};

/* Those of all indicators; %s: the ids of batches. */
static const struct own_table {
	const char *name, *only;
} own_tables[] = {
	{ "batches", "id IN (%s)" },
	{ "trials", "batch_id IN (%s)" },
	{ "environments", "id IN (SELECT environment_id FROM trials WHERE batch_id IN (%s))" },
	{ "environment_facts",
	  "environment_id IN (SELECT environment_id FROM trials WHERE batch_id IN (%s))" },
	{ "indicators", "id IN (SELECT indicator_id FROM trials WHERE batch_id IN (%s))" },
	{ "indicator_columns",
	  "indicator_id IN (SELECT indicator_id FROM trials WHERE batch_id IN (%s))" },
	{ "batch_tags", "batch_id IN (%s)" },
};
enum { OWN = sizeof own_tables / sizeof own_tables[0], BATCHES_MAX = 100000 };
static const char of_indicator[] = "trial_id IN (SELECT id FROM trials WHERE batch_id IN (%s))";

struct exporting {
	const struct export_options *o;
	struct database *database;
	struct outputs written;
	struct bytes batches; /* "3, 4"; empty: all */
	struct pool pool;
	const char **name; /* of the indicators' tables */
	uint32_t n, cap;
};

/* The sinks that are asked for, one after the other: *at moves on. NULL: no more, or none such. */
static const struct sink *next_format(const char **at)
{
	char name[32];
	size_t n = strcspn(*at, ",");

	snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : 0), *at);
	*at += n + ((*at)[n] == ',');
	return sink_find(name);
}

static int check_formats(const char *to, struct err *e)
{
	const char *at = to;
	unsigned n = 0;

	do {
		const struct sink *k = next_format(&at);

		n++;
		if (!k || k->series_only)
			return err_set(e, -EINVAL,
				       "%.100s: the formats are csv, json, parquet, feather, orc, "
				       "pickle, sqlite and hdf5, with commas between them",
				       to);
	} while (*at);
	return (int)n;
}

static int choose_batches(struct exporting *x, int n, char **words, struct err *e)
{
	int64_t *batch = n ? malloc(BATCHES_MAX * sizeof *batch) : NULL;
	uint32_t found = 0;
	int rc = n && !batch ? err_set(e, -ENOMEM, "out of memory") : 0;

	for (int i = 0; i < n && batch && !rc; i++) {
		rc = bench_batches(x->database, words[i], batch, BATCHES_MAX, &found, e);
		for (uint32_t k = 0; k < found && !rc; k++)
			bytes_printf(&x->batches, "%s%" PRId64, x->batches.len ? ", " : "",
				     batch[k]);
	}
	free(batch);
	bytes_u8(&x->batches, 0);
	return !rc && x->batches.failed ? err_set(e, -ENOMEM, "out of memory") : rc;
}

static int check_batches(struct exporting *x, int n, char **words, struct err *e)
{
	const struct field *row;
	int rc = 0;

	for (int i = 0; i < n && !rc; i++) {
		const struct field id = field_int(bench_batch_id(words[i]));

		if (!id.i) /* an indicator, of which there are some */
			continue;
		rc = database_query(x->database, "SELECT id FROM batches WHERE id = $1", &id, 1, e);
		if (!rc)
			rc = database_next(x->database, &row, e);
		if (!rc)
			return err_set(e, -ENOENT,
				       "there is no %.100s; sonde bench list prints them",
				       words[i]);
		while (rc > 0)
			rc = database_next(x->database, &row, e);
	}
	return rc;
}

static int find_indicators(struct exporting *x, struct err *e)
{
	const struct field *row;
	struct bytes sql = { 0 };
	int rc;

	bytes_puts(&sql, "SELECT table_name FROM indicators");
	if (x->batches.len > 1)
		bytes_printf(
			&sql,
			" WHERE id IN (SELECT indicator_id FROM trials WHERE batch_id IN (%s))",
			(const char *)x->batches.data);
	bytes_puts(&sql, " ORDER BY table_name");
	bytes_u8(&sql, 0);
	rc = sql.failed ? err_set(e, -ENOMEM, "out of memory")
			: database_query(x->database, (const char *)sql.data, NULL, 0, e);
	bytes_free(&sql);
	while (!rc && (rc = database_next(x->database, &row, e)) > 0) {
		const char *name = row[0].s ? row[0].s : "";
		void *grown = array_room(x->name, x->n, &x->cap, sizeof *x->name);

		rc = 0;
		if (!*name || name[strspn(name, NAME_CHARACTERS)])
			continue; /* no table of ours */
		if (grown)
			x->name = grown;
		if (!grown || !(x->name[x->n] = pool_text(&x->pool, name, strlen(name))))
			return err_set(e, -ENOMEM, "out of memory");
		x->n++;
	}
	return rc;
}

static int write_file(struct exporting *x, struct storetable *t, const struct sink *k,
		      struct err *e)
{
	const struct table_source from = storetable_source(t);
	struct outfile out;
	char name[128];
	int rc;

	if (!strcmp(x->o->output, TO_STANDARD_OUTPUT))
		return sink_pull(k, &from, stdout, e);
	snprintf(name, sizeof name, "%s.%s", t->schema.table, sink_extension(k));
	rc = outfile_open(&out, x->o->output, name, e);
	if (rc)
		return rc;
	rc = outfile_close(&out, sink_pull(k, &from, out.file, e), e);
	if (!rc)
		outputs_add(&x->written, out.path);
	return rc;
}

static bool is_wanted(const struct exporting *x, const char *name)
{
	return !x->o->table || glob_match(x->o->table, name);
}

static int export_table(struct exporting *x, const char *name, const char *only, bool times,
			struct err *e)
{
	struct storetable t;
	struct bytes where = { 0 };
	const char *hole = only ? strstr(only, "%s") : NULL;
	int rc;

	if (!is_wanted(x, name))
		return 0;
	if (hole && x->batches.len > 1) {
		bytes_put(&where, only, (size_t)(hole - only));
		bytes_puts(&where, (const char *)x->batches.data);
		bytes_puts(&where, hole + 2);
	}
	bytes_u8(&where, 0);
	rc = where.failed ? err_set(e, -ENOMEM, "out of memory") : 0;
	t = (struct storetable){ 0 };
	if (!rc)
		rc = storetable_open(&t, x->database, name, (const char *)where.data, times, e);
	for (const char *at = x->o->to; !rc && *at;)
		rc = write_file(x, &t, next_format(&at), e);
	storetable_close(&t);
	bytes_free(&where);
	return rc;
}

static uint32_t count_wanted(const struct exporting *x)
{
	uint32_t n = 0;

	for (size_t i = 0; i < OWN; i++)
		n += is_wanted(x, own_tables[i].name);
	for (uint32_t i = 0; i < x->n; i++)
		n += is_wanted(x, x->name[i]);
	return n;
}

/* All of them as they are at one moment. */
static int export_tables(struct exporting *x, int formats, struct err *e)
{
	uint32_t wanted;
	int rc = find_indicators(x, e);

	if (rc)
		return rc;
	wanted = count_wanted(x);
	if (!wanted)
		return err_set(e, -EINVAL,
			       "there is no table '%.100s'; there are batches, trials, "
			       "environments, environment_facts, indicators, indicator_columns, "
			       "batch_tags, and one of each indicator",
			       x->o->table);
	if (!strcmp(x->o->output, TO_STANDARD_OUTPUT) && (wanted > 1 || formats > 1 || x->o->json))
		return err_set(e, -EINVAL,
			       "standard output takes one table in one format: select it with "
			       "--table and --to, and remove --json");
	for (size_t i = 0; i < OWN && !rc; i++)
		rc = export_table(x, own_tables[i].name, own_tables[i].only, true, e);
	for (uint32_t i = 0; i < x->n && !rc; i++)
		rc = export_table(x, x->name[i], of_indicator, false, e);
	return rc;
}

static int export_exec(const void *options, int noperands, char **operands)
{
	const struct export_options *o = options;
	const struct history_options where = { .store = o->store };
	struct exporting x = { .o = o, .written = { .verb = "bench-export", .json = o->json } };
	struct err e = { "" };
	int formats = check_formats(o->to, &e), rc = formats < 0 ? formats : 0;

	if (!rc)
		rc = history_open(&x.database, &where, "bench export", &e);
	if (!rc)
		rc = database_snapshot(x.database, &e);
	if (!rc)
		rc = choose_batches(&x, noperands, operands, &e);
	if (!rc)
		rc = check_batches(&x, noperands, operands, &e);
	if (!rc)
		rc = export_tables(&x, formats, &e);
	database_close(x.database);
	if (rc)
		say("bench export: %s", e.text);
	else if (strcmp(o->output, TO_STANDARD_OUTPUT) != 0)
		say("exported %u file%s to %s", x.written.files, x.written.files == 1 ? "" : "s",
		    o->output);
	x.written.json &= !rc; /* else the error is the document */
	if (outputs_end(&x.written, 0) && !rc)
		rc = -EIO;
	bytes_free(&x.batches);
	free(x.name);
	pool_free(&x.pool);
	return rc == -EINVAL ? EXIT_USAGE : rc ? EXIT_FAILED : EXIT_OK;
}

const struct command command_bench_export = {
	.name = "bench export",
	.operands = "[bench:ID|INDICATOR...]",
	.what = "Write the stored trials as tables",
	.description =
		"Writes one file per table, named by table and format: batches, trials, "
		"environments with their facts, the indicators with their columns, and the table "
		"of each indicator. If batches are given, it writes only their rows, and only the "
		"tables of their indicators. trial_id in "
		"the table of an indicator is the id of trials. Numbers stay numbers; unknown "
		"values are empty in CSV and null elsewhere, never 0.\n\n"
		"All tables are from one snapshot of the store. An existing file is replaced only "
		"when the new one is complete.",
	COMMAND_OPTIONS(rows),
	.size = sizeof(struct export_options),
	COMMAND_EXAMPLES(examples),
	.exec = export_exec,
};
