/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/spans.h"

#include "recording/format.h"
#include "recording/varint.h"

#include <errno.h>
#include <string.h>

static uint8_t *names_write(uint8_t *at, const struct spans *s)
{
	const uint16_t *name = s->name;
	uint32_t n = s->n;

	if (s->nnames <= 256) {
		for (uint32_t i = 0; i < n; i++)
			at[i] = (uint8_t)name[i];
		return at + n;
	}
	for (uint32_t i = 0; i < n; i++) {
		*at++ = (uint8_t)name[i];
		*at++ = (uint8_t)(name[i] >> 8);
	}
	return at;
}

struct extent {
	int64_t first_ns, last_ns;
};

/* Begins from the end of the one before: what a thread does comes one behind the other. Durations
 * are written out of the begins' way, and then moved to their end. */
static uint8_t *times_write(uint8_t *at, const struct spans *s, struct extent *x)
{
	const int64_t *begin_ns = s->begin_ns, *end_ns = s->end_ns;
	uint8_t *const apart = at + (size_t)s->n * VARINT_MAX;
	uint8_t *took_at = apart;
	int64_t first = INT64_MAX, last = INT64_MIN;
	uint64_t behind = 0;

	for (uint32_t i = 0, n = s->n; i < n; i++) {
		uint64_t begin = (uint64_t)begin_ns[i], end = (uint64_t)end_ns[i];

		at = varint_write(at, zigzag_encode((int64_t)(begin - behind)));
		took_at = varint_write(took_at, zigzag_encode((int64_t)(end - begin)));
		first = (int64_t)begin < first ? (int64_t)begin : first;
		last = (int64_t)end > last ? (int64_t)end : last;
		behind = end;
	}
	*x = s->n ? (struct extent){ first, last } : (struct extent){ 0, 0 };
	memmove(at, apart, (size_t)(took_at - apart));
	return at + (took_at - apart);
}

void spans_put(struct bytes *out, struct compressor *c, uint8_t *raw, uint32_t node,
	       const struct spans *s)
{
	struct extent x;
	uint8_t *times = names_write(raw, s), *end = times_write(times, s, &x);

	bytes_varint(out, node);
	bytes_varint(out, s->track);
	bytes_varint(out, s->n);
	bytes_zigzag(out, x.first_ns);
	bytes_zigzag(out, (int64_t)((uint64_t)x.last_ns - (uint64_t)x.first_ns));
	bytes_varint(out, s->nnames);
	for (uint32_t i = 0; i < s->nnames; i++)
		bytes_text(out, s->names[i]);
	section_put_frames(out, c, raw,
			   (struct section_frame[]){ { .size = (size_t)(times - raw) },
						     { (size_t)(end - times), .plain = true } },
			   2);
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
