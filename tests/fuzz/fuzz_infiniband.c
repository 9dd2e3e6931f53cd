/* SPDX-License-Identifier: Apache-2.0 */
#include "source_fuzz.h"

extern const struct source source_infiniband;

#define PORT "class/infiniband/mlx5_0/ports/1"

/* Every file of a port holds the text. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const directories[] = { "class",
						   "class/infiniband",
						   "class/infiniband/mlx5_0",
						   "class/infiniband/mlx5_0/ports",
						   PORT,
						   PORT "/counters" };
	static const char *const files[] = { "/counters/port_xmit_data", "/counters/symbol_error",
					     "/rate", "/state", "/link_layer" };

	for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++)
		mkdir(directories[i], 0700);
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		char path[128];

		snprintf(path, sizeof path, PORT "%s", files[i]);
		source_fuzz_write(path, data, size);
	}
	return source_fuzz(&source_infiniband, PORT "/counters/port_rcv_data", data, size);
}
