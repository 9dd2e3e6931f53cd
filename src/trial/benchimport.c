/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/benchimport.h"

#include "bench/amun/amun.h"
#include "bench/suite/suite_import.h"
#include "console/command.h"
#include "session/history.h"
#include "trial/scripted.h"

/* What came of it. */
struct counts {
	const char *schema, *left_out_words;
	const char *unit; /* what a file has several of */
	uint32_t units, trials, failed, there_already, left_out;
	const uint32_t *sweeps; /* NULL: it knows of none */
};

static void report_note(const char *sentence)
{
	say("import: %s", sentence);
}

static int print_counts(const struct counts *c, const char *where)
{
	struct bytes b = { 0 };
	struct json j = { .out = &b, .indent = true };

	json_object(&j);
	json_put_text(&j, "schema", c->schema);
	json_put_text(&j, "store", where);
	json_put_int(&j, c->unit, c->units);
	json_put_int(&j, "trials", c->trials);
	json_put_int(&j, "failed", c->failed);
	json_put_int(&j, "there_already", c->there_already);
	json_put_int(&j, "left_out", c->left_out);
	if (c->sweeps)
		json_put_int(&j, "sweeps", *c->sweeps);
	json_object_end(&j);
	bytes_u8(&b, '\n');
	return print_bytes(&b);
}

static int report_counts(const struct counts *c, const char *path, const char *where, bool json)
{
	int code;

	say("imported %s to %s: %s: %u, trials: %u, failed: %u, imported earlier: %u", path, where,
	    c->unit, c->units, c->trials, c->failed, c->there_already);
	if (c->left_out)
		say("import: %s: %u", c->left_out_words, c->left_out);
	code = json ? print_counts(c, where) : EXIT_OK;
	return code == EXIT_OK && (c->left_out || c->failed) ? EXIT_FAILED : code;
}

static int import_amun(struct trial_store *s, const char *path, bool json, struct err *e)
{
	struct amun a = { .store = s, .note = report_note };
	int rc = amun_import(&a, path, e);

	return rc ? rc
		  : report_counts(&(struct counts){ .schema = "sonde/import-amun/1",
						    .left_out_words = "not imported",
						    .unit = "inspections",
						    .units = a.inspections,
						    .trials = a.trials,
						    .failed = a.failed,
						    .there_already = a.there_already,
						    .left_out = a.left_out,
						    .sweeps = &a.sweeps },
				  path, database_shown(s->database), json);
}

static int import_suite(struct trial_store *s, const struct suite *suite, const char *path,
			bool json, struct err *e)
{
	struct suite_import x = { .store = s, .note = report_note };
	int rc = suite_import(&x, suite, path, e);

	return rc ? rc
		  : report_counts(&(struct counts){ .schema = "sonde/import-suite/1",
						    .left_out_words =
							    "values that are no numbers, or for "
							    "which there is no room, left out",
						    .unit = "benchmarks",
						    .units = x.benchmarks,
						    .trials = x.trials,
						    .failed = x.failed,
						    .there_already = x.there_already,
						    .left_out = x.left_out },
				  path, database_shown(s->database), json);
}

bool benchimport_knows(const char *suite)
{
	return suite_find(suite);
}

int benchimport(const char *suite, const char *path, const char *store, bool json)
{
	const struct history_options where = { .store = store };
	const struct option_list no_files = { .n = 0 };
	struct models models = { 0 };
	struct trial_store s = { .models = &models };
	struct err e = { "" };
	int rc = benchmodels_read(&models, &no_files, &e);

	if (!rc)
		rc = history_open(&s.database, &where, "import", &e);
	if (!rc)
		rc = suite ? import_suite(&s, suite_find(suite), path, json, &e)
			   : import_amun(&s, path, json, &e);
	if (rc < 0)
		say("import: %s", e.text);
	database_close(s.database);
	trial_store_free(&s);
	models_free(&models);
	return rc < 0 ? EXIT_FAILED : rc;
}
