/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/benchmodels.h"

#include "base/textfile.h"

enum { MODEL_BYTES = 1 << 20 };

extern const char asset_thoth_model[], asset_thoth_model_end[];

int benchmodels_read(struct models *m, const struct option_list *files, struct err *e)
{
	int rc = models_parse(m, "thoth.model", asset_thoth_model,
			      (size_t)(asset_thoth_model_end - asset_thoth_model), e);

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
