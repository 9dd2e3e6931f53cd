/* SPDX-License-Identifier: Apache-2.0 */
/* A site's list of secrets, and behind the first form feed a text: the list is bounded or refused
 * with a sentence, and masking by it ends. */
#include "job/secret/secret.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct secret_list l;
	const uint8_t *feed = size ? memchr(data, '\f', size) : NULL;
	size_t n = feed ? (size_t)(feed - data) : size, rest = feed ? size - n - 1 : 0;
	struct bytes out = { 0 };
	struct err e = { "" };
	char *text = calloc(1, rest + 1);
	int rc;

	if (!text)
		return 0;
	if (rest)
		memcpy(text, feed + 1, rest);
	l.n = 0;
	l.all = false;
	rc = secret_list_parse(&l, "list", size ? (const char *)data : "", n, &e);
	if ((rc != 0) != (e.text[0] != 0) || (rc != 0) != l.all || l.n > SECRET_LIST_ROWS)
		abort();
	for (uint32_t i = 0; i < l.n; i++)
		if (l.row[i].n < 2 || l.row[i].n >= SECRET_LIST_TEXT)
			abort();
	secret_text(&l, &out, text);
	if (!out.failed && out.len > 3 * rest + 3)
		abort();
	bytes_free(&out);
	free(text);
	return 0;
}
