/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of nodes with their slots, of any text: each slot lies in it, has a name, and the reader
 * gets on. */
#include "job/scheduler/row.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const slot_next forms[] = { slot_word, slot_pair, slot_row };
	char *text = calloc(1, size + 1);

	if (!text)
		abort();
	if (size)
		memcpy(text, data, size);
	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		const char *p = text, *before = text;
		struct listed_slots s;

		while (forms[i](&p, &s)) {
			if (!s.len || s.n < 0 || s.name < before || s.name + s.len > p ||
			    p > text + size)
				abort();
			before = p;
		}
	}
	free(text);
	return 0;
}
