/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/builtin.h"

#include "base/helper.h"
#include "base/text/textfile.h"
#include "trial/scripted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INDICATOR(name, what) { #name, what },
const struct builtin builtins[] = {
#include "indicators.def"
};
#undef INDICATOR

const size_t nbuiltins = sizeof builtins / sizeof builtins[0];

static bool is_builtin(const char *word)
{
	for (size_t i = 0; i < nbuiltins; i++)
		if (!strcmp(builtins[i].name, word))
			return true;
	return false;
}

int chosen_script_find(struct chosen_script *s, char *const *words, struct err *e)
{
	size_t n = 1;
	int rc = scripted_find(words[0], s->path, e);

	s->builtin = rc == -ENOENT && is_builtin(words[0]);
	if (rc && !s->builtin)
		return rc;
	if (s->builtin)
		rc = helper_find("indicator", NULL, s->path, sizeof s->path, e);
	if (s->builtin && rc)
		return rc;
	while (words[n])
		n++;
	s->argv = calloc(n + 2, sizeof *s->argv);
	if (!s->argv)
		return err_set(e, -ENOMEM, "out of memory");
	s->argv[0] = s->path;
	memcpy(s->argv + 1, words + !s->builtin, (n - !s->builtin) * sizeof *s->argv);
	return 0;
}

void builtin_help(char *const *words)
{
	struct chosen_script s = { 0 };
	bool asked = false;
	struct err e;

	for (size_t i = 1; words[0] && words[i]; i++)
		asked |= !strcmp(words[i], "--help") || !strcmp(words[i], "-h");
	if (asked && !chosen_script_find(&s, words, &e) && s.builtin)
		execv(s.path, s.argv);
	chosen_script_free(&s);
}

void chosen_script_free(struct chosen_script *s)
{
	free(s->argv);
	s->argv = NULL;
}

enum { MODEL_BYTES = 1 << 20 };

extern const char asset_sonde_model[], asset_sonde_model_end[];
extern const char asset_thoth_model[], asset_thoth_model_end[];
extern const char asset_suites_model[], asset_suites_model_end[];

static const struct {
	const char *name, *text, *end;
} own[] = {
	{ "sonde.model", asset_sonde_model, asset_sonde_model_end },
	{ "thoth.model", asset_thoth_model, asset_thoth_model_end },
	{ "suites.model", asset_suites_model, asset_suites_model_end },
};

int benchmodels_read(struct models *m, const struct option_list *files, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < sizeof own / sizeof own[0] && !rc; i++)
		rc = models_parse(m, own[i].name, own[i].text, (size_t)(own[i].end - own[i].text),
				  e);
	for (uint32_t i = 0; i < files->n && !rc; i++) {
		struct bytes text = { 0 };

		rc = textfile_read(files->text[i], "model", MODEL_BYTES, &text, e);
		if (!rc)
			rc = models_parse(m, files->text[i],
					  text.len ? (const char *)text.data : "", text.len, e);
		bytes_free(&text);
	}
	return rc;
}
