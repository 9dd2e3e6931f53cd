/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/amunfile.h"

#include "bench/amun/amun.h"
#include "console/command.h"
#include "console/print.h"
#include "console/say.h"
#include "session/history.h"
#include "trial/benchmodels.h"

#include <errno.h>

static void say_note(const char *sentence)
{
	say("import: %s", sentence);
}

static void count(struct json *j, const char *key, uint32_t n)
{
	json_key(j, key);
	json_int(j, n);
}

static int tell(const struct amun *a, const char *path, const char *where, bool json)
{
	struct bytes b = { 0 };
	struct json j = { .out = &b, .indent = true };

	say("imported %s to %s: inspections: %u, trials: %u, failed: %u, imported earlier: %u",
	    path, where, a->inspections, a->trials, a->failed, a->there_already);
	if (a->left_out)
		say("import: not imported: %u", a->left_out);
	if (!json)
		return EXIT_OK;
	json_object(&j);
	json_key(&j, "schema");
	json_text(&j, "sonde/import-amun/1");
	json_key(&j, "store");
	json_text(&j, where);
	count(&j, "inspections", a->inspections);
	count(&j, "trials", a->trials);
	count(&j, "failed", a->failed);
	count(&j, "there_already", a->there_already);
	count(&j, "left_out", a->left_out);
	count(&j, "sweeps", a->sweeps);
	json_object_end(&j);
	bytes_u8(&b, '\n');
	return print_bytes(&b);
}

int amunfile_import(const char *path, const char *store, bool json)
{
	const struct history_options where = { .store = store };
	const struct option_list no_files = { .n = 0 };
	struct models models = { 0 };
	struct trial_store s = { .models = &models };
	struct amun a = { .store = &s, .note = say_note };
	struct err e = { "" };
	int rc = benchmodels_read(&models, &no_files, &e), code = EXIT_FAILED;

	if (!rc)
		rc = history_open(&s.database, &where, "import", &e);
	if (!rc)
		rc = amun_import(&a, path, &e);
	if (rc)
		say("import: %s", e.text);
	else
		code = tell(&a, path, database_shown(s.database), json);
	database_close(s.database);
	trial_store_free(&s);
	models_free(&models);
	return code == EXIT_OK && (a.left_out || a.failed) ? EXIT_FAILED : code;
}
