/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - what is answered to a request: pure, so that it can be tested and fuzzed without a
 * socket.
 *
 * Whoever asks says a token: others may share the machine. Words of a request are hostile and NULL
 * when it has none.
 */
#ifndef SONDE_LIVE_REQUEST_H
#define SONDE_LIVE_REQUEST_H

#include "live/exposition.h"

struct request {
	const char *method, *path;
	const char *authorization, *accept; /* headers */
};

/* The HTTP status: 200 when this is a request for the metrics by one who has the token. */
unsigned request_judge(const struct request *r, const char *token);
enum exposition_format request_format(const struct request *r);

#endif
