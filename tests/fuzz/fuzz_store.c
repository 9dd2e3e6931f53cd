/* SPDX-License-Identifier: Apache-2.0 */
/* What files of the history, the helper and users may say to the store. */
#include "store/database.h"
#include "store/history.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct scan at = { .at = data, .end = data + size };
	char *copy = malloc(size + 1);
	struct history h = { 0 };
	struct bytes out = { 0 };
	struct json j = { .out = &out };
	uint32_t kind, length;
	struct place place;
	struct field f;

	memcpy(copy, data, size);
	copy[size] = '\0';
	place_parse(&place, copy, NULL);
	if (size >= STORE_HEAD)
		store_message_head(data, &kind, &length);
	while (field_get(&at, &f))
		if (f.type == FIELD_TEXT && strlen(f.s) > size)
			abort();
	if (!history_parse(&h, data, size, NULL)) {
		history_json(&j, &h, &h.run[0]);
		history_parse(&h, out.data, out.len, NULL);
	}
	history_free(&h);
	bytes_free(&out);
	free(copy);
	return 0;
}
