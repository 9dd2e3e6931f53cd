/* SPDX-License-Identifier: Apache-2.0 */
#include "push/http.h"

#include "base/clock.h"
#include "base/helper.h"
#include "base/random.h"
#include "push/push.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 65536, SAID = 160 };

#define HALF_A_SECOND_NS (NS_PER_S / 2)
#define PAUSE_MAX_NS     (30 * NS_PER_S)

int http_open(struct http *h, const struct address *server, int64_t patience_ns, struct err *e)
{
	*h = (struct http){ .server = server, .patience_ns = patience_ns };
	h->text = malloc(WIRE_ANSWER_MAX + 1);
	if (!h->text)
		return err_set(e, -ENOMEM, "out of memory");
	return talk_open(&h->helper, "http", "libcurl4-openssl-dev", e);
}

void http_close(struct http *h)
{
	talk_close(&h->helper);
	free(h->text);
	bytes_free(&h->message);
	*h = (struct http){ 0 };
}

static int lost(struct err *e)
{
	return helper_lost("http", "libcurl4", e);
}

/* A file that has become shorter is filled up, and the request is then no success. */
static int send_file(struct http *h, const struct http_body *body, struct err *e)
{
	char block[BLOCK];
	bool cut = false;

	for (uint64_t at = 0; at < body->length;) {
		size_t want = body->length - at < BLOCK ? (size_t)(body->length - at) : BLOCK;
		ssize_t n = cut ? 0 : pread(body->fd, block, want, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			cut = true;
			memset(block, 0, want);
			n = (ssize_t)want;
		}
		if (!talk_write(h->helper.socket, block, (size_t)n))
			return lost(e);
		at += (uint64_t)n;
	}
	return cut ? err_set(e, -EIO, "a file became shorter while it was sent; push again") : 0;
}

int http_ask(struct http *h, const struct http_request *q, const struct http_body *body,
	     struct http_answer *a, struct err *e)
{
	struct http_request sent = *q;
	uint8_t head[WIRE_HEAD];
	uint32_t length;
	int rc = 0;

	sent.body_length = body ? body->length : 0;
	bytes_reset(&h->message);
	wire_put_request(&h->message, &sent);
	if (h->message.failed)
		return err_set(e, -ENOMEM, "out of memory");
	h->requests++;
	if (!talk_write(h->helper.socket, h->message.data, h->message.len))
		return lost(e);
	if (body && body->data && !talk_write(h->helper.socket, body->data, body->length))
		return lost(e);
	if (body && !body->data)
		rc = send_file(h, body, e);
	if (rc)
		return rc;
	if (!talk_read(h->helper.socket, head, sizeof head) ||
	    !wire_head(head, false, WIRE_ANSWER_MAX, &length) ||
	    !talk_read(h->helper.socket, h->text, length) || !wire_get_answer(a, h->text, length))
		return lost(e);
	return 0;
}

bool http_is_passing(uint32_t status)
{
	return status == 0 || status == 408 || status == 429 || status == 500 || status == 502 ||
	       status == 503 || status == 504;
}

int64_t http_pause_ns(unsigned times, uint32_t retry_after_s, uint32_t random)
{
	int64_t pause = times < 6 ? HALF_A_SECOND_NS << times : PAUSE_MAX_NS;
	int64_t said = (int64_t)retry_after_s * NS_PER_S;

	pause = pause < PAUSE_MAX_NS ? pause : PAUSE_MAX_NS;
	pause = pause / 2 + (int64_t)((double)pause / 2 * (random / 4294967296.));
	return pause > said ? pause : said;
}

bool http_pause(unsigned times, uint32_t retry_after_s, int64_t until_ns)
{
	uint32_t random = 0;
	struct timespec t;
	int64_t ns;

	if (!entropy_fill(&random, sizeof random))
		random = (uint32_t)clock_mono_ns();
	ns = http_pause_ns(times, retry_after_s, random);
	if (clock_mono_ns() + ns > until_ns)
		return false;
	t = (struct timespec){ .tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S };
	while (nanosleep(&t, &t) && errno == EINTR)
		;
	return true;
}

/* At least one, and no more than it would be given anyway. */
static uint32_t seconds_until(int64_t ns, uint32_t timeout_s)
{
	int64_t left = (ns - clock_mono_ns()) / NS_PER_S + 1;

	return left < 1 ? 1 : left < timeout_s ? (uint32_t)left : timeout_s;
}

int http_ask_patiently(struct http *h, const struct http_request *q, const struct http_body *body,
		       struct http_answer *a, struct err *e)
{
	int64_t now = clock_mono_ns(), until = now + h->patience_ns;
	int64_t most = h->patience_ns ? until : h->once_ns ? now + h->once_ns : INT64_MAX;

	for (unsigned times = 0;; times++) {
		struct http_request timed = *q;
		int rc;

		timed.timeout_s = seconds_until(most, q->timeout_s);
		rc = http_ask(h, &timed, body, a, e);

		if (rc || !http_is_passing(a->status))
			return rc;
		if (!http_pause(times, a->retry_after_s, until))
			break;
	}
	if (!a->status)
		return err_set(e, -EHOSTUNREACH, "cannot reach %.200s: %.*s", h->server->shown,
			       SAID, a->text);
	return err_set(e, -EAGAIN, "%.200s answers with status %u again and again",
		       h->server->shown, a->status);
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* %40 is @. False when it does not fit or means no text. */
static bool take_decoded(char *out, size_t size, const char *text, size_t n)
{
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		int c = (unsigned char)text[i];

		if (c == '%') {
			int high = i + 2 < n ? digit(text[i + 1]) : -1;
			int low = i + 2 < n ? digit(text[i + 2]) : -1;

			if (high < 0 || low < 0)
				return false;
			c = high * 16 + low;
			i += 2;
		}
		if (!c || c == '\n' || c == '\r' || len + 1 >= size)
			return false;
		out[len++] = (char)c;
	}
	out[len] = '\0';
	return true;
}

static bool is_plain(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text <= ' ' || *text == 0x7f || *text == '#')
			return false;
	return true;
}

/* user:password of an authority of n bytes. */
static bool take_user(struct address *a, const char *text, size_t n)
{
	const char *colon = memchr(text, ':', n);
	size_t user = colon ? (size_t)(colon - text) : n;

	return take_decoded(a->user, sizeof a->user, text, user) &&
	       (!colon || take_decoded(a->password, sizeof a->password, colon + 1, n - user - 1));
}

/* The sentence does not repeat what was given: there may be a password in it. */
int address_parse(struct address *a, const char *text, const char *what, struct err *e)
{
	const char *rest = strstr(text, "://"), *at = NULL;
	size_t scheme = rest ? (size_t)(rest - text) : 0, authority, n;

	*a = (struct address){ .url = "" };
	if (!rest || !((scheme == 4 && !strncasecmp(text, "http", 4)) ||
		       (scheme == 5 && !strncasecmp(text, "https", 5))))
		return err_set(e, -EINVAL,
			       "%s is not the address of a server: it begins with "
			       "http:// or https://",
			       what);
	rest += 3;
	authority = strcspn(rest, "/?#");
	for (size_t i = 0; i < authority; i++)
		if (rest[i] == '@')
			at = rest + i;
	if (at && !take_user(a, rest, (size_t)(at - rest)))
		return err_set(e, -EINVAL, "%s has a user or password that is not text", what);
	if (at) {
		authority -= (size_t)(at + 1 - rest);
		rest = at + 1;
	}
	if (strchr(rest, '@')) /* what ended the authority may have been in a password */
		return err_set(
			e, -EINVAL,
			"%s has an @ behind the server's name: in a password / is %%2F, ? is "
			"%%3F and # is %%23, and an @ elsewhere is %%40",
			what);
	if (!authority || !is_plain(rest))
		return err_set(e, -EINVAL, "%s names no server", what);
	n = (size_t)snprintf(a->url, sizeof a->url, "%.*s://%s", (int)scheme, text, rest);
	if (n >= sizeof a->url)
		return err_set(e, -EINVAL, "%s is too long", what);
	while (n && a->url[n - 1] == '/')
		a->url[--n] = '\0';
	snprintf(a->shown, sizeof a->shown, "%.*s", (int)strcspn(a->url, "?"), a->url);
	return 0;
}

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

#define RUNNING_NS (3 * NS_PER_S)
#define GROWS_NS   (300 * NS_PER_S)

#define PUSH(x, name) extern const struct push push_##x;
#include "pushes.def"
#undef PUSH

#define PUSH(x, name) &push_##x,
const struct push *const pushes[] = {
#include "pushes.def"
};
#undef PUSH

const size_t npushes = sizeof(pushes) / sizeof(pushes[0]);

const struct push *push_find(const char *name)
{
	for (size_t i = 0; i < npushes; i++)
		if (!strcmp(pushes[i]->name, name))
			return pushes[i];
	return NULL;
}

const char *push_node_key(const struct run *r, uint32_t node, const char *word, char key[PUSH_KEY])
{
	const char *file = r->nodes[node].file ? r->nodes[node].file : "",
		   *slash = strrchr(file, '/');
	size_t n;

	/* Nodes of one file are told apart by their number. */
	n = (size_t)snprintf(key, PUSH_KEY, "%s-%u-", word, node);
	for (const char *c = slash ? slash + 1 : file; *c && n + 1 < PUSH_KEY; c++)
		key[n++] = *c > ' ' && *c < 0x7f ? *c : '_';
	key[n] = '\0';
	return key;
}

/* A node's newest sample, that of its recorder's begin when there is none, is not so old. */
static bool is_fresh(const struct run *r, int64_t now_utc_ns, int64_t patience_ns)
{
	const struct run_meta *m = run_find_meta(r, 0, "run.interval_ns");

	if (m && m->type == META_INT && m->value > 0 && m->value < 86400 * NS_PER_S)
		patience_ns += 3 * m->value;
	for (uint32_t i = 1; i < r->nnodes; i++) {
		const struct run_node *n = &r->nodes[i];
		int64_t newest_ns = n->rows ? run_utc_ns(r, i, n->last_ns) : n->utc0_ns;

		if (!n->complete && now_utc_ns - newest_ns < patience_ns)
			return true;
	}
	return false;
}

bool push_is_running(const struct run *r, int64_t now_utc_ns)
{
	return is_fresh(r, now_utc_ns, RUNNING_NS);
}

bool push_may_grow(const struct run *r, int64_t now_utc_ns)
{
	return is_fresh(r, now_utc_ns, GROWS_NS);
}
