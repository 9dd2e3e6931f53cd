/* SPDX-License-Identifier: Apache-2.0 */
#include "source_fuzz.h"

extern const struct source source_swap;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return source_fuzz(&source_swap, "vmstat", data, size);
}
