/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/suitefile.h"

#include "bench/suite/suite_import.h"
#include "console/command.h"
#include "console/print.h"
#include "console/say.h"
#include "session/history.h"
#include "trial/benchmodels.h"

static void say_note(const char *sentence)
{
	say("import: %s", sentence);
}

static int tell(const struct suite_import *x, const char *path, const char *where, bool json)
{
	struct bytes b = { 0 };
	struct json j = { .out = &b, .indent = true };

	say("imported %s to %s: benchmarks: %u, trials: %u, failed: %u, imported earlier: %u", path,
	    where, x->benchmarks, x->trials, x->failed, x->there_already);
	if (x->left_out)
		say("import: values that are no numbers, or for which there is no room, left out: "
		    "%u",
		    x->left_out);
	if (!json)
		return EXIT_OK;
	json_object(&j);
	json_put_text(&j, "schema", "sonde/import-suite/1");
	json_put_text(&j, "store", where);
	json_put_int(&j, "benchmarks", x->benchmarks);
	json_put_int(&j, "trials", x->trials);
	json_put_int(&j, "failed", x->failed);
	json_put_int(&j, "there_already", x->there_already);
	json_put_int(&j, "left_out", x->left_out);
	json_object_end(&j);
	bytes_u8(&b, '\n');
	return print_bytes(&b);
}

bool suitefile_knows(const char *suite)
{
	return suite_find(suite);
}

int suitefile_import(const char *suite, const char *path, const char *store, bool json)
{
	const struct history_options where = { .store = store };
	const struct option_list no_files = { .n = 0 };
	struct models models = { 0 };
	struct trial_store s = { .models = &models };
	struct suite_import x = { .store = &s, .note = say_note };
	struct err e = { "" };
	int rc = benchmodels_read(&models, &no_files, &e), code = EXIT_FAILED;

	if (!rc)
		rc = history_open(&s.database, &where, "import", &e);
	if (!rc)
		rc = suite_import(&x, suite_find(suite), path, &e);
	if (rc)
		say("import: %s", e.text);
	else
		code = tell(&x, path, database_shown(s.database), json);
	database_close(s.database);
	trial_store_free(&s);
	models_free(&models);
	return code == EXIT_OK && (x.left_out || x.failed) ? EXIT_FAILED : code;
}
