/* SPDX-License-Identifier: Apache-2.0 */
/* The footer of a file of a lake, as another user may have written it, and the summary in it. */
#include "sink/columnar/parquet.h"
#include "store/history.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct history h = { 0 };
	size_t n = 0;
	const uint8_t *summary = parquet_find_value(data, size, PARQUET_RUN_KEY, &n);

	if (summary)
		history_parse(&h, summary, n, NULL);
	history_free(&h);
	return 0;
}
