/* SPDX-License-Identifier: Apache-2.0 */
/* What servers, the helper and users may say to a push: answers, messages, addresses. */
#include "base/text/jsondoc.h"
#include "core/tracker.h"
#include "push/http.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 1);
	struct http_request q;
	struct http_answer a;
	struct address address;
	char out[64];

	memcpy(copy, data, size);
	copy[size] = '\0';
	json_read_text((const char *)copy, size, "run.info.run_id", out, sizeof out);
	json_read_text((const char *)copy, size, "a", out, sizeof out);
	address_parse(&address, (const char *)copy, "it", NULL);
	tracker_key(out, 16, (const char *)copy);
	if (strstr(out, "..") == out || !*out || strlen(out) > 15)
		abort();
	wire_get_request(&q, copy, (uint32_t)size);
	wire_get_answer(&a, copy, (uint32_t)size);
	free(copy);
	return 0;
}
