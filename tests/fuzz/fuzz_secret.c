/* SPDX-License-Identifier: Apache-2.0 */
/* Masks of any text: it ends, and a password put before a host does not come out. */
#include "job/secret/secret.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char with[] = " https://me:Zq7Zq7Zq7@host/";
	static const struct secret_list no_addresses = { .addresses = true };
	struct bytes out = { 0 };
	char *text = malloc(size + sizeof with);

	if (!text)
		abort();
	if (size)
		memcpy(text, data, size);
	memcpy(text + size, with, sizeof with);
	secret_text(NULL, &out, text);
	bytes_u8(&out, 0);
	if (out.failed || strlen((const char *)out.data) != out.len - 1 ||
	    out.len > 3 * (size + sizeof with) ||
	    (!memmem(text, size, "Zq7Zq7Zq7", 9) && strstr((const char *)out.data, "Zq7Zq7Zq7")))
		abort();
	bytes_reset(&out);
	secret_text(&no_addresses, &out, text);
	bytes_u8(&out, 0);
	if (out.failed || strlen((const char *)out.data) != out.len - 1)
		abort();
	bytes_free(&out);
	free(text);
	return 0;
}
