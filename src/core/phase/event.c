/* SPDX-License-Identifier: Apache-2.0 */
#include "core/phase/event.h"

#include <stddef.h>
#include <string.h>

bool key_is_private(const char *key)
{
	static const char *const beginnings[] = { META_ENVIRONMENT, META_ERROR_TEXT, "error_text" };

	for (size_t i = 0; key && i < sizeof beginnings / sizeof beginnings[0]; i++)
		if (!strncmp(key, beginnings[i], strlen(beginnings[i])))
			return true;
	return false;
}
