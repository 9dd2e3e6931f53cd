/* SPDX-License-Identifier: Apache-2.0 */
#include "push/wire.h"

#include <string.h>

#define REQUEST_MAGIC UINT32_C(0x32514853) /* "SHQ2" */
#define ANSWER_MAGIC  UINT32_C(0x32414853) /* "SHA2" */

enum { NTEXTS = 11, INSECURE = 1, ONCE = 2 };

/* A text that is not there is not an empty one. Each has its NUL, so that it can be borrowed. */
static void put_text(struct bytes *out, const char *text)
{
	size_t n = text ? strlen(text) + 1 : 0;

	bytes_varint(out, n);
	bytes_put(out, text ? text : "", n);
}

static bool get_text(struct scan *s, const char **out)
{
	uint64_t n = scan_varint(s);
	const uint8_t *text = s->bad || n > SIZE_MAX ? NULL : scan_take(s, (size_t)n);

	*out = n ? (const char *)text : NULL;
	return !s->bad && (!n || (text && !memchr(text, 0, (size_t)n - 1) && !text[n - 1]));
}

static size_t begin(struct bytes *out, uint32_t magic)
{
	bytes_u32(out, magic);
	bytes_u32(out, 0);
	return out->len;
}

static void end(struct bytes *out, size_t from)
{
	uint32_t n = (uint32_t)(out->len - from);

	if (out->failed)
		return;
	for (size_t i = 0; i < 4; i++)
		out->data[from - 4 + i] = (uint8_t)(n >> 8 * i);
}

void wire_put_request(struct bytes *out, const struct http_request *q)
{
	const char *const text[NTEXTS] = { q->method,      q->url,    q->user,
					   q->password,    q->token,  q->content_type,
					   q->encoding,    q->header, q->authorities,
					   q->certificate, q->wanted };
	size_t from = begin(out, REQUEST_MAGIC);

	for (size_t i = 0; i < NTEXTS; i++)
		put_text(out, text[i]);
	bytes_u32(out, (q->insecure ? INSECURE : 0) | (q->once ? ONCE : 0));
	bytes_u32(out, q->timeout_s);
	bytes_u64(out, q->body_length);
	end(out, from);
}

bool wire_get_request(struct http_request *q, uint8_t *text, uint32_t length)
{
	const char **const to[NTEXTS] = { &q->method,      &q->url,    &q->user,
					  &q->password,    &q->token,  &q->content_type,
					  &q->encoding,    &q->header, &q->authorities,
					  &q->certificate, &q->wanted };
	struct scan s = { .at = text, .end = text + length };
	uint32_t flags;

	*q = (struct http_request){ 0 };
	for (size_t i = 0; i < NTEXTS; i++)
		if (!get_text(&s, to[i]))
			return false;
	flags = scan_u32(&s);
	q->insecure = flags & INSECURE;
	q->once = flags & ONCE;
	q->timeout_s = scan_u32(&s);
	q->body_length = scan_u64(&s);
	return !s.bad && s.at == s.end && q->method && q->url;
}

void wire_put_answer(struct bytes *out, const struct http_answer *a)
{
	size_t from = begin(out, ANSWER_MAGIC);

	bytes_u32(out, a->status);
	bytes_u32(out, a->retry_after_s);
	put_text(out, a->header ? a->header : "");
	bytes_put(out, a->text, a->length);
	end(out, from);
}

bool wire_get_answer(struct http_answer *a, uint8_t *text, uint32_t length)
{
	struct scan s = { .at = text, .end = text + length };

	a->status = scan_u32(&s);
	a->retry_after_s = scan_u32(&s);
	if (!get_text(&s, &a->header) || !a->header)
		return false;
	a->text = (const char *)s.at;
	a->length = s.bad ? 0 : (size_t)(s.end - s.at);
	text[length] = '\0';
	return !s.bad && (!a->status || (a->status >= 100 && a->status < 1000));
}

bool wire_head(const uint8_t head[WIRE_HEAD], bool request, uint32_t most, uint32_t *length)
{
	struct scan s = { .at = head, .end = head + WIRE_HEAD };
	uint32_t magic = scan_u32(&s);

	*length = scan_u32(&s);
	return magic == (request ? REQUEST_MAGIC : ANSWER_MAGIC) && *length <= most;
}
