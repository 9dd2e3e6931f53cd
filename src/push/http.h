/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.h - requests to a server, by the helper sonde-http.
 *
 * One that did not arrive, or that the server asks to repeat, is repeated, later and later, until
 * patience ends. {0} is closed and safe to close.
 */
#ifndef SONDE_PUSH_HTTP_H
#define SONDE_PUSH_HTTP_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/helper.h"

/*
 * A server's address, with its user and password taken out of it.
 *
 * `shown` is what sentences, state files and requests name: it never holds a password, nor a query,
 * which may hold a key.
 */
enum { ADDRESS_MAX = 1024 };

struct address {
	char url[ADDRESS_MAX];         /* without user, password and slashes at its end */
	char shown[ADDRESS_MAX];       /* the same without its query */
	char user[256], password[256]; /* "": none */
};

/* http and https only. what names it in the sentence ("MLFLOW_TRACKING_URI"). 0 or -EINVAL. */
int address_parse(struct address *a, const char *text, const char *what, struct err *e);

/*
 * What a push and its helper sonde-http say to each other: a request, then an answer.
 *
 * A message is its magic number, its length, and that many bytes: texts with their lengths, and
 * numbers. The body of a request follows its message, as many bytes as it says. Both sides check
 * every byte. Passwords and tokens travel here only, never in a command line.
 */
enum { WIRE_HEAD = 8, WIRE_MESSAGE_MAX = 1 << 20, WIRE_ANSWER_MAX = 4 << 20 };

struct http_request {
	const char *method;                  /* "GET", "POST", "PUT" */
	const char *url;                     /* without user and password */
	const char *user, *password, *token; /* NULL: none; token: of Authorization: Bearer */
	const char *content_type;            /* NULL: no body */
	const char *encoding;                /* Content-Encoding; NULL: none */
	const char *header;                  /* more, "Name: value", a line each; NULL: none */
	const char *wanted; /* headers of the answer whose names begin so; NULL: none */
	const char *authorities, *certificate; /* files for TLS; NULL: the system's, none */
	bool insecure;                         /* certificates are not checked */
	bool once; /* not even libcurl may repeat it, as it does where a kept connection was lost */
	uint32_t timeout_s;
	uint64_t body_length;
};

struct http_answer {
	uint32_t status;        /* of HTTP; 0: there was no answer, and `text` says why */
	uint32_t retry_after_s; /* 0: not said */
	const char *header;     /* those that were wanted, "Name: value\n" each; "": none */
	const char *text;       /* the body, with a NUL behind it */
	size_t length;
};

void wire_put_request(struct bytes *out, const struct http_request *q);
void wire_put_answer(struct bytes *out, const struct http_answer *a);
/* Of a head: the message's length, at most `most`; false when it is none of ours. */
bool wire_head(const uint8_t head[WIRE_HEAD], bool request, uint32_t most, uint32_t *length);
/* The message behind the head; text[length] must be writable. Strings are borrowed from it. */
bool wire_get_request(struct http_request *q, uint8_t *text, uint32_t length);
bool wire_get_answer(struct http_answer *a, uint8_t *text, uint32_t length);

struct http {
	const struct address *server;
	struct talk helper;
	int64_t patience_ns; /* how long a request is repeated for; also the most it takes */
	int64_t once_ns;   /* the most it takes where it is not repeated, patience being 0; 0: what
			      the request says */
	uint64_t requests; /* sent, repetitions included */
	uint8_t *text;     /* the last answer */
	struct bytes message;
};

/* What goes with a request: memory, or a file's content. */
struct http_body {
	const void *data;
	int fd; /* when data is NULL; read from its beginning */
	uint64_t length;
};

/* 0, -ENOENT when the helper is not there, or -errno. server is borrowed. */
int http_open(struct http *h, const struct address *server, int64_t patience_ns, struct err *e);
void http_close(struct http *h);
/* Once. 0 and an answer, borrowed until the next, whose status may be any (0: none came); or -errno
 * when the helper is lost or the file cannot be read. */
int http_ask(struct http *h, const struct http_request *q, const struct http_body *body,
	     struct http_answer *a, struct err *e);
/* Again and again while it makes sense. 0 and an answer of status 200 to 499, -EHOSTUNREACH when
 * there was none in the end, -EAGAIN when the server asked to come again later; e names the server
 * and the reason. */
int http_ask_patiently(struct http *h, const struct http_request *q, const struct http_body *body,
		       struct http_answer *a, struct err *e);

/* Is it worth asking again? */
bool http_is_passing(uint32_t status);
/* How long to wait before repetition `times` (from 0): doubled from half a second to half a minute,
 * with a part that is random so that many do not come at once; never less than the server said. */
int64_t http_pause_ns(unsigned times, uint32_t retry_after_s, uint32_t random);
/* Wait that long; false, at once, when it would be over after `until` of clock_mono_ns. */
bool http_pause(unsigned times, uint32_t retry_after_s, int64_t until_ns);

#endif
