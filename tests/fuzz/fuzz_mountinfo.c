/* SPDX-License-Identifier: Apache-2.0 */
#include "source/storage/mountinfo.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), point[16], type[MOUNT_TYPE_SIZE];
	uint64_t id;

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	for (id = 20; id < 40; id++)
		if (mountinfo_find(text, id, point, sizeof point, type) &&
		    (strlen(point) >= sizeof point || strlen(type) >= sizeof type))
			abort();
	if (mountinfo_id_of(text, &id) && !strstr(text, "mnt_id:"))
		abort();
	free(text);
	return 0;
}
