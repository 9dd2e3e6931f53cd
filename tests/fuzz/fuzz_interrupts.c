/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/interrupts, whole and in pieces, which give the same. */
#include "source/core.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct interrupts whole, pieces;

	if (interrupts_init(&whole) < 0 || interrupts_init(&pieces) < 0)
		abort();
	interrupts_begin(&whole);
	interrupts_feed(&whole, (const char *)data, size);
	interrupts_begin(&pieces);
	for (size_t i = 0; i < size; i++)
		interrupts_feed(&pieces, (const char *)data + i, 1);
	if (interrupts_end(&whole) != interrupts_end(&pieces) ||
	    whole.ncolumns != pieces.ncolumns ||
	    memcmp(whole.sum, pieces.sum, whole.ncolumns * sizeof *whole.sum) != 0)
		abort();
	for (uint32_t i = 0; i < whole.ncolumns; i++)
		if (whole.sum[i] < 0)
			abort();
	interrupts_free(&whole);
	interrupts_free(&pieces);
	return 0;
}
