/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - what is answered to a request: pure, so that it can be tested and fuzzed without a
 * socket.
 *
 * Whoever asks says a token, or has the cookie that the token was exchanged for: others may share
 * the machine. Only names of this machine are answered, since a page from elsewhere may give its
 * own name this machine's address. Words of a request are hostile and NULL when it has none.
 */
#ifndef SONDE_LIVE_REQUEST_H
#define SONDE_LIVE_REQUEST_H

#include "base/hash.h"
#include "live/exposition.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct request {
	const char *method, *path;
	const char *host, *authorization, *cookie, *accept; /* headers */
};

enum { REQUEST_COOKIE = 32 };

/* Who may ask, and for what. */
struct request_guard {
	const char *token;
	char cookie[REQUEST_COOKIE]; /* its name: another server on this host has another */
	char session[SHA256_HEX];    /* its value, which does not tell the token */
	bool metrics;                /* /metrics, and nothing else */
	uint32_t runs;               /* else the pages of so many runs */
};

/* what tells servers of one host apart: their port. */
void request_guard_make(struct request_guard *g, const char *token, unsigned what);

enum route {
	ROUTE_NONE = 0,
	ROUTE_METRICS, /* /metrics */
	ROUTE_LOGIN,   /* /login: asks for the token, tells nothing */
	ROUTE_SESSION, /* POST /session with the token: the cookie */
	ROUTE_LIST,    /* / */
	ROUTE_PAGE,    /* /run/N/ */
	ROUTE_DATA,    /* /run/N/data */
	ROUTE_EVENTS,  /* /run/N/events */
};

struct answer {
	unsigned status; /* of HTTP; the rest is valid when it is 200 */
	enum route route;
	uint32_t run; /* from 0 on */
};

struct answer request_judge(const struct request *r, const struct request_guard *g);
enum exposition_format request_format(const struct request *r);

/*
 * What a process of this machine does just now, in words: runs, or what its first thread
 * waits for, by its state and the kernel's function that it sleeps in.
 */
enum { WAIT_TEXT = 40 };

/* "-" when it is not known. A kernel's function that has no words is named. Returns out. */
const char *wait_words(char *out, size_t size, int64_t pid);
/* The same of a state as /proc/PID/stat has it, and a function's name ("" or "0": not known). */
const char *wait_words_of(char *out, size_t size, char state, const char *function);

#endif
