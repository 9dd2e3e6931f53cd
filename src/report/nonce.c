/* SPDX-License-Identifier: Apache-2.0 */
#include "report/nonce.h"

#include "base/random.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

int nonce_make(char out[NONCE_SIZE], struct err *e)
{
	uint8_t raw[NONCE_SIZE / 2];

	if (!entropy_fill(raw, sizeof raw))
		return err_set(e, -EIO, "the kernel gave no random number for the report: %s",
			       strerror(errno));
	for (size_t i = 0; i < sizeof raw; i++) {
		*out++ = "0123456789abcdef"[raw[i] >> 4];
		*out++ = "0123456789abcdef"[raw[i] & 15];
	}
	*out = '\0';
	return 0;
}
