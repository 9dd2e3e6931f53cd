/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sonde-http - asks servers for `sonde push`: requests come on its standard input, answers go back
 * on it, a socket (push/http.h). One connection is kept from request to request.
 *
 * It follows no redirection, so that a password goes nowhere but where it is meant for, and knows
 * http and https only.
 */
#include "base/helper.h"
#include "push/http.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>

enum {
	SOCKET = 0,
	KEPT = 2 << 20,
	CONNECT_S = 20,
	SLOW_BYTES = 1000,
	SLOW_S = 60,
	HEADERS_MAX = 65536
};

struct asking {
	struct bytes kept;   /* a small body, so that it can be sent again on another connection */
	uint64_t left;       /* of a large one, still in the socket */
	struct bytes answer; /* the server's */
	const char *wanted;  /* what the names of headers that are told begin with; or NULL */
	struct bytes header; /* these */
	uint32_t retry_after_s;
	bool lost; /* who asks is gone */
};

static size_t give_body(char *to, size_t size, size_t n, void *ctx)
{
	struct asking *a = ctx;
	size_t want = size * n;

	want = want < a->left ? want : (size_t)a->left;
	if (want && !talk_read(SOCKET, to, want)) {
		a->lost = true;
		return CURL_READFUNC_ABORT;
	}
	a->left -= want;
	return want;
}

static size_t take_body(char *from, size_t size, size_t n, void *ctx)
{
	struct asking *a = ctx;
	size_t room = WIRE_ANSWER_MAX - WIRE_HEAD - a->answer.len;

	if (size * n > room)
		return 0;
	bytes_put(&a->answer, from, size * n);
	return a->answer.failed ? 0 : size * n;
}

/* A header is a line; what is in it beside text is no value. */
static void keep_header(struct asking *a, const char *line, size_t n)
{
	while (n && (line[n - 1] == '\r' || line[n - 1] == '\n'))
		n--;
	if (!a->wanted || n < strlen(a->wanted) || memchr(line, 0, n) ||
	    strncasecmp(line, a->wanted, strlen(a->wanted)) != 0 || a->header.len + n > HEADERS_MAX)
		return;
	bytes_put(&a->header, line, n);
	bytes_u8(&a->header, '\n');
}

static size_t take_header(char *from, size_t size, size_t n, void *ctx)
{
	static const char name[] = "retry-after:";
	struct asking *a = ctx;
	char text[32];
	long seconds;

	if (size * n > sizeof(name) && size * n < sizeof(text) &&
	    !strncasecmp(from, name, sizeof(name) - 1)) {
		memcpy(text, from, size * n);
		text[size * n] = '\0';
		seconds = strtol(text + sizeof(name) - 1, NULL, 10);
		a->retry_after_s = seconds > 0 && seconds < 86400 ? (uint32_t)seconds : 0;
	}
	keep_header(a, from, size * n);
	return size * n;
}

static void set_protocols(CURL *curl)
{
#if LIBCURL_VERSION_NUM >= 0x075500
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

/* As curl itself does; MLflow's own variable comes first. NULL: those of the system. */
static const char *authorities_of(const struct http_request *q)
{
	static const char *const variables[] = { "CURL_CA_BUNDLE", "SSL_CERT_FILE" };
	const char *file = q->authorities;

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]) && !file; i++) {
		file = getenv(variables[i]);
		file = file && *file ? file : NULL;
	}
	return file;
}

static void set_identity(CURL *curl, const struct http_request *q)
{
	const char *authorities = authorities_of(q);

	if (q->token) {
		curl_easy_setopt(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
		curl_easy_setopt(curl, CURLOPT_XOAUTH2_BEARER, q->token);
	} else if (q->user) {
		curl_easy_setopt(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
		curl_easy_setopt(curl, CURLOPT_USERNAME, q->user);
		curl_easy_setopt(curl, CURLOPT_PASSWORD, q->password ? q->password : "");
	}
	if (authorities)
		curl_easy_setopt(curl, CURLOPT_CAINFO, authorities);
	if (q->certificate) {
		curl_easy_setopt(curl, CURLOPT_SSLCERT, q->certificate);
		curl_easy_setopt(curl, CURLOPT_SSLKEY, q->certificate);
	}
	if (q->insecure) {
		curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
		curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
	}
}

static void set_body(CURL *curl, struct asking *a, const struct http_request *q)
{
	if (!q->content_type) {
		curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L);
		return;
	}
	if (a->left) {
		curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
		curl_easy_setopt(curl, CURLOPT_READFUNCTION, give_body);
		curl_easy_setopt(curl, CURLOPT_READDATA, a);
		curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)a->left);
	} else {
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS,
				 a->kept.data ? (char *)a->kept.data : "");
		curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)a->kept.len);
	}
	curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, q->method);
}

static struct curl_slist *header(struct curl_slist *list, const char *name, const char *value)
{
	char line[1024];

	if (!value)
		return list;
	snprintf(line, sizeof(line), "%s%s", name, value);
	return curl_slist_append(list, line);
}

static struct curl_slist *header_lines(struct curl_slist *list, const char *lines)
{
	char line[1024];

	for (size_t n; lines && *lines; lines += n + (lines[n] == '\n')) {
		n = strcspn(lines, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)n, lines);
		list = header(list, "", line);
	}
	return list;
}

static struct curl_slist *headers_of(const struct http_request *q)
{
	struct curl_slist *list = header(NULL, "Content-Type: ", q->content_type);

	list = header(list, "Content-Encoding: ", q->encoding);
	list = header_lines(list, q->header);
	return curl_slist_append(list, "Expect:"); /* a body is not asked for first */
}

/* The status of the answer, or 0 with a reason in `why`. */
static uint32_t ask(CURL *curl, struct asking *a, const struct http_request *q,
		    char why[CURL_ERROR_SIZE])
{
	struct curl_slist *headers = headers_of(q);
	long status = 0;
	CURLcode code;

	why[0] = '\0';
	curl_easy_reset(curl);
	set_protocols(curl);
	curl_easy_setopt(curl, CURLOPT_URL, q->url);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why);
	curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, (long)q->once);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "sonde/" SONDE_VERSION);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
	/* A large body may take its time, as long as it moves; an answer may not. */
	if (a->left) {
		curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, (long)SLOW_BYTES);
		curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME,
				 (long)(q->timeout_s < SLOW_S ? q->timeout_s : SLOW_S));
	}
	curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)(q->timeout_s + a->left / SLOW_BYTES));
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, a);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, a);
	set_identity(curl, q);
	set_body(curl, a, q);
	code = curl_easy_perform(curl);
	curl_slist_free_all(headers);
	if (code != CURLE_OK) {
		if (!why[0])
			snprintf(why, CURL_ERROR_SIZE, "%s", curl_easy_strerror(code));
		return 0;
	}
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	return (uint32_t)status;
}

/* The body of a request: a small one is kept, of a large one it is known how much is to come. */
static bool hear_body(struct asking *a, uint64_t length)
{
	bytes_reset(&a->kept);
	a->left = length > KEPT ? length : 0;
	if (a->left || !length)
		return true;
	if (!bytes_room(&a->kept, (size_t)length) ||
	    !talk_read(SOCKET, a->kept.data, (size_t)length))
		return false;
	a->kept.len = (size_t)length;
	return true;
}

/* What the server did not want to hear is read all the same. */
static bool drain(struct asking *a)
{
	char block[16384];

	while (a->left && !a->lost)
		if (!give_body(block, 1, sizeof(block), a))
			return false;
	return !a->lost;
}

static bool say(struct asking *a, uint32_t status, const char *why)
{
	const struct http_answer answer = { .status = status,
					    .retry_after_s = a->retry_after_s,
					    .header = a->header.len ? (const char *)a->header.data
								    : "",
					    .text = status ? (const char *)a->answer.data : why,
					    .length = status ? a->answer.len : strlen(why) };
	struct bytes out = { 0 };
	bool said;

	wire_put_answer(&out, &answer);
	said = !out.failed && talk_write(SOCKET, out.data, out.len);
	bytes_free(&out);
	return said;
}

static bool serve(CURL *curl, struct asking *a)
{
	uint8_t head[WIRE_HEAD], *text = NULL;
	char why[CURL_ERROR_SIZE];
	struct http_request q;
	uint32_t length, status;
	bool on = false;

	if (!talk_read(SOCKET, head, sizeof(head)) ||
	    !wire_head(head, true, WIRE_MESSAGE_MAX, &length))
		return false;
	text = malloc((size_t)length + 1);
	if (text && talk_read(SOCKET, text, length) && wire_get_request(&q, text, length) &&
	    hear_body(a, q.body_length)) {
		bytes_reset(&a->answer);
		bytes_reset(&a->header);
		a->wanted = q.wanted;
		a->retry_after_s = 0;
		status = ask(curl, a, &q, why);
		if (a->header.len)
			bytes_u8(&a->header, 0);
		on = drain(a) && !a->header.failed && say(a, status, why);
	}
	free(text);
	return on;
}

int main(void)
{
	struct asking a = { .lost = false };
	CURL *curl;

	prctl(PR_SET_NAME, "sonde-http");
	if (curl_global_init(CURL_GLOBAL_DEFAULT) || !(curl = curl_easy_init()))
		return EXIT_FAILURE;
	while (serve(curl, &a))
		;
	curl_easy_cleanup(curl);
	curl_global_cleanup();
	bytes_free(&a.kept);
	bytes_free(&a.answer);
	bytes_free(&a.header);
	return EXIT_SUCCESS;
}
