/* SPDX-License-Identifier: Apache-2.0 */
#include "import/importer.h"

#include <string.h>

#define IMPORTER(x, name) extern const struct importer importer_##x;
#include "import.def"
#undef IMPORTER

#define IMPORTER(x, name) &importer_##x,
const struct importer *const importers[] = {
#include "import.def"
};
#undef IMPORTER

const size_t nimporters = sizeof(importers) / sizeof(importers[0]);

const struct importer *importer_find(const char *name)
{
	for (size_t i = 0; i < nimporters; i++)
		if (!strcmp(importers[i]->name, name))
			return importers[i];
	return NULL;
}
