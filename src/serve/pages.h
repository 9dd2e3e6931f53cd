/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pages.h - the pages of runs, kept new while somebody looks.
 *
 * A thread of its own reads recordings and makes what is asked for: `sonde report`'s page, and its
 * data alone. Each version is made once, whoever asks, at most once a second and in at most a tenth
 * of the time of one core; who asks for what is too old waits suspended. A stream sends versions,
 * nothing else: who missed some asks for the newest and has missed nothing.
 */
#ifndef SONDE_SERVE_PAGES_H
#define SONDE_SERVE_PAGES_H

#include "serve/crowd.h"

#include <stddef.h>

struct pages;

/* paths: as many as n, borrowed. NULL: out of memory. */
struct pages *pages_start(char **paths, size_t n);
/* Nobody waits any more. Before the daemon is stopped. */
void pages_stop(struct pages *p);
void pages_free(struct pages *p);

/* The page of a run, or its data, or -- *asked is the request's own pointer, NULL when it is new --
 * nothing yet: then the connection is suspended, and asked again. */
enum MHD_Result pages_answer(struct pages *p, struct MHD_Connection *c, size_t run, bool data,
			     void **asked);
/* Events of a run, from the one after last_id (NULL: none) on. */
enum MHD_Result pages_stream(struct pages *p, struct MHD_Connection *c, size_t run,
			     const char *last_id);

/* The headers that all answers have. */
void pages_headers(struct MHD_Response *r, const char *type);

#endif
