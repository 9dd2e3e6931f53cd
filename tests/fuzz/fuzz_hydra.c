/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of a process that may be Hydra's proxy: what it gives is an address in it. */
#include "job/scheduler/scheduler.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char proxy[] = "/usr/bin/hydra_pmi_proxy";
	char out[HYDRA_LAUNCH], *text = malloc(sizeof proxy + size);

	if (!text)
		return 0;
	memcpy(text, proxy, sizeof proxy);
	if (size)
		memcpy(text + sizeof proxy, data, size);
	if (hydra_address(text, sizeof proxy + size, out) && (!*out || strlen(out) >= sizeof out))
		abort();
	hydra_address(text + sizeof proxy, size, out);
	free(text);
	return 0;
}
