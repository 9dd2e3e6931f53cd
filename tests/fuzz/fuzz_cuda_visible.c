/* SPDX-License-Identifier: Apache-2.0 */
/* An environment, in which CUDA_VISIBLE_DEVICES is found and read. */
#include "source/gpu/gpu.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cuda_device d[3] = {
		{ .gpu = 0, .uuid = "GPU-aaaa1111" },
		{ .gpu = 1, .uuid = "GPU-aaaa2222" },
		{ .gpu = 1, .is_mig = true, .uuid = "MIG-bbbb1111" },
	};
	char *text = malloc(size ? size : 1);
	const char *value;
	size_t named, sum = 0;

	if (!text)
		abort();
	if (size)
		memcpy(text, data, size);
	value = environ_find(text, size, "CUDA_VISIBLE_DEVICES");
	if (value) {
		named = cuda_visible(value, d, 3);
		for (size_t i = 0; i < 3; i++)
			sum += d[i].named;
		if (named != sum)
			abort();
	}
	free(text);
	return 0;
}
