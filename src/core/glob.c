/* SPDX-License-Identifier: Apache-2.0 */
#include "core/glob.h"

#include <fnmatch.h>
#include <string.h>

enum { GLOB_MAX = 256 };

bool glob_match(const char *list, const char *name)
{
	char glob[GLOB_MAX];

	if (!list)
		return true;
	while (*list) {
		size_t plain = strcspn(list, ",*?[\\"), n = plain + strcspn(list + plain, ",");
		bool begins = n && n < sizeof(glob) && !strncmp(list, name, plain);

		if (begins && n == plain && !name[n])
			return true;
		if (begins && n > plain) {
			memcpy(glob, list, n);
			glob[n] = '\0';
			if (!fnmatch(glob, name, 0))
				return true;
		}
		list += n + (list[n] == ',');
	}
	return false;
}
