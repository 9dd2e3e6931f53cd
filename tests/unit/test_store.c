/* SPDX-License-Identifier: Apache-2.0 */
/* The store: values come back as they were put, its tables are brought up from each older version,
 * what was not committed has not happened, and many may write at once. */
#include "store/database.h"
#include "store/history.h"
#include "store/schema.h"
#include "store/usage.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { WRITERS = 8, ROWS = 40 };

static struct database *opened(const char *where)
{
	struct database *s;
	struct err e = { "" };

	if (database_open(&s, where, &e))
		fail_msg("%s", e.text);
	return s;
}

static void run(struct database *s, const char *sql, const struct field *v, uint32_t n)
{
	struct err e = { "" };

	if (database_exec(s, sql, v, n, &e))
		fail_msg("%s: %s", sql, e.text);
}

/* The first field of the first row. */
static struct field ask(struct database *s, const char *sql)
{
	const struct field *row = NULL;
	struct err e = { "" };

	if (database_query(s, sql, NULL, 0, &e) || database_next(s, &row, &e) != 1)
		fail_msg("%s: %s", sql, e.text);
	return row[0];
}

static void values_come_back(void **state)
{
	static const int64_t ints[] = { INT64_MIN, -1, 0, (INT64_C(1) << 53) + 1, INT64_MAX };
	static const double reals[] = { -DBL_MAX, DBL_MIN, 0.1, 1e300, INFINITY };
	const struct field text = field_text("a'b\"c\\d\n\xc3\xa9$1?"), bad = field_text("x\xff");
	struct database *s = opened("values.sqlite");
	const struct field *row;
	struct err e = { "" };
	struct stat st;

	(void)state;
	run(s, "CREATE TABLE t (n BIGINT, i BIGINT, d DOUBLE PRECISION, s TEXT)", NULL, 0);
	for (int i = 0; i < 5; i++) {
		/* not in their order */
		const struct field v[] = { field_real(reals[i]), i ? text : bad, field_int(ints[i]),
					   field_int(i), field_real(NAN) };

		run(s, "INSERT INTO t (n, i, d, s) VALUES ($4, $3, $1, $2)", v, 5);
	}
	assert_int_equal(database_query(s, "SELECT i, d, s, NULL FROM t ORDER BY n", NULL, 0, &e),
			 0);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(database_next(s, &row, &e), 1);
		assert_true(row[0].type == FIELD_INT && row[0].i == ints[i]);
		assert_true(row[1].type == FIELD_REAL && row[1].d == reals[i]);
		assert_string_equal(row[2].s, i ? text.s : "x\xef\xbf\xbd");
		assert_int_equal(row[3].type, FIELD_NULL);
	}
	assert_int_equal(database_next(s, &row, &e), 0);
	database_close(s);
	assert_int_equal(stat("values.sqlite", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

enum { WITH_BENCHMARKS = 3 }; /* the first version that has them */

static void put_trial(struct database *s)
{
	run(s,
	    "INSERT INTO indicators (id, name, table_name, version, declared) VALUES (4, 'I', 'trials_i', 1, 0)",
	    NULL, 0);
	run(s, "INSERT INTO batches (id, uid, source) VALUES (5, 'b', 'run')", NULL, 0);
	run(s,
	    "INSERT INTO trials (id, batch_id, number, indicator_id, state, load_1m) VALUES (6, 5, 1, 4, 'ok', 0.5)",
	    NULL, 0);
}

/* All of it, and nothing that was not known. */
static void has_trial(struct database *s)
{
	assert_int_equal(ask(s, "SELECT COUNT(*) FROM trials t JOIN batches b ON b.id = t.batch_id "
				"JOIN indicators i ON i.id = t.indicator_id WHERE t.id = 6 AND "
				"t.load_1m = 0.5 AND others_ratio IS NULL AND frequency_hertz IS "
				"NULL AND b.note IS NULL AND i.checks IS NULL")
				 .i,
			 1);
	run(s, "INSERT INTO batch_tags (batch_id, tag) VALUES (5, 'old')", NULL, 0);
	run(s, "DELETE FROM batches WHERE id = 5", NULL, 0);
	assert_int_equal(ask(s, "SELECT COUNT(*) FROM batch_tags").i, 0);
}

static void tables_are_brought_up_from_each_version(void **state)
{
	(void)state;
	for (uint32_t version = 1; version <= schema_latest; version++) {
		struct database *s;
		struct err e = { "" };
		char name[32];

		snprintf(name, sizeof name, "version%u.sqlite", version);
		assert_int_equal(database_connect(&s, name, &e), 0);
		assert_int_equal(schema_bring(s, version, &e), 0);
		assert_int_equal(ask(s, "SELECT version FROM sonde_schema").i, version);
		run(s, "INSERT INTO runs (uid, state, start_ns) VALUES ('x', 'complete', 1)", NULL,
		    0);
		if (version >= WITH_BENCHMARKS)
			put_trial(s);
		database_close(s);
		s = opened(name);
		assert_int_equal(ask(s, "SELECT version FROM sonde_schema").i, schema_latest);
		assert_int_equal(ask(s, "SELECT COUNT(*) FROM runs WHERE uid = 'x'").i, 1);
		assert_int_equal(ask(s, "SELECT COUNT(*) FROM pushes").i, 0);
		assert_int_equal(ask(s, "SELECT COUNT(*) FROM rates").i, 0);
		if (version >= WITH_BENCHMARKS)
			has_trial(s);
		assert_int_equal(ask(s, "SELECT COUNT(*) FROM trials").i, 0);
		database_close(s);
	}
}

/* More of them than may be owed at once, and one that is wrong: it is told in the end. */
static void statements_may_go_without_waiting(void **state)
{
	struct database *s = opened("later.sqlite");
	struct err e = { "" };

	(void)state;
	run(s, "CREATE TABLE t (n BIGINT UNIQUE)", NULL, 0);
	for (int good = 1; good >= 0; good--) {
		int rc = database_begin(s, &e);

		for (int i = 0; i < 1000 && !rc; i++) {
			const struct field v = field_int(good || i != 990 ? i + 1000 * !good : 7);

			rc = database_exec_later(s, "INSERT INTO t (n) VALUES ($1)", &v, 1, &e);
		}
		assert_int_equal(rc, 0);
		assert_int_equal(database_commit(s, &e) == 0, good);
		if (!good)
			assert_non_null(strstr(e.text, "UNIQUE"));
	}
	database_rollback(s);
	assert_int_equal(ask(s, "SELECT COUNT(*) FROM t WHERE n < 1000").i, 1000);
	database_close(s);
}

static void newer_tables_are_left_alone(void **state)
{
	struct database *s = opened("newer.sqlite");
	struct err e = { "" };

	(void)state;
	run(s, "UPDATE sonde_schema SET version = 1000", NULL, 0);
	database_close(s);
	assert_int_equal(database_open(&s, "newer.sqlite", &e), -EPROTO);
	assert_null(s);
	assert_non_null(strstr(e.text, "newer Sonde"));
}

static void no_database_is_said(void **state)
{
	struct database *s;
	struct err e = { "" };
	FILE *f = fopen("no.sqlite", "w");

	(void)state;
	fputs("this is not a database, and long enough to be looked at as one\n", f);
	fclose(f);
	assert_int_equal(database_open(&s, "no.sqlite", &e), -EBADMSG);
	assert_int_equal(database_open(&s, "/nowhere/x.sqlite", &e), -ENOENT);
	assert_int_equal(database_open(&s, "mysql://x/y", &e), -EINVAL);
	assert_int_equal(database_connect(&s, "another.sqlite", &e), 0);
	run(s, "CREATE TABLE mine (x)", NULL, 0);
	database_close(s);
	assert_int_equal(database_open(&s, "another.sqlite", &e), -EEXIST);
	assert_int_equal(database_connect(&s, "another.sqlite", &e), 0);
	assert_int_equal(ask(s, "SELECT COUNT(*) FROM sqlite_master").i, 1);
	database_close(s);
	s = opened("one.sqlite");
	assert_true(database_exec(s, "SELECT FROM", NULL, 0, &e) < 0);
	assert_true(database_copy_begin(s, "COPY runs FROM STDIN", &e) < 0);
	assert_int_equal(ask(s, "SELECT 7").i, 7); /* and it goes on */
	database_close(s);
}

static void what_is_not_committed_has_not_happened(void **state)
{
	struct database *s = opened("open.sqlite");
	struct err e = { "" };

	(void)state;
	assert_int_equal(database_begin(s, &e), 0);
	run(s, "INSERT INTO runs (uid, state, start_ns) VALUES ('x', 'complete', 1)", NULL, 0);
	database_close(s);
	s = opened("open.sqlite");
	assert_int_equal(ask(s, "SELECT COUNT(*) FROM runs").i, 0);
	database_close(s);
}

static int write_rows(int writer)
{
	struct database *s;
	struct err e = { "" };
	int rc = database_open(&s, "many.sqlite", &e);

	for (int i = 0; i < ROWS && !rc; i++) {
		struct history h = { 0 };
		char uid[32];
		int64_t id;

		snprintf(uid, sizeof uid, "%d-%d", writer, i);
		history_add(&h);
		history_add_text(&h, HISTORY_UID, uid);
		history_add_text(&h, HISTORY_STATE, "complete");
		history_add_figure(&h, "cpu_seconds", i, NULL);
		history_add_host(&h, "a");
		rc = database_begin(s, &e);
		if (!rc)
			rc = history_put(s, &h, 0, &id, &e);
		if (!rc)
			rc = database_commit(s, &e);
		history_free(&h);
	}
	database_close(s);
	if (rc)
		fprintf(stderr, "writer %d: %s\n", writer, e.text);
	return rc ? 1 : 0;
}

/* The tables are made by one of them. */
static void many_writers_lose_nothing(void **state)
{
	struct database *s;
	pid_t pid[WRITERS];

	(void)state;
	for (int i = 0; i < WRITERS; i++)
		if (!(pid[i] = fork()))
			_exit(write_rows(i));
	for (int i = 0; i < WRITERS; i++) {
		int status;

		assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
		assert_int_equal(status, 0);
	}
	s = opened("many.sqlite");
	assert_int_equal(ask(s, "SELECT COUNT(DISTINCT uid) FROM runs").i, WRITERS * ROWS);
	assert_int_equal(ask(s, "SELECT COUNT(*) FROM summaries").i, WRITERS * ROWS);
	database_close(s);
}

/* A run as JSON, parsed, put, replaced, read: the same. */
static void a_run_stays_what_it_was(void **state)
{
	static const char document[] =
		"{\"uid\": \"u1\", \"name\": \"a'b\", \"state\": \"complete\", \"unknown\": [1, "
		"{}], \"start\": \"2026-11-22T11:15:59.712021443Z\", \"wall_seconds\": 1.5, "
		"\"exit_code\": 3, \"signal\": null, \"hosts\": [\"n1\", \"n2\"], \"figures\": "
		"{\"cpu_seconds\": 0.1, \"peak_memory_kind\": \"pss\"}}";
	struct history h = { 0 }, back = { 0 };
	struct database *s = opened("history.sqlite");
	struct err e = { "" };
	int64_t id, again;

	(void)state;
	assert_int_equal(history_parse(&h, document, strlen(document), &e), 0);
	assert_int_equal(h.n, 1);
	assert_int_equal(h.run[0].start_ns, INT64_C(1795346159712021443));
	assert_int_equal(history_put(s, &h, 0, &id, &e), 0);
	assert_int_equal(history_put(s, &h, 0, &again, &e), 0);
	assert_int_equal(id, again);
	assert_int_equal(history_read(&back, s, INT64_MIN, &e), 0);
	assert_int_equal(back.n, 1);
	assert_string_equal(back.run[0].text[HISTORY_NAME], "a'b");
	assert_null(back.run[0].text[HISTORY_USER]);
	assert_true(history_figure(&back, &back.run[0], "cpu_seconds") == 0.1);
	assert_true(history_figure(&back, &back.run[0], "exit_code") == 3);
	assert_true(isnan(back.run[0].number[HISTORY_SIGNAL]));
	assert_int_equal(back.run[0].nhosts, 2);
	assert_string_equal(back.host[back.run[0].first_host + 1], "n2");
	history_free(&back);
	assert_int_equal(history_read(&back, s, h.run[0].start_ns + 1, &e), 0);
	assert_int_equal(back.n, 0);
	for (size_t n = 0; n < strlen(document); n++) { /* cut anywhere: nothing is added */
		assert_int_equal(history_parse(&h, document, n, &e), -EBADMSG);
		assert_int_equal(h.n, 1);
	}
	/* The store would refuse it. */
	assert_int_equal(history_parse(&h, "{\"uid\":\"1\"}", 11, &e), -EBADMSG);
	assert_int_equal(h.n, 1);
	history_free(&h);
	history_free(&back);
	database_close(s);
}

static void add(struct history *h, const char *name, const char *array, double memory, double exit)
{
	history_add(h);
	history_add_text(h, HISTORY_NAME, name);
	history_add_text(h, HISTORY_ARRAY_ID, array);
	history_add_text(h, HISTORY_STATE, "complete");
	history_add_figure(h, "peak_memory_bytes", memory, NULL);
	history_add_host(h, "a");
	if (exit > 0)
		history_add_host(h, "b");
	h->run[h->n - 1].number[HISTORY_EXIT_CODE] = exit;
}

static void groups_have_their_percentiles(void **state)
{
	struct history h = { 0 };
	struct usage u;
	const struct usage_figure *f;
	double one = 5;

	(void)state;
	for (int i = 1; i <= 100; i++)
		add(&h, "train", i <= 10 ? "7" : NULL, i * 1048576., i == 100 ? 1 : 0);
	add(&h, "eval", NULL, NAN, NAN);
	history_add_text(&h, HISTORY_STATE, "cut"); /* killed with its recorder */
	add(&h, "train", NULL, 1e18, 0);
	history_add_text(&h, HISTORY_STATE, "running"); /* it does not count */
	assert_int_equal(usage_make(&u, &h, USAGE_NAME, .95, .2), 0);
	assert_int_equal(u.n, 2);
	assert_string_equal(u.group[0].name, "train");
	assert_int_equal(u.group[0].runs, 100);
	assert_int_equal(u.group[0].failed, 1);
	f = &u.group[0].figure[1];
	assert_true(f->n == 100 && f->p50 == 50 * 1048576. && f->p90 == 90 * 1048576.);
	assert_true(f->p95 == 95 * 1048576. && f->max == 100 * 1048576.);
	assert_true(f->next == 200 * 1048576.); /* 95 x 1.2 = 114 MiB, in steps of 100 */
	assert_int_equal(u.group[0].figure[0].n, 0);
	assert_int_equal(u.group[1].figure[1].n, 0);
	assert_int_equal(u.group[1].failed, 1);
	usage_free(&u);
	assert_int_equal(usage_make(&u, &h, USAGE_ARRAY, .95, .2), 0);
	assert_true(u.n == 1 && u.group[0].runs == 10 && !strcmp(u.group[0].of, "train"));
	usage_free(&u);
	assert_int_equal(usage_make(&u, &h, USAGE_HOST, .95, .2), 0);
	assert_true(u.n == 2 && u.group[0].runs == 101 && u.group[1].runs == 1);
	usage_free(&u);
	assert_true(usage_percentile(&one, 1, .5) == 5);
	history_free(&h);
}

static void what_was_requested_stands_beside_what_was_used(void **state)
{
	struct history h = { 0 };
	const struct usage_group *g;
	struct usage u;

	(void)state;
	for (int i = 1; i <= 3; i++) {
		add(&h, "train", NULL, 1e9, 0);
		history_add_text(&h, HISTORY_ACCOUNT, "physics");
		h.run[h.n - 1].number[HISTORY_WALL_SECONDS] = 1800;
		history_add_figure(&h, "cores_asked", i * 4, NULL);
		history_add_figure(&h, "cores_used", i == 3 ? (double)NAN : i, NULL);
		history_add_figure(&h, "gpus_asked", i == 1 ? 2 : 0, NULL);
		history_add_figure(&h, "gpu_utilization_ratio", .25, NULL);
	}
	add(&h, "eval", NULL, 1, 0); /* of no account */
	assert_int_equal(usage_make(&u, &h, USAGE_ACCOUNT, .95, .2), 0);
	assert_true(u.n == 1 && u.group[0].runs == 3);
	g = &u.group[0];
	assert_true(g->figure[0].asked == 8 && isnan(g->figure[1].asked));
	/* Those that know both: 4 and 8 cores for half an hour, of which 1 and 2 were used. */
	assert_true(g->total[0].n == 2 && g->total[0].asked_h == 6 && g->total[0].used_h == 1.5);
	assert_true(g->total[1].n == 1 && g->total[1].asked_h == 1 && g->total[1].used_h == .25);
	usage_free(&u);
	history_free(&h);
}

static void passwords_are_not_shown(void **state)
{
	static const struct {
		const char *text, *shown;
		bool secret;
	} rows[] = {
		{ "postgres://anna:pw@h:5432/db", "postgres://anna@h:5432/db", true },
		{ "postgresql://anna:p@w:x@h/db", "postgresql://anna@h/db", true },
		{ "postgres://h/db?user=a&password=pw", "postgres://h/db", true },
		{ "postgres://anna@h/db", "postgres://anna@h/db", false },
		{ "postgres:///db", "postgres:///db", false },
		{ "dir/a:b@c.sqlite", "dir/a:b@c.sqlite", false },
	};
	struct place p;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_int_equal(place_parse(&p, rows[i].text, NULL), 0);
		assert_string_equal(p.shown, rows[i].shown);
		assert_int_equal(p.secret, rows[i].secret);
	}
	assert_int_equal(place_parse(&p, "", NULL), -EINVAL);
	assert_int_equal(place_parse(&p, "https://x/", NULL), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_come_back),
		cmocka_unit_test(tables_are_brought_up_from_each_version),
		cmocka_unit_test(statements_may_go_without_waiting),
		cmocka_unit_test(newer_tables_are_left_alone),
		cmocka_unit_test(no_database_is_said),
		cmocka_unit_test(what_is_not_committed_has_not_happened),
		cmocka_unit_test(many_writers_lose_nothing),
		cmocka_unit_test(a_run_stays_what_it_was),
		cmocka_unit_test(groups_have_their_percentiles),
		cmocka_unit_test(what_was_requested_stands_beside_what_was_used),
		cmocka_unit_test(passwords_are_not_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
