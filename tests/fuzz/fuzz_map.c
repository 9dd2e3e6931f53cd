/* SPDX-License-Identifier: Apache-2.0 */
/* Any text is a map or is refused with a sentence that names it; each key of a map has a value that
 * follows from its first name. */
#include "core/table/map.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size ? size : 1); /* its own, so that a read past the end is seen */
	struct err e = { "" };
	struct map m;
	int rc;

	if (!text)
		return 0;
	memcpy(text, data, size);
	rc = map_parse(&m, "fuzz", text, size, &e);
	if (rc && strncmp(e.text, "fuzz:", 5) != 0)
		abort();
	for (uint32_t t = 0; t < m.ntables && !rc; t++)
		for (uint32_t k = 0; k < m.tables[t].nkeys; k++) {
			const struct map_key *key = &m.tables[t].keys[k];

			if (!key->metric || !isfinite(key->factor) || key->factor == 0 ||
			    !(key->header_divisor > 0))
				abort();
		}
	map_free(&m);
	free(text);
	return 0;
}
