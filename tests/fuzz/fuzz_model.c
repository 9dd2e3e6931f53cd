/* SPDX-License-Identifier: Apache-2.0 */
/* Any text is models or is refused with a sentence that names it; what is declared is written as a
 * schema. */
#include "bench/declare.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size ? size : 1); /* its own, so that a read past the end is seen */
	struct models m = { 0 };
	struct bytes b = { 0 };
	struct err e = { "" };
	int rc;

	if (!text)
		return 0;
	memcpy(text, data, size);
	rc = models_parse(&m, "fuzz", text, size, &e);
	if (rc && strncmp(e.text, "fuzz:", 5) != 0)
		abort();
	for (uint32_t i = 0; i < m.n && !rc; i++)
		if (m.model[i].score && (!isfinite(m.model[i].worst) || !isfinite(m.model[i].best)))
			abort();
	if (!rc && m.n < 100) {
		declare_rdf(&b, &m);
		declare_json(&b, &m);
	}
	bytes_free(&b);
	models_free(&m);
	free(text);
	return 0;
}
