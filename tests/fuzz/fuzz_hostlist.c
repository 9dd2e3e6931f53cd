/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of nodes of any text: bounded, and what is written short is read back as it was. */
#include "core/host/hostlist.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hostlist h = { 0 }, again = { 0 };
	struct bytes list = { 0 };
	struct err e = { "" };
	char *text = calloc(1, size + 1);

	if (!text)
		abort();
	if (size)
		memcpy(text, data, size);
	if (hostlist_expand(&h, text, &e)) {
		if (h.n || !e.text[0])
			abort();
	} else {
		hostlist_compress(&h, &list);
		bytes_u8(&list, '\0');
		if (list.failed || !h.n || h.n > HOSTLIST_MAX ||
		    hostlist_expand(&again, (const char *)list.data, NULL) || again.n != h.n ||
		    again.text.len != h.text.len ||
		    memcmp(again.text.data, h.text.data, h.text.len) != 0 ||
		    hostlist_find(&h, hostlist_name(&h, h.n - 1)) < 0)
			abort();
	}
	hostlist_free(&h);
	hostlist_free(&again);
	bytes_free(&list);
	free(text);
	return 0;
}
