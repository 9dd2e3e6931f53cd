/* SPDX-License-Identifier: Apache-2.0 */
#include "store/schema.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Stands for what makes a number for each new row. */
#define ID "{id}"

/* 1: runs and their summaries. */
static const char history[] =
	"CREATE TABLE runs (id " ID ", uid TEXT NOT NULL UNIQUE, name TEXT, command TEXT,"
	" user_name TEXT, cluster TEXT, scheduler TEXT, job_id TEXT, array_id TEXT,"
	" array_index TEXT, account TEXT, queue TEXT, path TEXT, state TEXT NOT NULL,"
	" version TEXT, start_ns BIGINT NOT NULL, wall_seconds DOUBLE PRECISION,"
	" exit_code BIGINT, signal BIGINT, nodes BIGINT);"
	"CREATE INDEX runs_start ON runs (start_ns);"
	"CREATE INDEX runs_name ON runs (name, start_ns);"
	"CREATE TABLE run_hosts (run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,"
	" host TEXT NOT NULL, PRIMARY KEY (run_id, host));"
	"CREATE INDEX run_hosts_host ON run_hosts (host);"
	"CREATE TABLE summaries (run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,"
	" name TEXT NOT NULL, value DOUBLE PRECISION, text TEXT, PRIMARY KEY (run_id, name))";

/* 2: whole recordings. Rows of a run are only ever replaced together, so that nothing has to be
 * checked row by row. */
static const char recordings[] =
	"CREATE TABLE pushes (run_id INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,"
	" content TEXT NOT NULL, samples BIGINT NOT NULL, pushed_ns BIGINT NOT NULL);"
	"CREATE TABLE nodes (run_id INTEGER NOT NULL, node INTEGER NOT NULL, host TEXT,"
	" begin_ns BIGINT, end_ns BIGINT, clock_error_ns BIGINT, complete INTEGER NOT NULL,"
	" PRIMARY KEY (run_id, node));"
	"CREATE TABLE metrics (run_id INTEGER NOT NULL, metric INTEGER NOT NULL,"
	" name TEXT NOT NULL, unit TEXT NOT NULL, kind TEXT NOT NULL, domain TEXT, help TEXT,"
	" formula TEXT, mul BIGINT NOT NULL, div BIGINT NOT NULL, PRIMARY KEY (run_id, metric));"
	"CREATE TABLE instances (run_id INTEGER NOT NULL, instance INTEGER NOT NULL,"
	" node INTEGER NOT NULL, parent INTEGER, domain TEXT NOT NULL, name TEXT,"
	" birth_ns BIGINT, end_ns BIGINT, aside INTEGER NOT NULL, PRIMARY KEY (run_id, instance));"
	"CREATE TABLE labels (run_id INTEGER NOT NULL, instance INTEGER NOT NULL,"
	" name TEXT NOT NULL, text TEXT);"
	"CREATE INDEX labels_instance ON labels (run_id, instance);"
	"CREATE TABLE finals (run_id INTEGER NOT NULL, instance INTEGER NOT NULL,"
	" metric INTEGER NOT NULL, stored BIGINT, real_value DOUBLE PRECISION);"
	"CREATE INDEX finals_instance ON finals (run_id, instance);"
	"CREATE TABLE series (run_id INTEGER NOT NULL, series INTEGER NOT NULL,"
	" node INTEGER NOT NULL, metric INTEGER NOT NULL, instance INTEGER, state TEXT NOT NULL,"
	" reason TEXT, PRIMARY KEY (run_id, series));"
	"CREATE TABLE samples (run_id INTEGER NOT NULL, series INTEGER NOT NULL,"
	" time_ns BIGINT NOT NULL, stored BIGINT, real_value DOUBLE PRECISION);"
	"CREATE INDEX samples_series ON samples (run_id, series, time_ns);"
	"CREATE TABLE marks (run_id INTEGER NOT NULL, node INTEGER NOT NULL, instance INTEGER,"
	" time_ns BIGINT NOT NULL, name TEXT, message TEXT);"
	"CREATE INDEX marks_run ON marks (run_id, time_ns);"
	"CREATE TABLE spans (run_id INTEGER NOT NULL, node INTEGER NOT NULL, track INTEGER,"
	" begin_ns BIGINT NOT NULL, end_ns BIGINT, name TEXT, detail TEXT);"
	"CREATE INDEX spans_run ON spans (run_id, begin_ns);"
	"CREATE TABLE metadata (run_id INTEGER NOT NULL, node INTEGER, name TEXT NOT NULL,"
	" text TEXT, value BIGINT, real_value DOUBLE PRECISION);"
	"CREATE INDEX metadata_run ON metadata (run_id, name);"
	/* Values in base units. */
	"CREATE VIEW readings AS SELECT p.run_id, p.series, n.host, m.name AS metric, m.unit,"
	" m.kind, i.domain, i.name AS instance, p.time_ns,"
	" COALESCE(p.real_value, CAST(p.stored AS DOUBLE PRECISION) * m.mul / m.div) AS value"
	" FROM samples p"
	" JOIN series s ON s.run_id = p.run_id AND s.series = p.series"
	" JOIN metrics m ON m.run_id = s.run_id AND m.metric = s.metric"
	" JOIN nodes n ON n.run_id = s.run_id AND n.node = s.node"
	" LEFT JOIN instances i ON i.run_id = s.run_id AND i.instance = s.instance;"
	/* What counters rose by per second since the reading before; none when they went back. */
	"CREATE VIEW rates AS SELECT run_id, series, host, metric, unit, domain, instance, time_ns,"
	" rise / (span_ns / 1e9) AS per_second FROM"
	" (SELECT run_id, series, host, metric, unit, domain, instance, time_ns,"
	" value - LAG(value) OVER (PARTITION BY run_id, series ORDER BY time_ns) AS rise,"
	" time_ns - LAG(time_ns) OVER (PARTITION BY run_id, series ORDER BY time_ns) AS span_ns"
	" FROM readings WHERE kind = 'counter') AS steps"
	" WHERE rise >= 0 AND span_ns > 0";

/* 3: benchmarks. The columns of an indicator are in a table of its own (bench/model.h), named in
 * indicators; facts of machine and software are kept once for all trials that share them. */
static const char benchmarks[] =
	"CREATE TABLE indicators (id " ID ", name TEXT NOT NULL UNIQUE,"
	" table_name TEXT NOT NULL UNIQUE, version BIGINT NOT NULL, declared INTEGER NOT NULL,"
	" score_column TEXT, score_worst DOUBLE PRECISION, score_best DOUBLE PRECISION);"
	"CREATE TABLE indicator_columns (indicator_id INTEGER NOT NULL"
	" REFERENCES indicators (id) ON DELETE CASCADE, place INTEGER NOT NULL,"
	" name TEXT NOT NULL, part TEXT NOT NULL, type TEXT NOT NULL, unit TEXT,"
	" is_indexed INTEGER NOT NULL, is_required INTEGER NOT NULL, since BIGINT NOT NULL,"
	" PRIMARY KEY (indicator_id, name));"
	"CREATE TABLE environments (id " ID ", digest TEXT NOT NULL UNIQUE);"
	"CREATE TABLE environment_facts (environment_id INTEGER NOT NULL"
	" REFERENCES environments (id) ON DELETE CASCADE, name TEXT NOT NULL, text TEXT,"
	" PRIMARY KEY (environment_id, name));"
	"CREATE TABLE batches (id " ID ", uid TEXT NOT NULL UNIQUE, source TEXT NOT NULL,"
	" origin TEXT, script_sha256 TEXT, command TEXT, user_name TEXT, start_ns BIGINT,"
	" specification TEXT);"
	"CREATE INDEX batches_start ON batches (start_ns);"
	"CREATE TABLE trials (id " ID ", batch_id INTEGER NOT NULL"
	" REFERENCES batches (id) ON DELETE CASCADE, number BIGINT NOT NULL,"
	" indicator_id INTEGER REFERENCES indicators (id),"
	" environment_id INTEGER REFERENCES environments (id), state TEXT NOT NULL, reason TEXT,"
	" component TEXT, version TEXT, overall_score DOUBLE PRECISION, score DOUBLE PRECISION,"
	" host TEXT, exit_code BIGINT, signal BIGINT, start_ns BIGINT, end_ns BIGINT,"
	" duration_seconds DOUBLE PRECISION, ru_utime DOUBLE PRECISION,"
	" ru_stime DOUBLE PRECISION, ru_maxrss BIGINT, ru_ixrss BIGINT, ru_idrss BIGINT,"
	" ru_isrss BIGINT, ru_minflt BIGINT, ru_majflt BIGINT, ru_nswap BIGINT,"
	" ru_inblock BIGINT, ru_oublock BIGINT, ru_msgsnd BIGINT, ru_msgrcv BIGINT,"
	" ru_nsignals BIGINT, ru_nvcsw BIGINT, ru_nivcsw BIGINT, load_1m DOUBLE PRECISION,"
	" governor TEXT, peak_memory_bytes DOUBLE PRECISION, energy_joules DOUBLE PRECISION,"
	" energy_apportioned_joules DOUBLE PRECISION, counters TEXT,"
	" document TEXT, stdout TEXT, stderr TEXT, path TEXT,"
	" run_id INTEGER REFERENCES runs (id) ON DELETE SET NULL, UNIQUE (batch_id, number));"
	"CREATE INDEX trials_indicator ON trials (indicator_id, start_ns)";

/* 4: sweeps: what is tried of a matrix. Whether a trial was run, its row says: number N of the
 * batch of its combination. */
static const char sweeps[] =
	"CREATE TABLE sweeps (id " ID ", uid TEXT NOT NULL UNIQUE, identifier TEXT,"
	" user_name TEXT, start_ns BIGINT, directory TEXT NOT NULL, decision TEXT NOT NULL,"
	" seed BIGINT NOT NULL, batch_size BIGINT NOT NULL, specification TEXT NOT NULL);"
	"CREATE TABLE sweep_points (sweep_id INTEGER NOT NULL"
	" REFERENCES sweeps (id) ON DELETE CASCADE, combination BIGINT NOT NULL,"
	" position BIGINT NOT NULL, batch_id INTEGER REFERENCES batches (id) ON DELETE SET NULL,"
	" stack TEXT NOT NULL, environment TEXT NOT NULL, parameters TEXT NOT NULL,"
	" skipped TEXT, PRIMARY KEY (sweep_id, combination))";

/* 5: in which order the trials of a sweep run: "rounds"; of older ones, which ran combination by
 * combination, it is null. */
static const char orders[] = "ALTER TABLE sweeps ADD COLUMN trial_order TEXT";

/* 6: whether a parameter is the workload or a choice, where a model says so. */
static const char roles[] = "ALTER TABLE indicator_columns ADD COLUMN role TEXT";

/* 7: what a model's results have to be by each other: a line for each. */
static const char checks[] = "ALTER TABLE indicators ADD COLUMN checks TEXT";

/* 8: what disturbed a trial. */
static const char noises[] = "ALTER TABLE trials ADD COLUMN others_ratio DOUBLE PRECISION;"
			     "ALTER TABLE trials ADD COLUMN waited_ratio DOUBLE PRECISION;"
			     "ALTER TABLE trials ADD COLUMN steal_ratio DOUBLE PRECISION;"
			     "ALTER TABLE trials ADD COLUMN throttled_ratio DOUBLE PRECISION;"
			     "ALTER TABLE trials ADD COLUMN heat_throttles DOUBLE PRECISION;"
			     "ALTER TABLE trials ADD COLUMN frequency_hertz DOUBLE PRECISION";

/* 9: what people write about batches. */
static const char notes[] = "ALTER TABLE batches ADD COLUMN note TEXT;"
			    "CREATE TABLE batch_tags (batch_id INTEGER NOT NULL"
			    " REFERENCES batches (id) ON DELETE CASCADE, tag TEXT NOT NULL,"
			    " PRIMARY KEY (batch_id, tag))";

/* 10: which figure peak_memory_bytes of a trial is, as job.peak_memory_kind of a recording. */
static const char memory_kinds[] = "ALTER TABLE trials ADD COLUMN peak_memory_kind TEXT";

static const char *const versions[] = { history, recordings, benchmarks, sweeps, orders,
					roles,   checks,     noises,     notes,  memory_kinds };
const uint32_t schema_latest = sizeof versions / sizeof versions[0];

/* 0: there are no tables yet. */
static int read_version(struct database *s, int64_t *version, struct err *e)
{
	const char *find =
		database_is_postgres(s)
			? "SELECT COUNT(*) FROM pg_tables WHERE schemaname = 'sonde' AND "
			  "tablename = 'sonde_schema'"
			: "SELECT COUNT(*) FROM sqlite_master WHERE name = "
			  "'sonde_schema'";
	const struct field *row = NULL;
	int rc = database_first(s, find, NULL, 0, &row, e);

	*version = 0;
	if (rc <= 0 || !row || row[0].i == 0)
		return rc < 0 ? rc : 0;
	rc = database_first(s, "SELECT version FROM sonde_schema", NULL, 0, &row, e);
	if (rc > 0 && row[0].type == FIELD_INT)
		*version = row[0].i;
	return rc < 0 ? rc : 0;
}

/* A file of SQLite that is another program's stays as it is; on a server Sonde has a schema of its
 * own. */
static int check_empty(struct database *s, struct err *e)
{
	const struct field *row = NULL;
	int rc;

	if (database_is_postgres(s))
		return 0;
	rc = database_first(s, "SELECT COUNT(*) FROM sqlite_master", NULL, 0, &row, e);
	if (rc > 0 && row && row[0].i)
		return err_set(e, -EEXIST,
			       "%.300s is a database of another program; name another file",
			       database_shown(s));
	return rc < 0 ? rc : 0;
}

/* Begin what changes the tables; one at a time. */
static int lock(struct database *s, struct err *e)
{
	int rc = database_begin(s, e);

	if (rc || !database_is_postgres(s))
		return rc;
	rc = database_exec(s, "SELECT pg_advisory_xact_lock(7239587100362785)", NULL, 0, e);
	return rc ? rc : database_exec(s, "CREATE SCHEMA IF NOT EXISTS sonde", NULL, 0, e);
}

static void put_version(struct bytes *text, uint32_t i, bool postgres)
{
	const char *id = postgres ? "INTEGER GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"
				  : "INTEGER PRIMARY KEY";
	const char *sql = versions[i], *at = strstr(sql, ID);

	for (; at; at = strstr(sql, ID)) {
		bytes_printf(text, "%.*s%s", (int)(at - sql), sql, id);
		sql = at + strlen(ID);
	}
	bytes_puts(text, sql);
}

void schema_text(struct bytes *b, bool postgres)
{
	for (uint32_t i = 0; i < schema_latest; i++) {
		put_version(b, i, postgres);
		bytes_puts(b, ";\n");
	}
}

static int make_version(struct database *s, uint32_t from, struct err *e)
{
	struct bytes text = { 0 };

	put_version(&text, from, database_is_postgres(s));
	return database_exec_bytes(s, &text, NULL, 0, e);
}

static int migrate(struct database *s, uint32_t version, struct err *e)
{
	struct field v;
	int64_t have = 0;
	int rc = read_version(s, &have, e); /* another may have been here first */

	if (rc || have >= version)
		return rc;
	if (!have)
		rc = check_empty(s, e);
	if (!have && !rc)
		rc = database_exec(s,
				   "CREATE TABLE sonde_schema (version BIGINT NOT NULL);"
				   "INSERT INTO sonde_schema VALUES (0)",
				   NULL, 0, e);
	for (uint32_t i = (uint32_t)have; i < version && i < schema_latest && !rc; i++)
		rc = make_version(s, i, e);
	v = field_int(version);
	return rc ? rc : database_exec(s, "UPDATE sonde_schema SET version = $1", &v, 1, e);
}

int schema_bring(struct database *s, uint32_t version, struct err *e)
{
	int64_t have = 0;
	int rc = read_version(s, &have, e);

	if (!rc && have < version) {
		rc = lock(s, e);
		if (!rc)
			rc = migrate(s, version, e);
		if (!rc)
			return database_commit(s, e);
		database_rollback(s);
	}
	if (!rc && have > schema_latest)
		rc = err_set(e, -EPROTO,
			     "the store %.300s is of a newer Sonde (its tables are version %" PRId64
			     ", this one knows %u); use that one",
			     database_shown(s), have, schema_latest);
	return rc;
}
