/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/json_read.h"

#include "base/text/escape.h"
#include "base/text/jsondoc.h"

#include <string.h>

/* Go to the value of a key of the object that begins here, or of the first one of an array. What
 * the value begins with; JSONDOC_BAD when there is none. */
static enum jsondoc_token find_key(struct jsondoc *j, enum jsondoc_token begun, const char *key,
				   size_t n)
{
	enum jsondoc_token t = begun;
	struct err e;

	while (t == JSONDOC_ARRAY)
		t = jsondoc_next(j, &e);
	if (t != JSONDOC_OBJECT)
		return JSONDOC_BAD;
	while (jsondoc_next(j, &e) == JSONDOC_KEY) {
		bool found = strlen(j->text) == n && !memcmp(j->text, key, n);

		t = jsondoc_next(j, &e);
		if (found)
			return t;
		if (!jsondoc_skip(j, t, &e))
			break;
	}
	return JSONDOC_BAD;
}

bool json_read_text(const char *document, size_t length, const char *path, char *out, size_t size)
{
	struct jsondoc j;
	enum jsondoc_token t;
	struct err e;
	bool good;

	jsondoc_open_text(&j, document, length);
	t = jsondoc_next(&j, &e);
	for (size_t n; *path && t != JSONDOC_BAD; path += n + (path[n] == '.')) {
		n = strcspn(path, ".");
		t = find_key(&j, t, path, n);
	}
	good = t == JSONDOC_STRING && strlen(j.text) < size && escape_is_utf8(j.text);
	if (good)
		memcpy(out, j.text, strlen(j.text) + 1);
	jsondoc_close(&j);
	return good;
}
