/* SPDX-License-Identifier: Apache-2.0 */
#include "push/http.h"

#include "base/clock.h"
#include "base/entropy.h"
#include "base/helper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
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
