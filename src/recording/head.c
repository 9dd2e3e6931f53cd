/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/head.h"

#include "recording/format.h"

#include <string.h>

void head_put(struct bytes *out, const struct head *h)
{
	bytes_put(out, h->id, sizeof h->id);
	bytes_u64(out, (uint64_t)h->utc_ns);
	bytes_u64(out, (uint64_t)h->mono_ns);
	bytes_u32(out, h->slot);
	bytes_text(out, h->host);
}

bool head_get(struct scan in, struct head *h)
{
	const uint8_t *id = scan_take(&in, HEAD_ID);
	const char *host;
	size_t n;

	*h = (struct head){ 0 };
	if (id)
		memcpy(h->id, id, HEAD_ID);
	h->utc_ns = (int64_t)scan_u64(&in);
	h->mono_ns = (int64_t)scan_u64(&in);
	h->slot = scan_u32(&in);
	host = scan_text(&in, &n);
	if (in.bad || n >= HEAD_HOST || h->utc_ns < 0 || h->utc_ns > UTC_MAX || h->mono_ns < 0 ||
	    h->mono_ns > MONO_MAX)
		return false;
	if (n)
		memcpy(h->host, host, n);
	return true;
}
