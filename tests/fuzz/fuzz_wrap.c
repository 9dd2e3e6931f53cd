/* SPDX-License-Identifier: Apache-2.0 */
/* A counter that goes round, at any readings and times: what it makes of them never falls but where
 * it says so, and never grows by more than can have been. 16 bytes are a reading. */
#include "source/energy.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int64_t number(const uint8_t *data)
{
	int64_t v;

	memcpy(&v, data, sizeof v);
	return v & INT64_MAX;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wrap w = { 0 };
	int64_t now = 0;

	if (size < 16)
		return 0;
	w.range = data[0] & 1 ? number(data) : 0;
	w.most_per_s = number(data + 8) | 1;
	for (size_t at = 16; at + 16 <= size; at += 16) {
		int64_t value = number(data + at), before = w.total;

		if (w.range)
			value %= w.range;
		if (data[at] & 2) /* clocks may be set back by a broken machine, too */
			now = number(data + at + 8) / 2;
		else
			now += number(data + at + 8) % 10000000000;
		if (now > INT64_MAX / 2)
			return 0;
		wrap_is_lost(&w, now);
		if (wrap_step(&w, value, now) == WRAP_GREW &&
		    (w.total < before || (w.range && w.total - before > w.range)))
			abort();
		if (w.total < 0)
			abort();
	}
	return 0;
}
