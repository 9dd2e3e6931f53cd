/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/bodies.h"

#include <string.h>

/* Stably by the byte at shift, the greatest first. */
static void pass(const struct body *from, struct body *to, uint32_t n, unsigned shift)
{
	uint32_t at[256] = { 0 }, sum = 0;

	for (uint32_t i = 0; i < n; i++)
		at[from[i].size >> shift & 0xff]++;
	for (unsigned byte = 256; byte-- > 0;) {
		uint32_t count = at[byte];

		at[byte] = sum;
		sum += count;
	}
	for (uint32_t i = 0; i < n; i++)
		to[at[from[i].size >> shift & 0xff]++] = from[i];
}

/* By digits, since qsort allocates. */
void bodies_sort(struct body *body, uint32_t n)
{
	uint32_t all = 0;

	for (uint32_t i = 0; i < n; i++)
		all |= body[i].size;
	for (unsigned shift = 0; shift < 32 && all >> shift; shift += 8) {
		pass(body, body + n, n, shift);
		memcpy(body, body + n, n * sizeof *body);
	}
}
