/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.h - requests to a server, by the helper sonde-http.
 *
 * One that did not arrive, or that the server asks to repeat, is repeated, later and later, until
 * patience ends. {0} is closed and safe to close.
 */
#ifndef SONDE_PUSH_HTTP_H
#define SONDE_PUSH_HTTP_H

#include "base/talk.h"
#include "push/address.h"
#include "push/wire.h"

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
