/* SPDX-License-Identifier: Apache-2.0 */
/* Globs of a user and names of a stranger's recording: the first line is the list, the rest a
 * name. */
#include "core/glob.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *list = malloc(size + 2), *name;

	if (!list)
		return 0;
	if (size)
		memcpy(list, data, size);
	list[size] = list[size + 1] = '\0';
	name = list + strcspn(list, "\n");
	*name++ = '\0';
	if (!glob_match("*", name) || !glob_match(NULL, name))
		abort();
	/* Without characters that mean something, a list has its words and no others. */
	if (!strpbrk(list, "*?[\\,") && *list && glob_match(list, name) != !strcmp(list, name))
		abort();
	glob_match(list, name);
	free(list);
	return 0;
}
