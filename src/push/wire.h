/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.h - what a push and its helper sonde-http say to each other: a request, then an answer.
 *
 * A message is its magic number, its length, and that many bytes: texts with their lengths, and
 * numbers. The body of a request follows its message, as many bytes as it says. Both sides check
 * every byte. Passwords and tokens travel here only, never in a command line.
 */
#ifndef SONDE_PUSH_WIRE_H
#define SONDE_PUSH_WIRE_H

#include "base/bytes.h"

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

#endif
