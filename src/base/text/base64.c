/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/base64.h"

#include <string.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(struct bytes *out, const void *data, size_t n)
{
	const uint8_t *in = data;

	for (size_t i = 0; i < n; i += 3) {
		uint32_t v = (uint32_t)in[i] << 16;

		v |= i + 1 < n ? (uint32_t)in[i + 1] << 8 : 0;
		v |= i + 2 < n ? in[i + 2] : 0;
		bytes_u8(out, (uint8_t)letters[v >> 18]);
		bytes_u8(out, (uint8_t)letters[v >> 12 & 63]);
		bytes_u8(out, (uint8_t)(i + 1 < n ? letters[v >> 6 & 63] : '='));
		bytes_u8(out, (uint8_t)(i + 2 < n ? letters[v & 63] : '='));
	}
}

bool base64_decode(struct bytes *out, const char *text)
{
	size_t n = strlen(text), padding = 0;

	while (padding < 2 && padding < n && text[n - 1 - padding] == '=')
		padding++;
	if (n % 4)
		return false;
	for (size_t i = 0; i < n; i += 4) {
		uint32_t v = 0;

		for (size_t k = i; k < i + 4; k++) {
			const char *at = k < n - padding ? strchr(letters, text[k]) : letters;

			if (!at)
				return false;
			v = v << 6 | (uint32_t)(at - letters);
		}
		for (size_t k = 0; k < (i + 4 == n ? 3 - padding : 3); k++)
			bytes_u8(out, (uint8_t)(v >> (16 - 8 * k)));
	}
	return !out->failed;
}
