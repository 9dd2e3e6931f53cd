/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The C library's own judgement of the same text. */
static void check_u64(const char *text)
{
	const char *p = text, *digits = number_skip_blanks(text);
	uint64_t v = 0;
	char *end;
	bool read = number_u64(&p, &v);
	unsigned long long want;

	if (*digits < '0' || *digits > '9') {
		if (read)
			abort();
		return;
	}
	errno = 0;
	want = strtoull(digits, &end, 10);
	if (read != (errno == 0) || (read && (v != want || p != end)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	const char *p;
	int64_t v;

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	check_u64(text);
	p = text;
	number_i64(&p, &v);
	p = text;
	if (number_count(&p, &v) && (v < -1 || p == text || p > text + size))
		abort();
	p = text;
	if (number_fixed(&p, 2, &v) && v < 0)
		abort();
	if (number_next_line(text) > text + size)
		abort();
	p = number_find_line(text, "ab");
	if (p && (p < text + 2 || p > text + size))
		abort();
	free(text);
	return 0;
}
