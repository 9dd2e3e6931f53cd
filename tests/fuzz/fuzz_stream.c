/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of a table, as a helper gets them: any bytes. All that is given must be readable. */
#include "sink/foreign.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sum;

static void touch(const struct stream_reader *r)
{
	for (uint32_t c = 0; c < r->schema.ncolumns; c++)
		for (uint32_t i = 0; i < r->batch.nrows; i++) {
			const struct cells *x = &r->batch.columns[c];

			if (x->state[i] != STATE_PRESENT)
				continue;
			if (r->columns[c].type != COLUMN_TEXT)
				sum += (uint64_t)x->i[i];
			else if (r->text[stream_number(x->s[i])] != x->s[i])
				abort();
			else
				sum += strlen(x->s[i]);
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stream_reader r = { 0 };
	struct scan in = { data, data + size, false };

	while (in.at < in.end) {
		uint32_t kind = scan_u32(&in), n = scan_u32(&in);
		const uint8_t *block = scan_take(&in, n);

		if (!block || stream_get(&r, (enum stream_kind)kind, block, n, NULL))
			break;
		for (uint32_t i = 0; kind == STREAM_SCHEMA && i < r.schema.ncolumns; i++)
			sum += strlen(r.columns[i].name) + strlen(r.columns[i].help);
		if (kind == STREAM_BATCH)
			touch(&r);
	}
	stream_reader_free(&r);
	return 0;
}
