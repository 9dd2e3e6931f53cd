/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are tokens or are refused with a sentence; what jansson takes as JSON is JSON here, and
 * numbers are the same. */
#include "base/text/jsondoc.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void count(const json_t *v, uint64_t *values, double *sum)
{
	const char *key;
	json_t *member;
	size_t i;

	++*values;
	if (json_is_integer(v) && llabs(json_integer_value(v)) < 1 << 20)
		*sum += (double)json_integer_value(v);
	json_array_foreach(v, i, member) count(member, values, sum);
	json_object_foreach((json_t *)v, key, member) count(member, values, sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t flags = JSON_DECODE_ANY | JSON_REJECT_DUPLICATES;
	uint8_t *text = malloc(size ? size : 1); /* its own, so that a read past the end is seen */
	uint64_t values = 0, wanted = 0;
	double sum = 0, wanted_sum = 0;
	struct err e = { "" };
	enum jsondoc_token t;
	struct jsondoc j;
	json_t *other;

	if (!text)
		return 0;
	memcpy(text, data, size);
	jsondoc_open_text(&j, text, size);
	while ((t = jsondoc_next(&j, &e)) != JSONDOC_END && t != JSONDOC_BAD) {
		values += t != JSONDOC_KEY && t != JSONDOC_OBJECT_END && t != JSONDOC_ARRAY_END;
		if (t == JSONDOC_NUMBER && j.whole && llabs(j.integer) < 1 << 20)
			sum += (double)j.integer;
		if ((t == JSONDOC_KEY || t == JSONDOC_STRING) && strlen(j.text) > JSONDOC_TEXT + 8)
			abort();
	}
	if (t == JSONDOC_BAD && !e.text[0])
		abort();
	other = json_loadb((const char *)text, size, flags, NULL);
	if (other && !memchr(text, 0, size)) { /* which ends a text to jansson */
		count(other, &wanted, &wanted_sum);
		if (t == JSONDOC_BAD && !strstr(e.text, "more than"))
			abort();
		if (t == JSONDOC_END && (values != wanted || sum != wanted_sum))
			abort();
	}
	json_decref(other);
	jsondoc_close(&j);
	free(text);
	return 0;
}
