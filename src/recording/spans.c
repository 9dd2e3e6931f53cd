/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/spans.h"

#include "recording/format.h"
#include "recording/varint.h"

#include <errno.h>

/* From the end of the one before: what a thread does comes one behind the other. */
static uint8_t *times_write(uint8_t *at, const struct spans *s)
{
	uint64_t behind = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		uint64_t begin = (uint64_t)s->begin_ns[i];

		at = varint_write(at, zigzag_encode((int64_t)(begin - behind)));
		behind = (uint64_t)s->end_ns[i];
	}
	for (uint32_t i = 0; i < s->n; i++) {
		uint64_t took = (uint64_t)s->end_ns[i] - (uint64_t)s->begin_ns[i];

		at = varint_write(at, zigzag_encode((int64_t)took));
	}
	return at;
}

static uint8_t *names_write(uint8_t *at, const struct spans *s)
{
	bool wide = s->nnames > 256;

	for (uint32_t i = 0; i < s->n; i++) {
		*at++ = (uint8_t)s->name[i];
		if (wide)
			*at++ = (uint8_t)(s->name[i] >> 8);
	}
	return at;
}

static void extent_put(struct bytes *out, const struct spans *s)
{
	int64_t first = s->n ? s->begin_ns[0] : 0, last = s->n ? s->end_ns[0] : 0;

	for (uint32_t i = 1; i < s->n; i++) {
		first = s->begin_ns[i] < first ? s->begin_ns[i] : first;
		last = s->end_ns[i] > last ? s->end_ns[i] : last;
	}
	bytes_zigzag(out, first);
	bytes_zigzag(out, (int64_t)((uint64_t)last - (uint64_t)first));
}

void spans_put(struct bytes *out, struct compressor *c, uint8_t *raw, uint32_t node,
	       const struct spans *s)
{
	uint8_t *at;

	bytes_varint(out, node);
	bytes_varint(out, s->track);
	bytes_varint(out, s->n);
	extent_put(out, s);
	bytes_varint(out, s->nnames);
	for (uint32_t i = 0; i < s->nnames; i++)
		bytes_text(out, s->names[i]);
	at = times_write(names_write(raw, s), s);
	section_put(out, c, raw, (size_t)(at - raw));
}

const char *spans_name_get(struct spans_head *h, size_t *n)
{
	return scan_text(&h->names, n);
}

static uint32_t number(struct scan *in, uint32_t max)
{
	uint64_t v = scan_varint(in);

	in->bad |= v > max;
	return in->bad ? 0 : (uint32_t)v;
}

int spans_head_get(struct spans_head *h, const uint8_t *payload, size_t n)
{
	struct scan in = { .at = payload, .end = payload + n };
	size_t length;

	*h = (struct spans_head){ 0 };
	h->node = number(&in, UINT32_MAX);
	h->track = number(&in, UINT32_MAX);
	h->n = number(&in, SPANS_MAX);
	h->first_ns = scan_zigzag(&in);
	h->last_ns = (int64_t)((uint64_t)h->first_ns + (uint64_t)scan_zigzag(&in));
	h->nnames = number(&in, SPAN_NAMES_MAX);
	h->names = in;
	for (uint32_t i = 0; i < h->nnames && !in.bad; i++)
		scan_text(&in, &length);
	h->body = in;
	return in.bad || !h->node ? -EBADMSG : 0;
}

static int names_read(const struct spans_head *h, struct scan *in, const char *const *name,
		      struct run_span *out)
{
	size_t width = h->nnames > 256 ? 2 : 1;
	const uint8_t *at = scan_take(in, h->n * width);

	if (in->bad)
		return -EBADMSG;
	for (uint32_t i = 0; i < h->n; i++, at += width) {
		uint32_t which = width == 2 ? at[0] | (uint32_t)at[1] << 8 : at[0];

		if (which >= h->nnames)
			return -EBADMSG;
		out[i].name = name[which];
	}
	return 0;
}

static bool in_bounds(int64_t ns)
{
	return ns >= -MONO_MAX && ns <= MONO_MAX;
}

/* The begins lie in front of all durations, but need them. */
static int times_read(const struct spans_head *h, const struct scan *in, struct run_span *out)
{
	const uint8_t *begin = in->at, *took = in->at;
	uint64_t behind = 0, v;

	for (uint32_t i = 0; i < h->n; i++) {
		took = varint_read(took, in->end, &v);
		if (!took)
			return -EBADMSG;
	}
	for (uint32_t i = 0; i < h->n; i++) {
		begin = varint_read(begin, in->end, &v);
		out[i].begin_ns = (int64_t)(behind + (uint64_t)zigzag_decode(v));
		took = varint_read(took, in->end, &v);
		if (!took)
			return -EBADMSG;
		behind = (uint64_t)out[i].begin_ns + (uint64_t)zigzag_decode(v);
		out[i].end_ns = (int64_t)behind;
		if (!in_bounds(out[i].begin_ns) || !in_bounds(out[i].end_ns))
			return -EBADMSG;
	}
	return took == in->end ? 0 : -EBADMSG;
}

int spans_body_get(struct spans_head *h, struct expander *x, struct bytes *raw,
		   const char *const *name, struct run_span *out)
{
	struct scan in;
	int rc = section_get(&h->body, x, SPANS_RAW_MAX, raw);

	if (rc)
		return rc;
	in = (struct scan){ .at = raw->data, .end = raw->data + raw->len };
	rc = names_read(h, &in, name, out);
	return rc ? rc : times_read(h, &in, out);
}
