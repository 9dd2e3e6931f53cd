/* SPDX-License-Identifier: Apache-2.0 */
#include "source/source.h"

#define SOURCE(x) extern const struct source source_##x;
#include "sources.def"
#undef SOURCE

#define SOURCE(x) &source_##x,
const struct source *const sources[] = {
#include "sources.def"
};

const struct source_fix source_not_mounted[] = { { ": no ", NULL, NULL }, { .words = NULL } };

bool source_can_wait(const struct source_env *env)
{
	(void)env;
	return true;
}

const size_t nsources = sizeof sources / sizeof sources[0];
