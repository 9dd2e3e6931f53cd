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
	bytes_text(out, h->program);
	bytes_u32(out, h->draft);
}

/* A text of so many bytes at most, with its end. */
static bool text_get(struct scan *in, char *out, size_t size)
{
	size_t n;
	const char *text = scan_text(in, &n);

	if (in->bad || n >= size)
		return false;
	if (n)
		memcpy(out, text, n);
	return true;
}

/* What the first drafts did not say. */
static bool writer_get(struct scan *in, struct head *h)
{
	if (in->at == in->end)
		return true;
	if (!text_get(in, h->program, sizeof h->program))
		return false;
	h->draft = scan_u32(in);
	return !in->bad;
}

bool head_get(struct scan in, struct head *h)
{
	const uint8_t *id = scan_take(&in, HEAD_ID);

	*h = (struct head){ 0 };
	if (id)
		memcpy(h->id, id, HEAD_ID);
	h->utc_ns = (int64_t)scan_u64(&in);
	h->mono_ns = (int64_t)scan_u64(&in);
	h->slot = scan_u32(&in);
	if (!text_get(&in, h->host, sizeof h->host) || !writer_get(&in, h) || h->utc_ns < 0 ||
	    h->utc_ns > UTC_MAX || h->mono_ns < 0 || h->mono_ns > MONO_MAX)
		return false;
	return true;
}
