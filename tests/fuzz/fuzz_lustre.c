/* SPDX-License-Identifier: Apache-2.0 */
#include "source_fuzz.h"

extern const struct source source_lustre;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	mkdir("fs", 0700);
	mkdir("fs/lustre", 0700);
	mkdir("fs/lustre/llite", 0700);
	mkdir("fs/lustre/llite/work-1", 0700);
	return source_fuzz(&source_lustre, "fs/lustre/llite/work-1/stats", data, size);
}
