/* SPDX-License-Identifier: Apache-2.0 */
#include "source_fuzz.h"

extern const struct source source_beegfs;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	mkdir("fs", 0700);
	mkdir("fs/beegfs", 0700);
	mkdir("fs/beegfs/client", 0700);
	source_fuzz_write("fs/beegfs/client/meta_nodes", data, size);
	source_fuzz_write("fs/beegfs/client/storage_target_state", data, size);
	source_fuzz_write("fs/beegfs/client/meta_target_state", data, size);
	return source_fuzz(&source_beegfs, "fs/beegfs/client/storage_nodes", data, size);
}
