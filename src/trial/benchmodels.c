/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/benchmodels.h"

#include "base/text/textfile.h"

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
